#include "bindings/check.h"

#include <string.h>

#include "core/base/interrupt.h"

int rpl_raise(lua_State *L)
{
  lua_Debug running;
  if (rp_last_status() == RP_INTERRUPTED)
    rp_interrupt_clear();
  if (rp_last_status() == RP_OUT_OF_MEMORY && lua_getstack(L, 0, &running) &&
      lua_getinfo(L, "n", &running) && running.name != NULL)
    return luaL_error(L, "%s: %s", running.name, rp_message());
  return luaL_error(L, "%s", rp_message());
}

void rpl_check(lua_State *L, RpStatus status)
{
  if (status != RP_OK)
    rpl_raise(L);
}

void rpl_check_interrupt(lua_State *L)
{
  rpl_check(L, rp_interrupt_status());
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

void rpl_check_count(lua_State *L, const char *function, int most)
{
  int count = lua_gettop(L);
  if (count > most)
    luaL_error(L, "%s: expected at most %d argument%s, got %d", function, most,
               most == 1 ? "" : "s", count);
  lua_settop(L, most);
}

/* The integer at `index`; false if there is another value, such as a string with digits. */
static bool is_integer_at(lua_State *L, int index, lua_Integer *value)
{
  int is_integer;
  *value = lua_tointegerx(L, index, &is_integer);
  return is_integer && lua_type(L, index) == LUA_TNUMBER;
}

lua_Integer rpl_check_integer(lua_State *L, int index)
{
  lua_Integer value;
  luaL_checktype(L, index, LUA_TNUMBER);
  if (!is_integer_at(L, index, &value))
    luaL_argerror(L, index,
                  lua_pushfstring(L, "expected an integer, got %s", rpl_push_shown(L, index)));
  return value;
}

lua_Number rpl_check_number(lua_State *L, int index)
{
  luaL_checktype(L, index, LUA_TNUMBER);
  return lua_tonumber(L, index);
}

lua_Number rpl_optional_number(lua_State *L, int index, lua_Number standard)
{
  return lua_isnoneornil(L, index) ? standard : rpl_check_number(L, index);
}

bool rpl_optional_boolean(lua_State *L, int index, bool standard)
{
  if (lua_isnoneornil(L, index))
    return standard;
  if (!lua_isboolean(L, index))
    luaL_argerror(L, index,
                  lua_pushfstring(L, "expected true or false, got %s", rpl_push_shown(L, index)));
  return lua_toboolean(L, index);
}

const char *rpl_check_string(lua_State *L, int index, size_t *length)
{
  luaL_checktype(L, index, LUA_TSTRING);
  return lua_tolstring(L, index, length);
}

/* Convert a 1-based axis to 0-based; an error names the argument number `argument`. */
static int axis_of(lua_State *L, lua_Integer axis, int argument, int rank)
{
  if (rank == 0)
    luaL_argerror(L, argument, lua_pushfstring(L, "a scalar has no axes, got axis %I", axis));
  if (axis < -rank || axis > rank || axis == 0)
    luaL_argerror(L, argument,
                  lua_pushfstring(L, "expected an axis from 1 to %d (or -1 to -%d), got %I", rank,
                                  rank, axis));
  return (int)(axis > 0 ? axis - 1 : axis + rank);
}

int rpl_check_axis(lua_State *L, int index, int rank)
{
  return axis_of(L, rpl_check_integer(L, index), index, rank);
}

void rpl_check_axes(lua_State *L, int index, int rank, bool axes[RP_MAX_RANK])
{
  const lua_Integer count = luaL_len(L, index);
  luaL_argcheck(L, count > 0, index, "expected at least one axis, got {}");
  rpl_check_list(L, index, index, count, NULL);
  memset(axes, 0, RP_MAX_RANK * sizeof *axes);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_Integer given;
    lua_geti(L, index, i);
    if (!is_integer_at(L, -1, &given))
      luaL_argerror(L, index, lua_pushfstring(L, "expected axes, got %s", rpl_push_shown(L, -1)));
    const int axis = axis_of(L, given, index, rank);
    if (axes[axis])
      luaL_argerror(L, index,
                    lua_pushfstring(L, "expected each axis once, got axis %I twice", given));
    axes[axis] = true;
    lua_pop(L, 1);
  }
}

/* The dtype named at `index`; an error names the argument number `argument`. */
static RpDtype read_dtype(lua_State *L, int index, int argument)
{
  static const char *const names[] = {"float32", "float64", "int32", NULL};
  RpDtype dtype = RP_FLOAT32;
  const int choice = rpl_find_choice(L, index, names);
  if (choice < 0 || !rp_dtype_from_name(names[choice], &dtype))
    luaL_argerror(L, argument, rpl_push_refusal(L, index, names));
  return dtype;
}

RpDtype rpl_optional_dtype(lua_State *L, int index, RpDtype standard)
{
  if (lua_isnoneornil(L, index))
    return standard;
  return read_dtype(L, index, index);
}

