/*
** Ctrl-C. After `interrupt_enable`, it raises the core's flag, which stops a kernel
** between two tiles. While `interrupt_call` runs a function, it also stops Lua code at
** its next instruction. Both raise the Lua error "interrupted"; whichever does so first
** lowers the flag, so one Ctrl-C raises one error, which a pcall can catch to clean up.
** After a second Ctrl-C during the same call, every instruction raises the error. This
** ends even code that catches errors and continues, such as `while true do pcall(f) end`.
** A Ctrl-C between two calls ends the second one, unless `interrupt_clear` discards it.
*/
#include "bindings/interrupt.h"

#include <stdatomic.h>

#include "bindings/check.h"
#include "core/base/interrupt.h"

static bool enabled;
static _Atomic(lua_State *) running; /* thread in the innermost `interrupt_call`, or NULL */
static atomic_int presses;           /* number of Ctrl-C since that call began */
static atomic_int deferring;         /* number of nested `interrupt_defer` */
static atomic_bool pending;          /* true if Ctrl-C was pressed during these calls */

/* The hook set by Ctrl-C: raises the error, unless a kernel has already done so. */
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

/* lua_sethook is the only function of Lua that a signal handler may call. */
static void set_hook(lua_State *L)
{
  lua_sethook(L, stop_code, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void rpl_interrupt_press(void)
{
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

/* Make Ctrl-C stop the code in `L`. If a Ctrl-C is pending, stop this code now. */
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

/* Remove the hook, which a Ctrl-C meanwhile sets again. */
static void remove_hook(lua_State *L)
{
  lua_sethook(L, NULL, 0, 0);
  aim(atomic_load(&running));
}

/* Discard every Ctrl-C so far; false if there was none. A Ctrl-C meanwhile stays pending. */
static bool discard(lua_State *L)
{
  const bool was_raised = rp_interrupt_clear();
  atomic_store(&presses, 0);
  remove_hook(L);
  return was_raised;
}

void rpl_interrupt_enable(void)
{
  if (!enabled)
    enabled = rpl_listen();
}

bool rpl_interrupt_disable(lua_State *L)
{
  const bool was_enabled = enabled;
  if (enabled)
    rpl_stop_listening();
  enabled = false;
  discard(L);
  return was_enabled;
}

/*
** native.interrupted()
** True if Ctrl-C has raised the flag.
** @return boolean interrupted
*/
static int interrupted(lua_State *L)
{
  rpl_check_count(L, "interrupted", 0);
  lua_pushboolean(L, rp_interrupted());
  return 1;
}

/*
** native.interrupt_clear()
** Discard every Ctrl-C so far.
** @return boolean interrupted true if the flag was raised
*/
static int interrupt_clear(lua_State *L)
{
  rpl_check_count(L, "interrupt_clear", 0);
  lua_pushboolean(L, discard(L));
  return 1;
}

/* The message handler of `interrupt_call`: discards every Ctrl-C, then calls upvalue 1. */
static int handle_error(lua_State *L)
{
  discard(L);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static int finish_call(lua_State *L, int status, lua_KContext outer)
{
  aim((lua_State *)outer); /* NOLINT(performance-no-int-to-ptr): Lua's contexts are integers */
  if (!rp_interrupted())
    atomic_store(&presses, 0);
  remove_hook(L);
  lua_pushboolean(L, status == LUA_OK || status == LUA_YIELD);
  lua_replace(L, 1);
  return lua_gettop(L);
}

/*
** native.interrupt_call(f, handler, ...)
** Like xpcall, but after `interrupt_enable`, Ctrl-C ends the call with the error "interrupted". So
** does a Ctrl-C before the call, and one too late to end it ends the next one: `interrupt_clear`
** discards it.
** @param f function
** @param handler function message handler
** @param ... any the arguments of f
** @return boolean ok
** @return any ... the results of f, or of the handler
*/
static int interrupt_call(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  lua_pushcclosure(L, handle_error, 1);
  lua_remove(L, 2);
  lua_insert(L, 1); /* handler, function, ... */
  const lua_KContext outer = (lua_KContext)atomic_load(&running);
  aim(L);
  const int status = lua_pcallk(L, lua_gettop(L) - 2, LUA_MULTRET, 1, outer, finish_call);
  return finish_call(L, status, outer);
}

/*
** native.interrupt_wait(descriptor)
** Wait until a file can be read or Ctrl-C is pressed.
** @param descriptor integer
** @return boolean is_readable false after Ctrl-C
*/
static int interrupt_wait(lua_State *L)
{
  rpl_check_count(L, "interrupt_wait", 1);
  lua_pushboolean(L, rpl_wait_for_input((int)rpl_check_range(L, 1, "descriptor", 0, INT32_MAX)));
  return 1;
}

/*
** native.interrupt_defer(f, ...)
** Call f; a Ctrl-C during the call takes effect when f returns. Use it for short work that must not
** be left incomplete, such as a step of an optimizer.
** @param f function
** @param ... any the arguments of f
** @return any ... its results
*/
static int interrupt_defer(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  rpl_check_interrupt(L); /* for a Ctrl-C before the call */
  atomic_fetch_add(&deferring, 1);
  const int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  if (atomic_fetch_sub(&deferring, 1) == 1 && atomic_exchange(&pending, false))
    rpl_interrupt_press();
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
