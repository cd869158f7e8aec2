/*
** Conversion between JSON and Lua values:
**
**   null           json_null
**   array          table with the keys 1 .. n; decoding marks it like json_array
**   object         table with string keys; an empty table without the mark is an object
**   1, 1.0         integer, float; decoding returns the same bits
**
** NaN and infinities, which JSON does not have, are encoded as null.
*/
#include "bindings/options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/json.h"

#define ARRAY_MARK "roper.json_array" /* metatable of marked arrays */
#define WORK "roper.json"

enum {
  LARGEST_DEPTH = 200,
  LARGEST_INDENT = 31,
  DIGITS = 17 /* enough to read back every float64 exactly */
};

/* Memory that Lua does not own; in a userdata, so that it is freed after an error. */
typedef struct Work {
  json_t *tree;
  char *text;
} Work;

static Work *push_work(lua_State *L)
{
  Work *work = lua_newuserdatauv(L, sizeof *work, 0);
  *work = (Work){NULL, NULL};
  luaL_setmetatable(L, WORK);
  return work;
}

static void release_work(Work *work)
{
  json_decref(work->tree);
  free(work->text);
  *work = (Work){NULL, NULL};
}

static int collect_work(lua_State *L)
{
  release_work(luaL_checkudata(L, 1, WORK));
  return 0;
}

/*
** Encoding
*/

/* The location of a value, for messages: its key is at stack index `key`, inside `parent`. */
typedef struct Location {
  const struct Location *parent; /* NULL for the whole value */
  int key;
  int depth; /* number of containers around the value */
} Location;

/* Push a location as text, such as "value.runs[3]". */
static void push_location(lua_State *L, const Location *location)
{
  if (location->parent == NULL) {
    lua_pushliteral(L, "value");
    return;
  }
  luaL_checkstack(L, 3, "json_encode");
  push_location(L, location->parent);
  if (lua_isinteger(L, location->key))
    lua_pushfstring(L, "[%I]", lua_tointeger(L, location->key));
  else
    lua_pushfstring(L, ".%s", lua_tostring(L, location->key));
  lua_concat(L, 2);
}

/* Raise an error with the location and the message on top of the stack. */
static int fail_at(lua_State *L, const Location *location)
{
  push_location(L, location);
  return luaL_error(L, "json_encode: %s: %s", lua_tostring(L, -1), lua_tostring(L, -2));
}

static bool is_marked(lua_State *L, int index)
{
  if (!lua_getmetatable(L, index))
    return false;
  luaL_getmetatable(L, ARRAY_MARK);
  bool same = lua_rawequal(L, -1, -2);
  lua_pop(L, 2);
  return same;
}

/* True if the table on top of the stack is an array; raises if it is neither array nor object. */
static bool is_array(lua_State *L, const Location *location)
{
  lua_Integer numbers = 0, strings = 0, largest = 0;
  int table = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    lua_Integer index = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (index > 0) {
      numbers++;
      largest = index > largest ? index : largest;
    } else if (lua_type(L, -2) == LUA_TSTRING) {
      strings++;
    } else {
      lua_pushfstring(L, "expected strings or 1 .. n as keys, got %s", luaL_tolstring(L, -2, NULL));
      fail_at(L, location);
    }
  }
  bool marked = is_marked(L, table);
  if (numbers != largest || (strings > 0 && (numbers > 0 || marked))) {
    lua_pushfstring(L,
                    "expected either 1 .. n or strings as keys, got %I numbers up to %I and %I "
                    "strings",
                    numbers, largest, strings);
    fail_at(L, location);
  }
  return numbers > 0 || marked;
}

