/*
** Ctrl-C. Once `interrupt_enable` was called, SIGINT raises the core's flag,
** which stops a kernel between two tiles; while `interrupt_call` runs a
** function, it also stops Lua code at its next instruction. Both end as the
** Lua error "interrupted", and whichever is first lowers the flag, so that one
** Ctrl-C raises one error.
**
** A loop that never leaves a coroutine is stopped by its kernels alone: a
** signal handler can not know which coroutine runs.
*/
#define _POSIX_C_SOURCE 200809L
#include "bindings/check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>

#include "core/base/interrupt.h"

/* GNU readline's own, where the process holds it (lua5.4 does), else at no address. */
extern int rl_done __attribute__((weak));
extern int (*rl_event_hook)(void) __attribute__((weak));

static bool enabled;
static struct sigaction previous;    /* what SIGINT did before `interrupt_enable` */
static _Atomic(lua_State *) running; /* inside the innermost `interrupt_call`, else NULL */

/* The hook that SIGINT sets: ends the code that runs unless a kernel did so already. */
static void stop_code(lua_State *L, lua_Debug *where)
{
  (void)where;
  lua_sethook(L, NULL, 0, 0);
  if (!rp_interrupted())
    return;
  rp_interrupt_clear();
  lua_pushliteral(L, "interrupted");
  lua_error(L);
}

/* Setting a hook is the one thing Lua allows in a signal handler. */
static void handle_signal(int number)
{
  (void)number;
  rp_interrupt_raise();
  lua_State *L = atomic_load(&running);
  if (L != NULL)
    lua_sethook(L, stop_code, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/*
** function roper.interrupt_enable()
** From now on Ctrl-C (SIGINT) raises a flag, which ends the kernel that runs.
**
**     > roper.interrupt_enable()
*/
static int interrupt_enable(lua_State *L)
{
  rpl_check_count(L, "interrupt_enable", 0);
  struct sigaction action = {.sa_handler = handle_signal};
  if (!enabled)
    enabled = sigaction(SIGINT, &action, &previous) == 0;
  return 0;
}

/*
** function roper.interrupt_disable()
** Let Ctrl-C do again what it did before, and lower the flag.
**
**     > roper.interrupt_disable()
**     false
** @return boolean enabled was it on?
*/
static int interrupt_disable(lua_State *L)
{
  rpl_check_count(L, "interrupt_disable", 0);
  lua_pushboolean(L, enabled);
  if (enabled)
    sigaction(SIGINT, &previous, NULL);
  enabled = false;
  rp_interrupt_clear();
  return 1;
}

/*
** function roper.interrupted()
** Did Ctrl-C raise the flag?
**
**     > roper.interrupted()
**     false
** @return boolean yes
*/
static int interrupted(lua_State *L)
{
  rpl_check_count(L, "interrupted", 0);
  lua_pushboolean(L, rp_interrupted());
  return 1;
}

/*
** function roper.interrupt_clear()
** Lower the flag.
**
**     > roper.interrupt_clear()
**     false
** @return boolean was was it up?
*/
static int interrupt_clear(lua_State *L)
{
  rpl_check_count(L, "interrupt_clear", 0);
  lua_pushboolean(L, rp_interrupted());
  rp_interrupt_clear();
  return 1;
}

/*
** function roper.interrupt_call(f, handler, ...)
** xpcall that Ctrl-C can end, once `interrupt_enable` was called, with the error "interrupted". A
** Ctrl-C from before the call is forgotten, and so is one that came too late to end it.
**
**     > roper.interrupt_call(math.max, print, 1, 3)
**     true	3
** @param f function
** @param handler function of the error
** @param ... any the arguments of f
** @return boolean ok
** @return any ... what f returned, or what the handler made of the error
*/
static int interrupt_call(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_remove(L, 2);
  lua_insert(L, 1); /* handler, function, ... */
  lua_State *outer = atomic_load(&running);
  rp_interrupt_clear();
  atomic_store(&running, L);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  atomic_store(&running, outer);
  lua_sethook(L, NULL, 0, 0);
  rp_interrupt_clear();
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/*
** function roper.interrupt_wait(descriptor)
** Wait until a file can be read or Ctrl-C is typed.
**
**     > type(roper.interrupt_wait)
**     "function"
** @param descriptor integer
** @return boolean readable false after Ctrl-C
*/
static int interrupt_wait(lua_State *L)
{
  rpl_check_count(L, "interrupt_wait", 1);
  struct pollfd input = {.events = POLLIN};
  input.fd = (int)rpl_check_range(L, 1, "descriptor", 0, INT32_MAX);
  int ready = 0;
  while (ready == 0 && !rp_interrupted()) {
    ready = poll(&input, 1, 100);
    if (ready < 0 && errno == EINTR)
      ready = 0;
  }
  lua_pushboolean(L, ready != 0);
  return 1;
}

/* Readline calls this ten times a second while it waits for a key. */
static int end_line(void)
{
  if (rp_interrupted())
    rl_done = 1;
  return 0;
}

/*
** function roper.interrupt_readline()
** Let Ctrl-C end the line that GNU readline reads, which otherwise goes on reading it. Without GNU
** readline this does nothing.
**
**     > roper.interrupt_readline()
*/
static int interrupt_readline(lua_State *L)
{
  rpl_check_count(L, "interrupt_readline", 0);
  if (&rl_event_hook != NULL)
    rl_event_hook = end_line;
  return 0;
}

void rpl_open_interrupt(lua_State *L)
{
  static const luaL_Reg functions[] = {{"interrupt_enable", interrupt_enable},
                                       {"interrupt_disable", interrupt_disable},
                                       {"interrupted", interrupted},
                                       {"interrupt_clear", interrupt_clear},
                                       {"interrupt_call", interrupt_call},
                                       {"interrupt_wait", interrupt_wait},
                                       {"interrupt_readline", interrupt_readline},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
