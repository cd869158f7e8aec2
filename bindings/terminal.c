/* Size of the terminal, width of its characters, and whether writes to standard output worked. */
#define _GNU_SOURCE /* TIOCGWINSZ, wcwidth, newlocale */
#include "bindings/check.h"

#include <locale.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/*
** native.terminal_size(descriptor)
** The size of the terminal that a stream is connected to, or 80 x 24 if the size is unknown.
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
** native.character_width(code)
** The number of columns of a character in a terminal, from the C library's Unicode tables. The
** locale of the process does not matter.
** @param code integer code point
** @return integer columns 0 for combining and control characters, 2 for wide ones, otherwise 1
*/
static int character_width(lua_State *L)
{
  static locale_t unicode;
  rpl_check_count(L, "character_width", 1);
  wchar_t code = (wchar_t)rpl_check_range(L, 1, "code", 0, 0x10FFFF);
  if (unicode == (locale_t)0)
    unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  locale_t before = uselocale(unicode); /* changes nothing if there is no such locale */
  int width = wcwidth(code);
  uselocale(before);
  lua_pushinteger(L, width >= 0 ? width : code < 0x20 || (code >= 0x7F && code < 0xA0) ? 0 : 1);
  return 1;
}

/*
** native.output_kept()
** Flush standard output. Returns true if no write to it has failed so far, as `print` does not
** report failures.
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
  static const luaL_Reg functions[] = {{"terminal_size", terminal_size},
                                       {"character_width", character_width},
                                       {"output_kept", output_kept},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
