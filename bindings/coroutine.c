/*
** Coroutines that Ctrl-C can stop. Ctrl-C sets the debug hook of one Lua thread.
** Therefore this file replaces coroutine.resume and coroutine.wrap with versions that
** record which thread is running, and that pass a pause of the inner coroutine on to
** the outer one.
*/
#include "bindings/interrupt.h"

#include <lualib.h>

#include "bindings/check.h"

static bool may_pause = true; /* can all coroutines that wait for another one be continued? */
static bool is_paused;        /* the running coroutine has yielded for a pause */

void rpl_pause(lua_State *L)
{
  is_paused = may_pause && lua_isyieldable(L);
  if (is_paused)
    lua_yield(L, 0);
}

/*
** Resume `co` with the `count` values on top of L, and replace them with its results.
** Returns the number of results, or -1 with the error on top. If `co` has paused, L
** pauses too, and calls `proceed` when it is resumed.
*/
static int run(lua_State *L, lua_State *co, int count, lua_KFunction proceed)
{
  int results;
  if (!lua_checkstack(co, count)) {
    lua_pushliteral(L, "too many arguments to resume");
    return -1;
  }
  lua_xmove(L, co, count);
  const bool could_pause = may_pause;
  may_pause = could_pause && lua_isyieldable(L);
  is_paused = false;
  lua_State *outer = rpl_interrupt_enter(co);
  const int status = lua_resume(co, L, count, &results);
  rpl_interrupt_leave(outer);
  may_pause = could_pause;
  if (is_paused)
    return lua_yieldk(L, 0, 0, proceed);
  if (status != LUA_OK && status != LUA_YIELD) {
    lua_xmove(co, L, 1);
    return -1;
  }
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    lua_pushliteral(L, "too many results to resume");
    return -1;
  }
  lua_xmove(co, L, results);
  return results;
}

static int finish_resume(lua_State *L, int results)
{
  lua_pushboolean(L, results >= 0);
  lua_insert(L, results >= 0 ? -results - 1 : -2);
  return results >= 0 ? results + 1 : 2;
}

static int proceed_resume(lua_State *L, int status, lua_KContext context)
{
  (void)status, (void)context;
  return finish_resume(L, run(L, lua_tothread(L, 1), 0, proceed_resume));
}

/* resume(co, ...) -> true and the yielded or returned values, or false and the error */
static int resume(lua_State *L)
{
  lua_State *co = lua_tothread(L, 1);
  luaL_argexpected(L, co != NULL, 1, "thread");
  return finish_resume(L, run(L, co, lua_gettop(L) - 1, proceed_resume));
}

/* The result of wrap; the coroutine is upvalue 1. An error closes it and is raised again. */
static int finish_wrapped(lua_State *L, int results)
{
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  if (results >= 0)
    return results;
  const int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD && lua_resetthread(co) != LUA_OK) {
    lua_pop(L, 1); /* the original error; closing the coroutine leaves this or another error */
    lua_xmove(co, L, 1);
  }
  if (lua_type(L, -1) == LUA_TSTRING && status != LUA_ERRMEM) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int proceed_wrapped(lua_State *L, int status, lua_KContext context)
{
  (void)status, (void)context;
  return finish_wrapped(L, run(L, lua_tothread(L, lua_upvalueindex(1)), 0, proceed_wrapped));
}

static int call_wrapped(lua_State *L)
{
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  return finish_wrapped(L, run(L, co, lua_gettop(L), proceed_wrapped));
}

/* wrap(f) -> a function that resumes a coroutine of f */
static int wrap(lua_State *L)
{
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  lua_pushcclosure(L, call_wrapped, 1);
  return 1;
}

/* Install our resume and wrap in the coroutine library, or restore those of Lua. */
static void set_library(lua_State *L, bool ours)
{
  static const luaL_Reg functions[] = {{"resume", resume}, {"wrap", wrap}, {NULL, NULL}};
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  luaL_getsubtable(L, -1, LUA_COLIBNAME);
  if (ours) {
    luaL_setfuncs(L, functions, 0);
  } else {
    lua_pushcfunction(L, luaopen_coroutine);
    lua_call(L, 0, 1);
    for (const luaL_Reg *function = functions; function->name != NULL; function++) {
      lua_getfield(L, -1, function->name);
      lua_setfield(L, -3, function->name);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

/*
** native.interrupt_enable()
** Make Ctrl-C (SIGINT) raise a flag that stops a running kernel, and replace coroutine.resume and
** coroutine.wrap with versions that let Ctrl-C stop the code in a coroutine.
*/
static int interrupt_enable(lua_State *L)
{
  rpl_check_count(L, "interrupt_enable", 0);
  set_library(L, true);
  rpl_interrupt_enable();
  return 0;
}

/*
** native.interrupt_disable()
** Restore the previous action of Ctrl-C, discard every Ctrl-C so far, and restore Lua's own
** coroutine.resume and coroutine.wrap.
** @return boolean was_enabled
*/
static int interrupt_disable(lua_State *L)
{
  rpl_check_count(L, "interrupt_disable", 0);
  const bool was_enabled = rpl_interrupt_disable(L);
  if (was_enabled)
    set_library(L, false);
  lua_pushboolean(L, was_enabled);
  return 1;
}

void rpl_open_coroutine(lua_State *L)
{
  static const luaL_Reg functions[] = {{"interrupt_enable", interrupt_enable},
                                       {"interrupt_disable", interrupt_disable},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
