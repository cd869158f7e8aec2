/* What a stream is connected to, so that Lua can fit its output to it. */
#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "bindings/check.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
** native.terminal_columns(descriptor)
** The width of the terminal that a file is connected to.
** @param descriptor integer 0, 1 or 2: standard input, output, error
** @return integer? columns nil without a terminal
*/
static int terminal_columns(lua_State *L)
{
  rpl_check_count(L, "terminal_columns", 1);
  int descriptor = (int)rpl_check_range(L, 1, "descriptor", 0, 1023);
  struct winsize size = {0};
  if (!isatty(descriptor))
    lua_pushnil(L);
  else if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    lua_pushinteger(L, 80);
  else
    lua_pushinteger(L, size.ws_col);
  return 1;
}

/*
** native.output_kept()
** Whether everything that was written to standard output arrived; Lua's `print` does not tell.
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
      {"terminal_columns", terminal_columns}, {"output_kept", output_kept}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
