/* What roper uses of luv for files, the clock and the environment. */
#include "bindings/web/page.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

#define CODE(name)                                                                                 \
  {                                                                                                \
    name, #name                                                                                    \
  }
static const struct {
  int number;
  const char *name;
} codes[] = {CODE(ENOENT), CODE(EEXIST), CODE(EACCES), CODE(EISDIR), CODE(ENOTDIR),
             CODE(EINVAL), CODE(EIO),    CODE(ENOSPC), CODE(EPERM),  CODE(ENOTEMPTY),
             CODE(EBADF),  CODE(ESRCH),  CODE(ELOOP),  CODE(EROFS),  CODE(ENAMETOOLONG),
             CODE(ENOSYS), CODE(EPIPE),  CODE(EMFILE)};

static const char *name_of(int number)
{
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i].number == number)
      return codes[i].name;
  return "UNKNOWN";
}

/* "CODE: reason", in libuv's words */
static const char *push_reason(lua_State *L, int number)
{
  const char *reason = strerror(number);
  return lua_pushfstring(L, "%s: %c%s", name_of(number), tolower(reason[0]), reason + 1);
}

/* nil, "CODE: reason: path", "CODE" */
static int fail(lua_State *L, int number, const char *path)
{
  lua_pushnil(L);
  push_reason(L, number);
  if (path != NULL) {
    lua_pushfstring(L, ": %s", path);
    lua_concat(L, 2);
  }
  lua_pushstring(L, name_of(number));
  return 3;
}

static int outcome(lua_State *L, int result, const char *path)
{
  if (result != 0)
    return fail(L, errno, path);
  lua_pushinteger(L, 0);
  return 1;
}

static int translate_sys_error(lua_State *L)
{
  const int number = (int)luaL_checkinteger(L, 1);
  push_reason(L, number);
  lua_pushstring(L, name_of(number));
  return 2;
}

static void set(lua_State *L, const char *name, lua_Integer value)
{
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}

/* Also fs_lstat: there are no symbolic links. */
static int fs_stat(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  struct stat found;
  if (stat(path, &found) != 0)
    return fail(L, errno, path);
  lua_newtable(L);
  lua_pushstring(L, S_ISREG(found.st_mode)   ? "file"
                    : S_ISDIR(found.st_mode) ? "directory"
                                             : "char");
  lua_setfield(L, -2, "type");
  set(L, "size", (lua_Integer)found.st_size);
  set(L, "ino", (lua_Integer)found.st_ino);
  set(L, "dev", (lua_Integer)found.st_dev);
  lua_newtable(L);
  set(L, "sec", (lua_Integer)found.st_mtim.tv_sec);
  set(L, "nsec", (lua_Integer)found.st_mtim.tv_nsec);
  lua_setfield(L, -2, "mtime");
  return 1;
}

static int fs_mkdir(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  return outcome(L, mkdir(path, 0755), path);
}

static int fs_rmdir(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  return outcome(L, rmdir(path), path);
}

static int fs_unlink(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  return outcome(L, unlink(path), path);
}

static int fs_utime(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  const struct timespec times[2] = {{.tv_sec = (time_t)luaL_checknumber(L, 2)},
                                    {.tv_sec = (time_t)luaL_checknumber(L, 3)}};
  return outcome(L, utimensat(AT_FDCWD, path, times, 0), path);
}

static int fs_readlink(lua_State *L)
{
  return fail(L, EINVAL, luaL_checkstring(L, 1));
}

static int fs_mkdtemp(lua_State *L)
{
  static int count;
  size_t length;
  const char *template = luaL_checklstring(L, 1, &length);
  lua_pushlstring(L, template, length - strspn(template + strcspn(template, "X"), "X"));
  const char *path = lua_pushfstring(L, "%s%d", lua_tostring(L, -1), ++count);
  if (mkdir(path, 0700) != 0)
    return fail(L, errno, path);
  return 1;
}

static char *folder_now(lua_State *L)
{
  char *folder = getcwd(NULL, 0);
  if (folder == NULL)
    luaL_error(L, "cannot read the name of the current folder: %s", strerror(errno));
  return folder;
}

