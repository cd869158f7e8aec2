/* Ctrl-C: which Lua thread it stops. */
#ifndef RPL_INTERRUPT_H
#define RPL_INTERRUPT_H

#include <lua.h>
#include <stdbool.h>

/*
** Inside `interrupt_call`, make Ctrl-C stop the thread `L` from now on; a pending
** Ctrl-C stops it too. Returns the thread that Ctrl-C would have stopped before, for
** rpl_interrupt_leave, or NULL.
*/
lua_State *rpl_interrupt_enter(lua_State *L);
void rpl_interrupt_leave(lua_State *outer);

/* Make SIGINT raise the core's flag and stop running code. */
void rpl_interrupt_enable(void);

/* Undo rpl_interrupt_enable and discard every Ctrl-C; false if Ctrl-C was not enabled. */
bool rpl_interrupt_disable(lua_State *L);

#endif
