#include "bindings/options.h"

#include <math.h>

enum { MOST_ROWS = 32 };

/* Raise unless the keys of the table are names of rows. */
static void check_names(const RplOptions *options, const RplRow *rows)
{
  lua_State *L = options->L;
  const char *names[MOST_ROWS + 1] = {NULL};
  for (int i = 0; rows[i].name != NULL; i++)
    names[i] = rows[i].name;
  lua_pushnil(L);
  while (lua_next(L, options->index) != 0) {
    lua_pop(L, 1);
    if (rpl_find_choice(L, -1, names) >= 0)
      continue;
    rpl_push_names(L, names);
    const char *option = luaL_tolstring(L, -2, NULL);
    luaL_error(L, "%s: unknown option %s%s", options->function, option,
               rpl_push_hint(L, option, -2, "it takes"));
  }
}

static bool is_required(const RplRow *row)
{
  return row->kind == RPL_INTEGER && row->standard < (double)row->smallest;
}

/* Raise an error about the value of an option, which is on top of the stack. */
static void refuse(const RplOptions *options, const RplRow *row, const char *expected)
{
  luaL_error(options->L, "%s: option %s: expected %s, got %s", options->function, row->name,
             expected, rpl_push_shown(options->L, -1));
}

/* The integer on top of the stack. */
static int64_t integer(const RplOptions *options, const RplRow *row)
{
  lua_State *L = options->L;
  int is_integer = lua_type(L, -1) == LUA_TNUMBER;
  const int64_t value = lua_tointegerx(L, -1, is_integer ? &is_integer : NULL);
  if (!is_integer || value < row->smallest || value > row->largest) {
    const char *expected = lua_pushfstring(L, "an integer from %I to %I",
                                           (lua_Integer)row->smallest, (lua_Integer)row->largest);
    lua_pushvalue(L, -2);
    refuse(options, row, expected);
  }
  return value;
}

/* The word on top of the stack. */
static const char *word(const RplOptions *options, const RplRow *row)
{
  lua_State *L = options->L;
  if (row->choices == NULL && lua_type(L, -1) == LUA_TSTRING)
    return lua_tostring(L, -1);
  if (row->choices == NULL)
    refuse(options, row, "a string");
  const int choice = rpl_find_choice(L, -1, row->choices);
  if (choice < 0)
    luaL_error(L, "%s: option %s: %s", options->function, row->name,
               rpl_push_refusal(L, -1, row->choices));
  return row->choices[choice];
}

static void read_option(const RplOptions *options, const RplRow *row, void *values)
{
  lua_State *L = options->L;
  void *field = (char *)values + row->field;
  const bool is_given = rpl_option_push(options, row->name) != LUA_TNIL || is_required(row);
  if (row->kind == RPL_BOOLEAN) {
    if (is_given && !lua_isboolean(L, -1))
      refuse(options, row, "true or false");
    *(bool *)field = is_given ? lua_toboolean(L, -1) : row->standard != 0;
  } else if (row->kind == RPL_NUMBER) {
    if (is_given && (lua_type(L, -1) != LUA_TNUMBER || !isfinite(lua_tonumber(L, -1))))
      refuse(options, row, "a finite number");
    *(double *)field = is_given ? lua_tonumber(L, -1) : row->standard;
  } else if (row->kind == RPL_INTEGER) {
    *(int64_t *)field = is_given ? integer(options, row) : (int64_t)row->standard;
  } else if (row->kind == RPL_WORD) {
    const char *standard = row->choices != NULL ? row->choices[0] : row->word;
    *(const char **)field = is_given ? word(options, row) : standard;
    return; /* the value on the stack keeps the word alive */
  }
  lua_pop(L, 1);
}

RplOptions rpl_options(lua_State *L, int index, const char *function, const RplRow *rows,
                       void *values)
{
  RplOptions options = {L, lua_isnoneornil(L, index) ? 0 : index, function};
  luaL_checkstack(L, MOST_ROWS + LUA_MINSTACK, function);
  if (options.index != 0) {
    luaL_checktype(L, index, LUA_TTABLE);
    check_names(&options, rows);
  }
  for (; rows->name != NULL; rows++)
    read_option(&options, rows, values);
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

RpTensor *rpl_option_tensor(const RplOptions *options, const char *name)
{
  const char *got = NULL;
  if (rpl_option_push(options, name) == LUA_TNIL)
    return NULL;
  if (luaL_testudata(options->L, -1, RPL_TENSOR) == NULL)
    luaL_error(options->L, "%s: option %s: expected a tensor, got %s", options->function, name,
               rpl_push_shown(options->L, -1));
  RpTensor *tensor = rpl_hold_tensor(options->L, &got);
  if (tensor == NULL)
    luaL_error(options->L, "%s: option %s: expected a tensor, got %s", options->function, name,
               got);
  return tensor;
}

/* Push the kind of a row. */
static void push_kind(lua_State *L, const RplRow *row)
{
  static const char *const names[] = {"boolean", "number", "integer", "string", "any?"};
  if (row->kind == RPL_INTEGER && row->largest < INT32_MAX) {
    lua_newtable(L);
    rpl_set_integer(L, "smallest", row->smallest);
    rpl_set_integer(L, "largest", row->largest);
  } else if (row->kind == RPL_INTEGER && row->smallest >= 0) {
    lua_pushstring(L, row->smallest > 0 ? "size" : "count");
  } else if (row->choices != NULL) {
    rpl_push_names(L, row->choices);
  } else {
    lua_pushstring(L, names[row->kind]);
  }
}

/* Push the default of a row, or nil. */
static void push_standard(lua_State *L, const RplRow *row)
{
  if (row->kind == RPL_OTHER || is_required(row) || row->shown != NULL)
    lua_pushnil(L);
  else if (row->kind == RPL_BOOLEAN)
    lua_pushboolean(L, row->standard != 0);
  else if (row->kind == RPL_WORD)
    lua_pushstring(L, row->choices != NULL ? row->choices[0] : row->word);
  else if (row->standard == (double)(lua_Integer)row->standard)
    lua_pushinteger(L, (lua_Integer)row->standard);
  else
    lua_pushnumber(L, row->standard);
}

void rpl_push_row(lua_State *L, const RplRow *row)
{
  lua_createtable(L, 4, 2);
  lua_pushstring(L, row->name);
  lua_rawseti(L, -2, 1);
  push_kind(L, row);
  if (row->shown != NULL)
    lua_pushliteral(L, "?");
  if (row->shown != NULL && lua_isstring(L, -2))
    lua_concat(L, 2);
  lua_rawseti(L, -2, 2);
  push_standard(L, row);
  lua_rawseti(L, -2, 3);
  lua_pushstring(L, row->text);
  lua_rawseti(L, -2, 4);
  lua_pushstring(L, row->type);
  lua_setfield(L, -2, "type");
  lua_pushstring(L, row->shown);
  lua_setfield(L, -2, "shown");
}

void rpl_declare_options(lua_State *L, const char *name, const char *parent, const RplRow *rows)
{
  luaL_getsubtable(L, -1, "options");
  lua_newtable(L);
  lua_pushstring(L, name);
  lua_setfield(L, -2, "class");
  lua_pushstring(L, parent);
  lua_setfield(L, -2, "parent");
  for (int i = 0; rows[i].name != NULL; i++) {
    rpl_push_row(L, &rows[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_rawseti(L, -2, luaL_len(L, -2) + 1);
  lua_pop(L, 1);
}
