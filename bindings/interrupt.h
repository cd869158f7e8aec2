/* What Ctrl-C ends: the thread of Lua that runs. */
#ifndef RPL_INTERRUPT_H
#define RPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/*
** Where Ctrl-C ends Lua code, let it end what runs in `L` from now on, and pass a
** Ctrl-C that is not answered yet on to it. Returns what it ended before, which
** rpl_interrupt_leave takes back to, or NULL.
*/
lua_State *rpl_interrupt_enter(lua_State *L);
void rpl_interrupt_leave(lua_State *outer);

/* From now on SIGINT raises the core's flag and ends the code that runs. */
void rpl_interrupt_enable(void);

/* Let SIGINT do again what it did before, and forget every one so far. Was it enabled? */
bool rpl_interrupt_disable(lua_State *L);

#endif
