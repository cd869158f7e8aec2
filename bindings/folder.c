/* Names in a folder. luv's fs_scandir leaks memory (https://github.com/luvit/luv/pull/696). */
#define _POSIX_C_SOURCE 200809L
#include "bindings/check.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#define FOLDER "roper.folder"

static void close_folder(DIR **folder)
{
  if (*folder != NULL)
    closedir(*folder);
  *folder = NULL;
}

static int release_folder(lua_State *L)
{
  close_folder(luaL_checkudata(L, 1, FOLDER));
  return 0;
}

/*
** native.folder_names(path)
** The names in a folder, without "." and "..", in no order.
** @param path string
** @return string[]? names nil if the folder cannot be read
** @return integer? problem the number of the error
*/
static int folder_names(lua_State *L)
{
  rpl_check_count(L, "folder_names", 1);
  const char *path = rpl_check_path(L, 1);
  DIR **folder = lua_newuserdatauv(L, sizeof *folder, 0);
  *folder = NULL;
  luaL_setmetatable(L, FOLDER);
  lua_newtable(L);
  lua_Integer count = 0;
  *folder = opendir(path);
  for (const struct dirent *entry; *folder != NULL;) {
    errno = 0;
    if ((entry = readdir(*folder)) == NULL)
      break;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    lua_pushstring(L, entry->d_name);
    lua_rawseti(L, -2, ++count);
  }
  const int problem = errno;
  close_folder(folder);
  if (problem == 0)
    return 1;
  lua_pushnil(L);
  lua_pushinteger(L, problem);
  return 2;
}

void rpl_open_folder(lua_State *L)
{
  static const luaL_Reg functions[] = {{"folder_names", folder_names}, {NULL, NULL}};
  luaL_newmetatable(L, FOLDER);
  lua_pushcfunction(L, release_folder);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  luaL_setfuncs(L, functions, 0);
}
