/* Suggestions for misspelt names at the end of error messages. */
#include "bindings/check.h"
#include "core/base/nearest.h"

#include <ctype.h>
#include <string.h>

/* The name in the list at `names` that is most similar to `wanted`, or NULL. */
static const char *nearest_of(lua_State *L, const char *wanted, int names)
{
  RpNearest nearest = rp_nearest_start(wanted);
  const lua_Integer count = (lua_Integer)lua_rawlen(L, names);
  for (lua_Integer i = 1; i <= count; i++) {
    if (lua_rawgeti(L, names, i) == LUA_TSTRING)
      rp_nearest_consider(&nearest, lua_tostring(L, -1)); /* the list keeps the string alive */
    lua_pop(L, 1);
  }
  return nearest.found;
}

void rpl_push_names(lua_State *L, const char *const *names)
{
  lua_newtable(L);
  for (int i = 0; names[i] != NULL; i++) {
    lua_pushstring(L, names[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

const char *rpl_push_joined(lua_State *L, int names)
{
  luaL_Buffer text;
  const lua_Integer count = (lua_Integer)lua_rawlen(L, names);
  luaL_buffinit(L, &text);
  for (lua_Integer i = 1; i <= count; i++) {
    luaL_addstring(&text, i == 1 ? "" : ", ");
    lua_rawgeti(L, names, i);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
  return lua_tostring(L, -1);
}

const char *rpl_push_hint(lua_State *L, const char *wanted, int names, const char *lead)
{
  names = lua_absindex(L, names);
  luaL_checkstack(L, 6, NULL);
  const char *nearest = nearest_of(L, wanted, names);
  const char *question = "", *all = "";
  if (nearest != NULL)
    question = lua_pushfstring(L, "; did you mean \"%s\"?", nearest);
  if (lead != NULL && nearest == NULL)
    all = lua_pushfstring(L, "; %s %s", lead, rpl_push_joined(L, names));
  else if (lead != NULL && *lead != '\0')
    all = lua_pushfstring(L, " %c%s %s", toupper((unsigned char)*lead), lead + 1,
                          rpl_push_joined(L, names));
  return lua_pushfstring(L, "%s%s", question, all);
}

int rpl_find_choice(lua_State *L, int index, const char *const *choices)
{
  size_t length = 0;
  const char *name = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
  for (int i = 0; name != NULL && choices[i] != NULL; i++)
    if (strlen(choices[i]) == length && memcmp(name, choices[i], length) == 0)
      return i;
  return -1;
}

const char *rpl_push_refusal(lua_State *L, int index, const char *const *choices)
{
  index = lua_absindex(L, index);
  rpl_push_names(L, choices);
  const int names = lua_gettop(L);
  const char *hint = lua_type(L, index) == LUA_TSTRING
                         ? rpl_push_hint(L, lua_tostring(L, index), names, NULL)
                         : "";
  return lua_pushfstring(L, "expected one of %s, got %s%s", rpl_push_joined(L, names),
                         rpl_push_shown(L, index), hint);
}

int rpl_check_choice(lua_State *L, int index, const char *const *choices, int standard)
{
  if (standard >= 0 && lua_isnoneornil(L, index))
    return standard;
  const int choice = rpl_find_choice(L, index, choices);
  if (choice < 0)
    luaL_argerror(L, index, rpl_push_refusal(L, index, choices));
  return choice;
}

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
  lua_pushstring(L, nearest_of(L, wanted, 2));
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
