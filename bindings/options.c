#include "bindings/options.h"
#include "bindings/handle.h"

#include <string.h>

RplOptions rpl_options(lua_State *L, int index, const char *function, const char *const *names)
{
  RplOptions options = {L, index, function};
  if (lua_isnoneornil(L, index)) {
    options.index = 0;
    return options;
  }
  luaL_checktype(L, index, LUA_TTABLE);
  luaL_checkstack(L, LUA_MINSTACK, function); /* for options that remain on the stack */
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    lua_pop(L, 1);
    if (rpl_find_choice(L, -1, names) >= 0)
      continue;
    rpl_push_names(L, names);
    const char *option = luaL_tolstring(L, -2, NULL);
    luaL_error(L, "%s: unknown option %s%s", function, option,
               rpl_push_hint(L, option, -2, "it takes"));
  }
  return options;
}

int rpl_option_push(const RplOptions *options, const char *name)
{
  if (options->index == 0) {
    lua_pushnil(options->L);
    return LUA_TNIL;
  }
  lua_pushstring(options->L, name);
  return lua_rawget(options->L, options->index);
}

/* Raise an error about the value of an option. */
static int bad_option(const RplOptions *options, const char *name, const char *expected)
{
  rpl_option_push(options, name);
  return luaL_error(options->L, "%s: option %s: expected %s, got %s", options->function, name,
                    expected, rpl_push_shown(options->L, -1));
}

bool rpl_option_boolean(const RplOptions *options, const char *name, bool standard)
{
  int type = rpl_option_push(options, name);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN)
    bad_option(options, name, "true or false");
  bool value = type == LUA_TNIL ? standard : lua_toboolean(options->L, -1);
  lua_pop(options->L, 1);
  return value;
}

double rpl_option_number(const RplOptions *options, const char *name, double standard)
{
  int type = rpl_option_push(options, name);
  if (type != LUA_TNIL && type != LUA_TNUMBER)
    bad_option(options, name, "a number");
  double value = type == LUA_TNIL ? standard : lua_tonumber(options->L, -1);
  lua_pop(options->L, 1);
  return value;
}

int64_t rpl_option_integer(const RplOptions *options, const char *name, int64_t standard,
                           int64_t smallest, int64_t largest)
{
  int type = rpl_option_push(options, name);
  int is_integer = 1;
  int64_t value = type == LUA_TNIL ? standard : lua_tointegerx(options->L, -1, &is_integer);
  if (!is_integer || type == LUA_TSTRING || value < smallest || value > largest)
    bad_option(options, name,
               lua_pushfstring(options->L, "an integer from %I to %I", (lua_Integer)smallest,
                               (lua_Integer)largest));
  lua_pop(options->L, 1);
  return value;
}

const char *rpl_option_string(const RplOptions *options, const char *name, const char *standard)
{
  int type = rpl_option_push(options, name);
  if (type != LUA_TNIL && type != LUA_TSTRING)
    bad_option(options, name, "a string");
  return type == LUA_TNIL ? standard : lua_tostring(options->L, -1);
}

const char *rpl_option_choice(const RplOptions *options, const char *name,
                              const char *const *choices)
{
  if (rpl_option_push(options, name) == LUA_TNIL)
    return choices[0];
  const int choice = rpl_find_choice(options->L, -1, choices);
  if (choice < 0)
    luaL_error(options->L, "%s: option %s: %s", options->function, name,
               rpl_push_refusal(options->L, -1, choices));
  return choices[choice];
}

RpTensor *rpl_option_tensor(const RplOptions *options, const char *name)
{
  const char *got;
  if (rpl_option_push(options, name) == LUA_TNIL)
    return NULL;
  if (luaL_testudata(options->L, -1, RPL_TENSOR) == NULL)
    bad_option(options, name, "a tensor");
  RpTensor *tensor = rpl_hold_tensor(options->L, &got);
  if (tensor == NULL)
    luaL_error(options->L, "%s: option %s: expected a tensor, got %s", options->function, name,
               got);
  return tensor;
}
