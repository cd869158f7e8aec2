/*
** The program of the wheel: Lua's interpreter, with luv and the OpenMP runtime linked in. It lies
*in
** PREFIX/bin and runs PREFIX/libexec/roper/bin/roper, the launcher. `roper --lua` is lua5.4.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { LONGEST = 4096 }; /* of a path, in Linux */

int luaopen_luv(lua_State *L);

static const char *shown; /* the name of this program in messages; NULL for the interpreter */

/* The OpenMP runtime reads the variable before main: see scripts/roper/system/start.lua. */
__attribute__((constructor(101))) static void spin_briefly(void)
{
  if (getenv("GOMP_SPINCOUNT") == NULL && getenv("OMP_WAIT_POLICY") == NULL)
    setenv("GOMP_SPINCOUNT", "10000", 1);
}

/*
** Load the system's GNU readline if a person types: under its licence, it cannot be part of this
** program. Its symbols must be there before roper.native is loaded.
*/
static void load_readline(void)
{
  static const char *const names[] = {"libreadline.so.8", "libreadline.so.7"};
  void *library = NULL;
  for (int i = 0; isatty(STDIN_FILENO) && library == NULL && i < 2; i++)
    library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
}

/* Lua's libraries, luv for require, and package.program, the name to show. */
static void open_libraries(lua_State *L)
{
  luaL_openlibs(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  lua_pushcfunction(L, luaopen_luv);
  lua_setfield(L, -2, "luv");
  lua_pop(L, 1);
  lua_getglobal(L, LUA_LOADLIBNAME);
  lua_pushstring(L, shown);
  lua_setfield(L, -2, "program");
  lua_pop(L, 1);
}

#define main interpret
#define luaL_openlibs open_libraries
#include <lua.c>
#undef main

int main(int argc, char **argv)
{
  static char program[LONGEST], launcher[LONGEST + 32];
  static char interpreter[] = "lua5.4";
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  const char *name = length > 0 ? strrchr(program, '/') : NULL;
  const char *folder = name != NULL ? memrchr(program, '/', (size_t)(name - program)) : NULL;
  if (folder == NULL || argc < 1) {
    fprintf(stderr, "roper: cannot read /proc/self/exe, which shows where roper is installed\n");
    return EXIT_FAILURE;
  }
  load_readline();
  if (argc > 1 && strcmp(argv[1], "--lua") == 0) {
    argv[1] = interpreter;
    return interpret(argc - 1, argv + 1);
  }
  shown = strchr(argv[0], '/') != NULL ? argv[0] : program;
  snprintf(launcher, sizeof launcher, "%.*s/libexec/roper/bin/roper", (int)(folder - program),
           program);
  char **words = calloc((size_t)argc + 2, sizeof *words);
  if (words == NULL)
    return EXIT_FAILURE;
  words[0] = program;
  words[1] = launcher;
  memcpy(words + 2, argv + 1, (size_t)(argc - 1) * sizeof *words);
  const int status = interpret(argc + 1, words);
  free(words);
  return status;
}
