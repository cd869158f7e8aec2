/*
** The program of a page: one Lua state with the modules `roper.native`, `luv` and `host`. The
** exported functions are called by engine.mjs.
*/
#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>

#include "bindings/interrupt.h"
#include "bindings/web/page.h"

#define ANSWER "roper.answer"
#define CELL "roper.cell"

RPW_IMPORT(send) void rpw_send(const char *text, size_t length);

int luaopen_roper_native(lua_State *L);

static lua_State *state; /* the main thread */
static lua_State *cell;  /* the coroutine of a request that has paused, or NULL */

/* host.send(text) passes a message to the page. */
static int host_send(lua_State *L)
{
  size_t length;
  const char *text = luaL_checklstring(L, 1, &length);
  rpw_send(text, length);
  return 0;
}

static int open_host(lua_State *L)
{
  static const luaL_Reg functions[] = {{"send", host_send}, {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}

/* Lua's temporary files, in place of tmpnam and tmpfile of the C library. */
int rpw_tmpnam(char *name)
{
  static int count;
  snprintf(name, 32, "/tmp/lua_%06d", ++count);
  FILE *file = fopen(name, "w");
  return file == NULL || fclose(file) != 0;
}

FILE *rpw_tmpfile(void)
{
  char name[32];
  FILE *file = rpw_tmpnam(name) == 0 ? fopen(name, "w+b") : NULL;
  remove(name);
  return file;
}

static int fail(lua_State *L)
{
  const char *message = lua_tostring(L, -1);
  fprintf(stderr, "roper: %s\n", message != NULL ? message : "an error that is no text");
  lua_pop(L, 1);
  return -1;
}

/* Start Lua and run a script, which returns the function that answers requests. */
RPW_EXPORT(rpw_start) int rpw_start(const char *script)
{
  static const luaL_Reg modules[] = {{"roper.native", luaopen_roper_native},
                                     {"luv", luaopen_luv},
                                     {"host", open_host},
                                     {NULL, NULL}};
  lua_State *L = state = luaL_newstate();
  if (L == NULL)
    return -1;
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  luaL_setfuncs(L, modules, 0);
  lua_pop(L, 1);
  if (luaL_loadfile(L, script) != LUA_OK || lua_pcall(L, 0, 1, 0) != LUA_OK)
    return fail(L);
  lua_setfield(L, LUA_REGISTRYINDEX, ANSWER);
  return 0;
}

static int settle(int status, int results)
{
  if (status == LUA_YIELD) {
    lua_pop(cell, results);
    return 1;
  }
  const int code = status == LUA_OK ? 0 : fail(cell);
  cell = NULL;
  lua_pushnil(state);
  lua_setfield(state, LUA_REGISTRYINDEX, CELL);
  return code;
}

/*
** Answer a request. 0: done, 1: paused, call rpw_resume; -1: an error, printed. `pause` and
** `suspends` are those of rpw_set_pauses.
*/
RPW_EXPORT(rpw_ask) int rpw_ask(const char *request, size_t length, int pause, bool suspends)
{
  rpw_set_pauses(pause, suspends);
  lua_State *L = state;
  const bool yields = pause > 0 && !suspends;
  if (yields) {
    L = cell = lua_newthread(state);
    lua_setfield(state, LUA_REGISTRYINDEX, CELL);
  }
  lua_getfield(L, LUA_REGISTRYINDEX, ANSWER);
  lua_pushlstring(L, request, length);
  rpw_proceed();
  if (!yields)
    return lua_pcall(L, 1, 0, 0) == LUA_OK ? 0 : fail(L);
  int results;
  const int status = lua_resume(L, NULL, 1, &results);
  return settle(status, results);
}

RPW_EXPORT(rpw_resume) int rpw_resume(void)
{
  int results;
  rpw_proceed();
  const int status = lua_resume(cell, NULL, 0, &results);
  return settle(status, results);
}

RPW_EXPORT(rpw_malloc) void *rpw_malloc(size_t bytes)
{
  return malloc(bytes);
}

RPW_EXPORT(rpw_free) void rpw_free(void *block)
{
  free(block);
}
