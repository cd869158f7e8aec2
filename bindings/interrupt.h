/* What Ctrl-C ends: the thread of Lua that runs. */
#ifndef RPL_INTERRUPT_H
#define RPL_INTERRUPT_H

#include <lua.h>

/*
** From now on Ctrl-C ends what runs in `L`, NULL for nothing; returns what it
** ended before. A Ctrl-C that is not answered yet goes to `L`.
*/
lua_State *rpl_interrupt_aim(lua_State *L);

/* Put a resume and a wrap that aim Ctrl-C in the place of those in Lua's library. */
void rpl_replace_coroutines(lua_State *L);

#endif
