/* Suggestions for misspelt names, for messages of Lua code. */
#include "bindings/check.h"

/*
** native.nearest(name, names)
** The most similar of several names. It is at most one edit away, or one for every three letters,
** but fewer edits than letters. Ties are broken by the longest common prefix, then by alphabetical
** order.
** @param name string
** @param names string[]
** @return string? nearest nil if none is similar
*/
static int nearest(lua_State *L)
{
  rpl_check_count(L, "nearest", 2);
  const char *wanted = rpl_check_string(L, 1, NULL);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_pushstring(L, rpl_nearest(L, wanted, 2));
  return 1;
}

/*
** native.hint(name, names, lead)
** The end of a message about an unknown name.
** @param name string
** @param names string[]
** @param lead? string such as "it takes": the hint ends with this and all names
** @return string hint
*/
static int hint(lua_State *L)
{
  rpl_check_count(L, "hint", 3);
  const char *wanted = rpl_check_string(L, 1, NULL), *lead = luaL_optstring(L, 3, NULL);
  luaL_checktype(L, 2, LUA_TTABLE);
  rpl_push_hint(L, wanted, 2, lead);
  return 1;
}

void rpl_open_suggest(lua_State *L)
{
  static const luaL_Reg functions[] = {{"nearest", nearest}, {"hint", hint}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
