#include "bindings/message.h"

#include <ctype.h>
#include <lauxlib.h>
#include <string.h>

#include "core/base/nearest.h"

/* Push a string in quotes; "\0", which would end a message, becomes visible. */
static const char *push_quoted(lua_State *L, int index)
{
  size_t length;
  const char *text = lua_tolstring(L, index, &length);
  luaL_Buffer quoted;
  luaL_buffinit(L, &quoted);
  luaL_addchar(&quoted, '"');
  for (size_t i = 0; i < length; i++) {
    if (text[i] != '\0')
      luaL_addchar(&quoted, text[i]);
    else
      luaL_addstring(&quoted, "\\0");
  }
  luaL_addchar(&quoted, '"');
  luaL_pushresult(&quoted);
  return lua_tostring(L, -1);
}

const char *rpl_push_shown(lua_State *L, int index)
{
  if (lua_type(L, index) == LUA_TSTRING)
    return push_quoted(L, index);
  if (lua_type(L, index) <= LUA_TNUMBER && !lua_islightuserdata(L, index))
    return luaL_tolstring(L, index, NULL);
  index = lua_absindex(L, index);
  if (luaL_getmetafield(L, index, "__name") != LUA_TSTRING)
    return lua_pushstring(L, luaL_typename(L, index));
  const char *name = lua_tostring(L, -1);
  return strncmp(name, "roper.", 6) == 0 ? name + 6 : name;
}

const char *rpl_nearest(lua_State *L, const char *wanted, int names)
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
  const char *nearest = rpl_nearest(L, wanted, names);
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
