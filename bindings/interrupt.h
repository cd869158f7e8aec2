/* Ctrl-C: which Lua thread it stops. */
#ifndef RPL_INTERRUPT_H
#define RPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/*
** Inside `interrupt_call`, make Ctrl-C stop the thread `L` from now on, also a Ctrl-C
** that is pending. Returns the thread that it would have stopped before, for
** rpl_interrupt_leave, or NULL.
*/
lua_State *rpl_interrupt_enter(lua_State *L);
void rpl_interrupt_leave(lua_State *outer);

/* Make SIGINT raise the core's flag and stop running code. */
void rpl_interrupt_enable(void);

/* Restore the previous action of SIGINT and discard every Ctrl-C. Was it enabled? */
bool rpl_interrupt_disable(lua_State *L);

#endif