/* The JSON value of the Lua value on top of the stack; for a table, an empty container. */
static json_t *new_value(lua_State *L, const Location *location)
{
  size_t length;
  const char *text;
  lua_Number number;
  switch (lua_type(L, -1)) {
  case LUA_TBOOLEAN:
    return json_boolean(lua_toboolean(L, -1));
  case LUA_TNUMBER:
    number = lua_tonumber(L, -1);
    if (lua_isinteger(L, -1))
      return json_integer(lua_tointeger(L, -1));
    return isfinite(number) ? json_real(number) : json_null();
  case LUA_TSTRING:
    text = lua_tolstring(L, -1, &length);
    return json_stringn(text, length);
  case LUA_TTABLE:
    if (location->depth == LARGEST_DEPTH)
      luaL_error(L, "json_encode: the value is nested deeper than %d levels, or contains itself",
                 LARGEST_DEPTH);
    return is_array(L, location) ? json_array() : json_object();
  default:
    if (lua_type(L, -1) == LUA_TLIGHTUSERDATA && lua_touserdata(L, -1) == NULL)
      return json_null();
    lua_pushfstring(L, "expected a boolean, number, string, table or json_null, got %s",
                    luaL_typename(L, -1));
    fail_at(L, location);
    return NULL;
  }
}

/* Add `value` to `container`, or make it the root, which then owns it; raises if it is NULL. */
static void add_value(lua_State *L, Work *work, json_t *container, const Location *location,
                      json_t *value)
{
  int refused;
  if (json_is_array(container)) {
    refused = json_array_append_new(container, value);
  } else if (json_is_object(container)) {
    refused = json_object_set_new(container, lua_tostring(L, location->key), value);
  } else {
    work->tree = value;
    refused = value == NULL;
  }
  if (refused) {
    rpl_check(L, rp_json_status());
    lua_pushliteral(L, "the key or the value is not UTF-8");
    fail_at(L, location);
  }
}

/* Encode the value on top of the stack into `container`, or as the root if that is NULL. */
static void encode(lua_State *L, Work *work, json_t *container, const Location *location)
{
  luaL_checkstack(L, 6, "json_encode");
  rpl_check_interrupt(L);
  json_t *value = new_value(L, location);
  add_value(L, work, container, location, value);
  int table = lua_gettop(L);
  Location inside = {location, table + 1, location->depth + 1};
  if (json_is_array(value)) {
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, table); i++) {
      lua_pushinteger(L, i);
      lua_rawgeti(L, table, i);
      encode(L, work, value, &inside);
      lua_pop(L, 2);
    }
  } else if (json_is_object(value)) {
    for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
      if (strlen(lua_tostring(L, -2)) != lua_rawlen(L, -2)) {
        lua_pushliteral(L, "key contains a NUL byte");
        fail_at(L, &inside);
      }
      encode(L, work, value, &inside);
    }
  }
}

typedef struct JsonOptions {
  int64_t indent;
  bool sort;
} JsonOptions;

static const RplRow JSON[] = {RPL_INTEGER_ROW(JsonOptions, indent, 0, 0, LARGEST_INDENT,
                                              "columns per level; 0 writes a single line"),
                              RPL_BOOLEAN_ROW(JsonOptions, sort, true, "sort names alphabetically"),
                              {0}};

/*
** native.json_encode(value, options)
** Encode a value as JSON. Lists become arrays, other tables objects; an empty table becomes an
** object unless `json_array` marked it. NaN and infinities become null.
**
** Errors: a function or a tensor; a table with both indices and names; a string that is not UTF-8;
** a table that contains itself.
** @param value any booleans, numbers, strings, `json_null` and tables of these
** @param options? JsonOptions
** @return string text
*/
static int json_encode(lua_State *L)
{
  JsonOptions o = {0};
  luaL_checkany(L, 1);
  rpl_check_count(L, "json_encode", 2);
  rpl_options(L, 2, "json_encode", JSON, &o);
  Work *work = push_work(L);
  lua_pushvalue(L, 1);
  rp_json_begin();
  encode(L, work, NULL, &(Location){NULL, 0, 0});
  work->text =
      rp_json_print(work->tree, JSON_INDENT((size_t)o.indent) | (o.sort ? JSON_SORT_KEYS : 0) |
                                    JSON_REAL_PRECISION(DIGITS) | JSON_ENCODE_ANY);
  if (work->text == NULL)
    return rpl_raise(L);
  lua_pushstring(L, work->text);
  release_work(work);
  return 1;
}

/*
** Decoding
*/

static void push_value(lua_State *L, json_t *value);