/* The absolute path without "." and "..". */
static int fs_realpath(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  char whole[PATH_MAX], result[PATH_MAX] = "/";
  struct stat found;
  if (stat(path, &found) != 0)
    return fail(L, errno, path);
  char *folder = folder_now(L);
  snprintf(whole, sizeof whole, "%s/%s", path[0] == '/' ? "" : folder, path);
  free(folder);
  size_t length = 0;
  for (char *part = strtok(whole, "/"); part != NULL; part = strtok(NULL, "/")) {
    if (strcmp(part, "..") == 0)
      while (length > 0 && result[--length] != '/')
        ;
    else if (strcmp(part, ".") != 0)
      length += (size_t)snprintf(result + length, sizeof result - length, "/%s", part);
    result[length > 0 ? length : 1] = '\0';
  }
  lua_pushstring(L, result);
  return 1;
}

static int hrtime(lua_State *L)
{
  lua_pushinteger(L, rpw_now());
  return 1;
}

static int uptime(lua_State *L)
{
  lua_pushnumber(L, (double)rpw_now() * 1e-9);
  return 1;
}

static int sleep_milliseconds(lua_State *L)
{
  const int64_t end = rpw_now() + luaL_checkinteger(L, 1) * 1000000;
  while (rpw_now() < end)
    ;
  return 0;
}

static int os_getenv(lua_State *L)
{
  lua_pushstring(L, getenv(luaL_checkstring(L, 1)));
  return 1;
}

static int os_setenv(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  return outcome(L, setenv(name, luaL_checkstring(L, 2), 1), name);
}

static int os_unsetenv(lua_State *L)
{
  const char *name = luaL_checkstring(L, 1);
  return outcome(L, unsetenv(name), name);
}

static int os_environ(lua_State *L)
{
  lua_newtable(L);
  for (char **pair = environ; pair != NULL && *pair != NULL; pair++) {
    lua_pushlstring(L, *pair, strcspn(*pair, "="));
    lua_pushstring(L, *pair + strcspn(*pair, "=") + 1);
    lua_settable(L, -3);
  }
  return 1;
}

static int os_tmpdir(lua_State *L)
{
  const char *folder = getenv("TMPDIR");
  lua_pushstring(L, folder != NULL ? folder : "/tmp");
  return 1;
}

static int os_gethostname(lua_State *L)
{
  lua_pushliteral(L, "page");
  return 1;
}

static int cwd(lua_State *L)
{
  char *folder = folder_now(L);
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/')
    length--;
  lua_pushlstring(L, folder, length);
  free(folder);
  return 1;
}

static int change_folder(lua_State *L)
{
  const char *path = luaL_checkstring(L, 1);
  return outcome(L, chdir(path), NULL);
}

int luaopen_luv(lua_State *L)
{
  static const luaL_Reg functions[] = {{"translate_sys_error", translate_sys_error},
                                       {"fs_stat", fs_stat},
                                       {"fs_lstat", fs_stat},
                                       {"fs_mkdir", fs_mkdir},
                                       {"fs_rmdir", fs_rmdir},
                                       {"fs_unlink", fs_unlink},
                                       {"fs_utime", fs_utime},
                                       {"fs_readlink", fs_readlink},
                                       {"fs_realpath", fs_realpath},
                                       {"fs_mkdtemp", fs_mkdtemp},
                                       {"hrtime", hrtime},
                                       {"uptime", uptime},
                                       {"sleep", sleep_milliseconds},
                                       {"os_getenv", os_getenv},
                                       {"os_setenv", os_setenv},
                                       {"os_unsetenv", os_unsetenv},
                                       {"os_environ", os_environ},
                                       {"os_tmpdir", os_tmpdir},
                                       {"os_gethostname", os_gethostname},
                                       {"cwd", cwd},
                                       {"chdir", change_folder},
                                       {NULL, NULL}};
  luaL_newlib(L, functions);
  return 1;
}
