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

/* Make Ctrl-C raise the core's flag and stop running code. */
void rpl_interrupt_enable(void);

/* Undo rpl_interrupt_enable and discard every Ctrl-C; false if Ctrl-C was not enabled. */
bool rpl_interrupt_disable(lua_State *L);

/* Ctrl-C was pressed. Safe in a signal handler. */
void rpl_interrupt_press(void);

/*
** Call this in a debug hook, and return from it, to pause the code: the outermost coroutine yields
** and continues all others when it is resumed. Does nothing if a C function is in the way.
*/
void rpl_pause(lua_State *L);

/* The rest is different on each platform: signal.c, and web/pause.c for pages. */

/* Call rpl_interrupt_press for each Ctrl-C from now on; false if that is impossible. */
bool rpl_listen(void);
void rpl_stop_listening(void);

/* Do so again, if other code has replaced the action of Ctrl-C and restores it later. */
void rpl_listen_again(void);

/* Wait until a file can be read or Ctrl-C is pressed, which returns false. */
bool rpl_wait_for_input(int descriptor);

#endif
