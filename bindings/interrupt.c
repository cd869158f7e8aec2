/*
** Ctrl-C. Once `interrupt_enable` was called, SIGINT raises the core's flag,
** which stops a kernel between two tiles; while `interrupt_call` runs a
** function, it also stops Lua code at its next instruction. Both end as the
** Lua error "interrupted", and whichever is first lowers the flag, so that one
** Ctrl-C raises one error, which a pcall can take to put things in order. A
** second one during the same call raises at every instruction: nothing that
** takes errors and goes on, such as `while true do pcall(f) end`, stays.
*/
#define _POSIX_C_SOURCE 200809L
#include "bindings/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>

#include "bindings/check.h"
#include "core/base/interrupt.h"

static bool enabled;
static struct sigaction previous;    /* what SIGINT did before `interrupt_enable` */
static _Atomic(lua_State *) running; /* inside the innermost `interrupt_call`, else NULL */
static atomic_int presses;           /* of Ctrl-C since that call began */
static atomic_int deferring;         /* how many `interrupt_defer` run, one in another */
static atomic_bool pending;          /* did Ctrl-C come meanwhile? */

/* The hook that SIGINT sets: ends the code that runs unless a kernel did so already. */
static void stop_code(lua_State *L, lua_Debug *where)
{
  (void)where;
  const bool insists = atomic_load(&presses) > 1;
  if (!insists)
    lua_sethook(L, NULL, 0, 0);
  if (!insists && !rp_interrupted())
    return;
  rp_interrupt_clear();
  lua_pushliteral(L, "interrupted");
  lua_error(L);
}

/* Setting a hook is the one thing Lua allows in a signal handler. */
static void set_hook(lua_State *L)
{
  lua_sethook(L, stop_code, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

static void handle_signal(int number)
{
  (void)number;
  if (atomic_load(&deferring) > 0) {
    atomic_store(&pending, true);
    return;
  }
  rp_interrupt_raise();
  atomic_fetch_add(&presses, 1);
  lua_State *L = atomic_load(&running);
  if (L != NULL)
    set_hook(L);
}

/* Let Ctrl-C end what runs in `L`, also one that is not answered yet. */
static void aim(lua_State *L)
{
  atomic_store(&running, L);
  if (L != NULL && (rp_interrupted() || atomic_load(&presses) > 1))
    set_hook(L);
}

lua_State *rpl_interrupt_enter(lua_State *L)
{
  lua_State *outer = atomic_load(&running);
  if (outer != NULL)
    aim(L);
  return outer;
}

void rpl_interrupt_leave(lua_State *outer)
{
  if (outer != NULL)
    aim(outer);
}

/* Forget every Ctrl-C so far. */
static void settle(lua_State *L)
{
  atomic_store(&presses, 0);
  rp_interrupt_clear();
  lua_sethook(L, NULL, 0, 0);
}

void rpl_interrupt_enable(void)
{
  struct sigaction action = {.sa_handler = handle_signal};
  if (!enabled)
    enabled = sigaction(SIGINT, &action, &previous) == 0;
}

bool rpl_interrupt_disable(lua_State *L)
{
  const bool was_enabled = enabled;
  if (enabled)
    sigaction(SIGINT, &previous, NULL);
  enabled = false;
  settle(L);
  return was_enabled;
}

/*
** native.interrupted()
** Did Ctrl-C raise the flag?
** @return boolean yes
*/
static int interrupted(lua_State *L)
{
  rpl_check_count(L, "interrupted", 0);
  lua_pushboolean(L, rp_interrupted());
  return 1;
}

/*
** native.interrupt_clear()
** Lower the flag.
** @return boolean was was it up?
*/
static int interrupt_clear(lua_State *L)
{
  rpl_check_count(L, "interrupt_clear", 0);
  lua_pushboolean(L, rp_interrupted());
  rp_interrupt_clear();
  return 1;
}

/* Upvalue 1, a message handler, with an error that left the whole call behind. */
static int handle_error(lua_State *L)
{
  settle(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/*
** native.interrupt_call(f, handler, ...)
** xpcall that Ctrl-C can end, once `interrupt_enable` was called, with the error "interrupted". A
** Ctrl-C from before the call is forgotten, and so is one that came too late to end it.
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
  lua_pushcclosure(L, handle_error, 1);
  lua_remove(L, 2);
  lua_insert(L, 1); /* handler, function, ... */
  settle(L);
  lua_State *outer = atomic_load(&running);
  aim(L);
  int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
  aim(outer);
  settle(L);
  lua_pushboolean(L, status == LUA_OK);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/*
** native.interrupt_wait(descriptor)
** Wait until a file can be read or Ctrl-C is typed.
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

/*
** native.interrupt_defer(f, ...)
** Call f; a Ctrl-C meanwhile waits until it returns. For short work that must not be left half
** done, such as an optimizer's step.
** @param f function
** @param ... any the arguments of f
** @return any ... what f returned
*/
static int interrupt_defer(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  rpl_check_interrupt(L); /* one that came before: now is the time */
  atomic_fetch_add(&deferring, 1);
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (atomic_fetch_sub(&deferring, 1) == 1 && atomic_exchange(&pending, false))
    handle_signal(SIGINT);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

void rpl_open_interrupt(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"interrupted", interrupted},         {"interrupt_clear", interrupt_clear},
      {"interrupt_call", interrupt_call},   {"interrupt_wait", interrupt_wait},
      {"interrupt_defer", interrupt_defer}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