RpDtype rpl_list_dtype(lua_State *L, int index, int dtype_index)
{
  const bool is_given = !lua_isnoneornil(L, dtype_index);
  lua_pushliteral(L, "dtype");
  if (lua_rawget(L, index) == LUA_TNIL) {
    lua_pop(L, 1);
    return is_given ? read_dtype(L, dtype_index, dtype_index) : RP_FLOAT32;
  }
  luaL_argcheck(L, !is_given, dtype_index, "the list already has a field dtype");
  const RpDtype dtype = read_dtype(L, -1, index);
  lua_pop(L, 1);
  return dtype;
}

void rpl_check_list(lua_State *L, int index, int argument, lua_Integer length, const char *known)
{
  lua_Integer seen = 0;
  index = lua_absindex(L, index);
  if (lua_getmetatable(L, index)) {
    lua_pop(L, 1);
    return;
  }
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    if (++seen % RPL_STRIDE == 0)
      rpl_check_interrupt(L);
    const bool is_text = lua_type(L, -2) == LUA_TSTRING;
    const bool is_known = known != NULL && is_text && strcmp(lua_tostring(L, -2), known) == 0;
    const lua_Integer position = lua_isinteger(L, -2) ? lua_tointeger(L, -2) : 0;
    if (!is_known && (position < 1 || position > length)) {
      const char *field = luaL_tolstring(L, -2, NULL), *hint = "";
      if (known != NULL) {
        rpl_push_names(L, (const char *[]){known, NULL});
        hint = rpl_push_hint(L, field, -1, "it takes");
      }
      luaL_argerror(L, argument, lua_pushfstring(L, "unknown field %s of a list%s", field, hint));
    }
  }
}

/* Read the sizes in the list at `index`, or the numbers from `index` to `last`. */
static int read_shape(lua_State *L, int index, int last, int64_t smallest, int64_t *shape,
                      const char *known)
{
  bool is_list = lua_istable(L, index);
  lua_Integer rank = is_list ? luaL_len(L, index) : last - index + 1;
  if (rank > RP_MAX_RANK)
    luaL_argerror(L, index,
                  lua_pushfstring(L, "expected at most %d sizes, got %I", RP_MAX_RANK, rank));
  if (is_list)
    rpl_check_list(L, index, index, rank, known);
  for (int i = 0; i < rank; i++) {
    if (is_list)
      lua_geti(L, index, i + 1);
    else
      lua_pushvalue(L, index + i);
    lua_Integer size;
    const bool is_size = is_integer_at(L, -1, &size);
    shape[i] = size;
    if (!is_size || size < smallest)
      luaL_argerror(L, index,
                    lua_pushfstring(L, "size %d: expected a %s integer%s, got %s", i + 1,
                                    smallest > 0 ? "positive" : "non-negative",
                                    smallest < 0 ? " or -1" : "", rpl_push_shown(L, -1)));
    lua_pop(L, 1);
  }
  return (int)(rank > 0 ? rank : 0);
}

int rpl_check_shape(lua_State *L, int index, int64_t smallest, int64_t shape[RP_MAX_RANK])
{
  luaL_argcheck(L, !lua_isnone(L, index), index, "expected sizes or a list of them, got none");
  return read_shape(L, index, lua_gettop(L), smallest, shape, NULL);
}

int rpl_check_form(lua_State *L, int index, int dtype_index, int64_t shape[RP_MAX_RANK],
                   RpDtype *dtype)
{
  luaL_checktype(L, index, LUA_TTABLE);
  *dtype = rpl_list_dtype(L, index, dtype_index);
  return read_shape(L, index, index, 0, shape, "dtype");
}

int rpl_check_sizes(lua_State *L, int64_t shape[RP_MAX_RANK], RpDtype *dtype)
{
  int sizes = 0;
  while (sizes < RPL_SIZES && lua_type(L, sizes + 1) == LUA_TNUMBER)
    sizes++;
  const int rank = sizes > 0 ? read_shape(L, 1, sizes, 0, shape, NULL) : 0;
  const int dtype_index = sizes > 0 ? sizes + 1 : 2;
  for (int i = dtype_index + 1; i <= RPL_SIZES; i++)
    luaL_argcheck(L, lua_isnoneornil(L, i), i, "expected no argument after the dtype");
  if (sizes == 0)
    return rpl_check_form(L, 1, 2, shape, dtype);
  *dtype = rpl_optional_dtype(L, dtype_index, RP_FLOAT32);
  return rank;
}

int64_t rpl_check_range(lua_State *L, int index, const char *what, int64_t smallest,
                        int64_t largest)
{
  lua_Integer value;
  if (!is_integer_at(L, index, &value) || value < smallest || value > largest)
    luaL_argerror(L, index,
                  lua_pushfstring(L, "%s: expected an integer from %I to %I, got %s", what,
                                  (lua_Integer)smallest, (lua_Integer)largest,
                                  rpl_push_shown(L, index)));
  return value;
}

const char *rpl_check_path(lua_State *L, int index)
{
  luaL_checktype(L, index, LUA_TSTRING);
  const char *path = lua_tostring(L, index);
  luaL_argcheck(L, strlen(path) == lua_rawlen(L, index), index, "the path contains a NUL byte");
  return path;
}

void rpl_set_integer(lua_State *L, const char *name, int64_t value)
{
  lua_pushinteger(L, value);
  lua_setfield(L, -2, name);
}
