/* Size of the terminal, and whether output was written. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "bindings/check.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
** native.terminal_size(descriptor)
** The size of the terminal that a stream is connected to; 80 x 24 if it is unknown.
** @param descriptor integer 0, 1 or 2: standard input, output, error
** @return integer? columns nil if it is not a terminal
** @return integer? rows
*/
static int terminal_size(lua_State *L)
{
  rpl_check_count(L, "terminal_size", 1);
  int descriptor = (int)rpl_check_range(L, 1, "descriptor", 0, 1023);
  struct winsize size = {0};
  if (!isatty(descriptor)) {
    lua_pushnil(L);
    return 1;
  }
  if (ioctl(descriptor, TIOCGWINSZ, &size) != 0)
    size = (struct winsize){0};
  lua_pushinteger(L, size.ws_col == 0 ? 80 : size.ws_col);
  lua_pushinteger(L, size.ws_row == 0 ? 24 : size.ws_row);
  return 2;
}

/*
** native.output_kept()
** Flush standard output. True if no write to it has failed so far; `print` ignores such failures.
** @return boolean kept
*/
static int output_kept(lua_State *L)
{
  rpl_check_count(L, "output_kept", 0);
  lua_pushboolean(L, fflush(stdout) == 0 && !ferror(stdout));
  return 1;
}

void rpl_open_terminal(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"terminal_size", terminal_size}, {"output_kept", output_kept}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