static void push_array(lua_State *L, const json_t *array)
{
  lua_newtable(L);
  for (size_t i = 0; i < json_array_size(array); i++) {
    push_value(L, json_array_get(array, i));
    lua_rawseti(L, -2, (lua_Integer)i + 1);
  }
  luaL_setmetatable(L, ARRAY_MARK);
}

static void push_object(lua_State *L, json_t *object)
{
  const char *key;
  json_t *value;
  lua_newtable(L);
  json_object_foreach(object, key, value)
  {
    lua_pushstring(L, key);
    push_value(L, value);
    lua_rawset(L, -3);
  }
}

/* Push the Lua value of a JSON value. */
static void push_value(lua_State *L, json_t *value)
{
  luaL_checkstack(L, 4, "json_decode");
  rpl_check_interrupt(L);
  switch (json_typeof(value)) {
  case JSON_NULL:
    lua_pushlightuserdata(L, NULL);
    return;
  case JSON_TRUE:
  case JSON_FALSE:
    lua_pushboolean(L, json_is_true(value));
    return;
  case JSON_INTEGER:
    lua_pushinteger(L, json_integer_value(value));
    return;
  case JSON_REAL:
    lua_pushnumber(L, json_real_value(value));
    return;
  case JSON_STRING:
    lua_pushlstring(L, json_string_value(value), json_string_length(value));
    return;
  case JSON_ARRAY:
    push_array(L, value);
    return;
  case JSON_OBJECT:
    push_object(L, value);
  }
}

/* Is a value nested deeper than `levels` containers? */
static bool is_deeper(json_t *value, int levels)
{
  size_t index;
  const char *key;
  json_t *inner;
  if (!json_is_array(value) && !json_is_object(value))
    return false;
  if (levels == 0)
    return true;
  json_array_foreach(value, index, inner) if (is_deeper(inner, levels - 1)) return true;
  json_object_foreach(value, key, inner) if (is_deeper(inner, levels - 1)) return true;
  return false;
}

/*
** native.json_decode(text)
** Decode JSON; null becomes `json_null`. Numbers that `json_encode` wrote are restored exactly.
** @param text string
** @return any value nil if the text is not JSON
** @return string? problem the reason, with line and column
*/
static int json_decode(lua_State *L)
{
  rpl_check_count(L, "json_decode", 1);
  luaL_checktype(L, 1, LUA_TSTRING);
  size_t length;
  const char *text = lua_tolstring(L, 1, &length);
  json_error_t error;
  Work *work = push_work(L);
  const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
  const RpStatus status = rp_json_parse(text, length, flags, &work->tree, &error);
  lua_pushnil(L);
  if (status == RP_BAD_FILE) {
    lua_pushfstring(L, "line %d, column %d: %s", error.line, error.column, error.text);
    return 2;
  }
  rpl_check(L, status);
  if (is_deeper(work->tree, LARGEST_DEPTH)) {
    lua_pushfstring(L, "the value is nested deeper than %d levels", LARGEST_DEPTH);
    return 2;
  }
  push_value(L, work->tree);
  release_work(work);
  return 1;
}

/*
** native.json_array(list)
** Mark a list to be encoded as an array even if it is empty.
**
** Errors: a table with a metatable.
** @param list? table by default, a new table
** @return table list the same table
*/
static int json_array_mark(lua_State *L)
{
  rpl_check_count(L, "json_array", 1);
  if (lua_isnoneornil(L, 1)) {
    lua_settop(L, 0);
    lua_newtable(L);
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argcheck(L, !lua_getmetatable(L, 1) || is_marked(L, 1), 1,
                "expected a table without a metatable");
  lua_settop(L, 1);
  luaL_setmetatable(L, ARRAY_MARK);
  return 1;
}

void rpl_open_json(lua_State *L)
{
  static const luaL_Reg functions[] = {{"json_encode", json_encode},
                                       {"json_decode", json_decode},
                                       {"json_array", json_array_mark},
                                       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"__gc", collect_work}, {NULL, NULL}};
  luaL_newmetatable(L, ARRAY_MARK);
  luaL_newmetatable(L, WORK);
  luaL_setfuncs(L, methods, 0);
  lua_pop(L, 2);
  luaL_setfuncs(L, functions, 0);
  lua_pushlightuserdata(L, NULL);
  lua_setfield(L, -2, "json_null");
}
