/* Rotary position schemes: construction, rotation, the rotation matrix. */
#include "bindings/position.h"

#include "bindings/foreign.h"
#include "bindings/options.h"
#include "bindings/registry.h"
#include "core/ops/attention.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"

/*
** Raise an error unless the items of the list at `index` are numbers or lists; `what` is the
** function and the argument.
*/
static void check_items(lua_State *L, int index, const char *what)
{
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; i++, lua_pop(L, 1))
    if (lua_type(L, -1) != LUA_TNUMBER && !lua_istable(L, -1))
      luaL_error(L, "%s: expected numbers, got %s as element %I", what, rpl_push_shown(L, -1), i);
  lua_pop(L, 1);
}

RpPositions rpl_push_positions(lua_State *L, int index, int64_t time, double offset,
                               const char *what)
{
  RpPositions positions = {.list = NULL, .offset = offset};
  index = lua_absindex(L, index);
  if (lua_isnoneornil(L, index)) {
    lua_pushnil(L);
    return positions;
  }
  RpTensor **slot;
  if (lua_type(L, index) == LUA_TNUMBER) {
    slot = rpl_new_tensor(L);
    *slot = rp_tensor_full(RP_FLOAT64, 1, &time, lua_tonumber(L, index));
  } else {
    if (lua_istable(L, index)) { /* tensor(list, "float64") */
      check_items(L, index, what);
      lua_getfield(L, LUA_REGISTRYINDEX, RPL_ROTARY ".tensor");
      lua_pushvalue(L, index);
      lua_pushstring(L, "float64");
      lua_call(L, 2, 1);
    } else {
      lua_pushvalue(L, index);
    }
    slot = rpl_new_tensor(L);
    const char *got;
    const RpTensor *given = rpl_to_tensor(L, -2, &got);
    if (given == NULL)
      luaL_error(L, "%s: expected a number, a list or a tensor, got %s", what, got);
    *slot = rp_tensor_convert(given, RP_FLOAT64);
    lua_remove(L, -2);
  }
  if (*slot == NULL)
    rpl_raise(L);
  positions.list = *slot;
  return positions;
}

/* Push the list or tensor at `index`, the value of option `name`, as a new tensor. */
static RpTensor *push_list(lua_State *L, int index, const char *name, RpDtype dtype)
{
  const char *what = lua_pushfstring(L, "rope: option %s", name);
  if (lua_istable(L, index))
    check_items(L, index, what);
  else if (luaL_testudata(L, index, RPL_TENSOR) == NULL)
    luaL_error(L, "%s: expected a list or a tensor, got %s", what, rpl_push_shown(L, index));
  lua_getfield(L, LUA_REGISTRYINDEX, RPL_ROTARY ".tensor");
  lua_pushvalue(L, index);
  lua_pushstring(L, rp_dtype_name(dtype));
  lua_call(L, 2, 1);
  return rpl_check_tensor(L, -1);
}

/*
** @class rotary
** A rotary position scheme: it determines which features of queries, keys, values and output are
** rotated, and how fast. A scheme is immutable; pass it to attention as the option `position`.
**
**     > roper.position.roper{dim = 64}
**     rotary{dim = 64, base = 10000.0, pairing = "half", rotate = "qkvo"}
*/

RpRotary *rpl_check_rotary(lua_State *L, int index)
{
  RpRotary *scheme = luaL_checkudata(L, index, RPL_ROTARY);
  luaL_argcheck(L, scheme->dim > 0, index, "this scheme was already collected");
  return scheme;
}

/* Push an empty scheme. */
static RpRotary *new_rotary(lua_State *L)
{
  RpRotary *scheme = lua_newuserdatauv(L, sizeof *scheme, 0);
  *scheme = (RpRotary){0};
  luaL_setmetatable(L, RPL_ROTARY);
  return scheme;
}

static int rotary_gc(lua_State *L)
{
  rp_rotary_clear(luaL_checkudata(L, 1, RPL_ROTARY));
  return 0;
}

static const char *const PAIRINGS[] = {"half", "interleaved", NULL};

static const RplRow ROTARY[] = {
    RPL_INTEGER_ROW(RpRotaryOptions, dim, 1, 0, INT32_MAX, "number of features of a head"),
    RPL_NUMBER_ROW(RpRotaryOptions, base, 10000, "base of the frequencies"),
    RPL_CHOICE_ROW(RpRotaryOptions, pairing, PAIRINGS,
                   "the features that form a pair: t and t + r/2, or 2t and 2t + 1, of r rotated "
                   "features"),
    RPL_NUMBER_ROW(RpRotaryOptions, fraction, 1,
                   "rotated fraction of the features of queries and keys"),
    {RPL_FIELD(RpRotaryOptions, value_fraction), .kind = RPL_NUMBER, .shown = "fraction",
     .text = "rotated fraction of the features of values and output"},
    {RPL_FIELD(RpRotaryOptions, rotate), .kind = RPL_WORD, .word = "qk",
     .text = "the rotated tensors: any letters of \"qkvo\""},
    RPL_BOOLEAN_ROW(RpRotaryOptions, last, false, "rotate the last features instead of the first"),
    {.name = "frequencies",
     .kind = RPL_OTHER,
     .type = "number[]|tensor",
     .text = "one for each pair, in radians per position, for queries, keys, values and output; "
             "use it instead of base and fractions"},
    {.name = "coordinates",
     .kind = RPL_OTHER,
     .type = "integer[]",
     .text = "for positions of several coordinates, [batch, time, coordinates]: the 1-based "
             "coordinate that rotates each pair; a position of one number rotates all pairs"},
    RPL_NUMBER_ROW(RpRotaryOptions, magnitude, 1, "queries and keys are multiplied by this"),
    {.name = "growth",
     .kind = RPL_OTHER,
     .type = "number[]|tensor",
     .text = "one number g for each pair: queries at position p are multiplied by "
             "exp(g (p - centre)), keys by its inverse (xPos)"},
    RPL_NUMBER_ROW(RpRotaryOptions, centre, 0, "the position where these factors are 1"),
    {0}};

/*
** function roper.rotary(options)
** A rotary scheme; `roper.position.rope` and `roper.position.roper` create the usual ones.
**
** Errors: a fraction that does not give an even number of features; letters other than q, k, v
** and o; lists whose length is not the number of pairs.
**
**     > roper.rotary{dim = 4, rotate = "vo"}
**     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
**     > roper.rotary{dim = 4, frequencies = {1, 0.5}}:matrix(1)[1]
**     float64 [4]
**      0.5403  0.0000 -0.8415  0.0000
** @param options RotaryOptions
** @return rotary scheme
*/
static int rotary(lua_State *L)
{
  rpl_check_count(L, "rope", 1);
  RpRotaryOptions o = {0};
  const RplOptions options = rpl_options(L, 1, "rope", ROTARY, &o);
  if (rpl_option_push(&options, "value_fraction") == LUA_TNIL)
    o.value_fraction = o.fraction;
  const bool listed = rpl_option_push(&options, "frequencies") != LUA_TNIL;
  static const char *const instead[] = {"base", "fraction", "value_fraction", NULL};
  for (int i = 0; listed && instead[i] != NULL; i++)
    if (rpl_option_push(&options, instead[i]) != LUA_TNIL)
      return luaL_error(L, "rope: expected frequencies or %s, got both", instead[i]);
  if (listed) {
    rpl_option_push(&options, "frequencies");
    o.frequencies = push_list(L, lua_gettop(L), "frequencies", RP_FLOAT64);
  }
  if (rpl_option_push(&options, "growth") != LUA_TNIL)
    o.growth = push_list(L, lua_gettop(L), "growth", RP_FLOAT64);
  if (rpl_option_push(&options, "coordinates") != LUA_TNIL) {
    RpTensor *coordinate = push_list(L, lua_gettop(L), "coordinates", RP_INT32);
    int32_t *number = rp_tensor_data(coordinate);
    for (int64_t t = 0; t < rp_tensor_count(coordinate); t++)
      number[t]--;
    o.coordinate = coordinate;
  }
  RpRotary *scheme = new_rotary(L);
  rpl_check(L, rp_rotary_init(scheme, &o));
  return 1;
}

static void push_parts(lua_State *L, unsigned parts)
{
  char letters[5];
  int count = 0;
  for (int i = 0; i < 4; i++)
    if ((parts & 1u << i) != 0)
      letters[count++] = "qkvo"[i];
  lua_pushlstring(L, letters, (size_t)count);
}

static int rotate_part(lua_State *L, const char *name, bool inverse)
{
  static const char *const letters[] = {"q", "k", "v", "o", NULL};
  rpl_check_count(L, name, 4);
  const unsigned part = 1u << rpl_check_choice(L, 4, letters, 0);
  const RpRotary *scheme = rpl_check_rotary(L, 1);
  const RpTensor x = *rpl_check_tensor(L, 2);
  const bool is_rotated = lua_isnoneornil(L, 4) || (scheme->parts & part) != 0;
  if (x.rank == 0 || (is_rotated && x.shape[x.rank - 1] != scheme->dim))
    return luaL_error(L, "%s: expected [..., time, %I], got %s", name, (lua_Integer)scheme->dim,
                      rp_tensor_shape_text(&x));
  const int64_t time = x.rank > 1 ? x.shape[x.rank - 2] : 1;
  const RpPositions positions =
      rpl_push_positions(L, 3, time, 0, lua_pushfstring(L, "%s: positions", name));
  if (!is_rotated) {
    lua_pushvalue(L, 2);
    return 1;
  }
  RpTensor **slot = rpl_new_tensor(L);
  scheme = rpl_check_rotary(L, 1);
  *slot = rp_op_rotate(rpl_check_tensor(L, 2), scheme, part, &positions, inverse);
  return rpl_return_tensor(L, slot);
}

/*
** function rotary:rotate(x, positions, part)
** Rotate each pair of features by position times frequency (RoFormer, Su et al. 2021, eq. 13-16).
**
**     (x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)
**
** If the scheme does not rotate the part, x is returned unchanged and can have any number of
** features.
**
** Errors: int32, more than 4 axes, or a number of features other than dim; positions that do not
** match the shape of x, are not finite or exceed 2^53.
**
**     > rope = roper.position.rope{dim = 2}
**     > rope:rotate(roper.tensor{{1, 0}, {1, 0}}, {0, 1})
**     float32 [2, 2]
**     1.0000 0.0000
**     0.5403 0.8415
** @param x tensor [..., time, dim], floats
** @param positions? number|number[]|tensor any real numbers: one for all times, a list [time], or a
**   tensor [time], [batch, time] or [batch, time, coordinates]; 0, 1, 2, ... by default
** @param part? "q"|"k"|"v"|"o" rotate x as the scheme rotates queries, keys, values or output; by
**   default, rotate all pairs of queries
** @return tensor y of the shape of x
*/
static int rotate(lua_State *L)
{
  return rotate_part(L, "rotate", false);
}

/*
** function rotary:unrotate(x, positions, part)
** The inverse of `rotate`: rotate by the negative angles.
**
**     R₋ₚ x
**
**     > rope = roper.position.rope{dim = 4}
**     > x = roper.randn{3, 4}
**     > (rope:unrotate(rope:rotate(x)) - x):abs():max():item() < 1e-6
**     true
** @like rotary:rotate
*/
static int unrotate(lua_State *L)
{
  return rotate_part(L, "unrotate", true);
}

/*
** function rotary:matrix(position)
** The matrix of the rotation at a position.
**
**     R_a R_b = R_{a+b}
**
**     > roper.position.rope{dim = 4}:matrix(1)
**     float64 [4, 4]
**      0.5403  0.0000 -0.8415  0.0000
**      0.0000  1.0000  0.0000 -0.0100
**      0.8415  0.0000  0.5403  0.0000
**      0.0000  0.0100  0.0000  1.0000
** @param position number
** @return tensor R [dim, dim], float64
*/
static RpTensor *matrix(lua_State *L)
{
  rpl_check_number(L, 2);
  const RpRotary *scheme = rpl_check_rotary(L, 1);
  const RpPositions positions = rpl_push_positions(L, 2, scheme->dim, 0, "matrix: position");
  return rp_rotary_matrix(rpl_check_rotary(L, 1), &positions);
}

/*
** function rotary:only(letters)
** The same scheme, but rotating only some of its tensors.
**
** Errors: letters other than q, k, v and o.
**
**     > roper.position.roper{dim = 4}:only "qo"
**     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qo"}
** @param letters string any letters of "qkvo"
** @return rotary scheme
*/
static int only(lua_State *L)
{
  rpl_check_count(L, "only", 2);
  const char *letters = rpl_check_string(L, 2, NULL);
  RpRotary *copy = new_rotary(L);
  rpl_check(L, rp_rotary_only(copy, rpl_check_rotary(L, 1), letters));
  return 1;
}

/*
** function rotary:thetas()
** The frequency of each pair, in radians per position: those in the option `frequencies`, or
**
**     θ_t = base^(−2t / r), of r rotated features
**
**     > roper.position.rope{dim = 4}:thetas()
**     float64 [2]
**     1.0000 0.0100
** @return tensor theta [pairs], float64
*/
static RpTensor *thetas(lua_State *L)
{
  return rp_tensor_convert(rpl_check_rotary(L, 1)->theta, RP_FLOAT64);
}

/* The fraction of a head's features that these pairs contain. */
static double fraction_of(const RpRotary *scheme, int64_t pairs)
{
  return 2.0 * (double)pairs / (double)scheme->dim;
}

static void set_number(lua_State *L, const char *name, double value)
{
  lua_pushnumber(L, value);
  lua_setfield(L, -2, name);
}

/* Set a field of the table on top to a list of numbers; `base` is added to int32 numbers. */
static void set_list(lua_State *L, const char *name, const RpTensor *list, int base)
{
  if (list == NULL)
    return;
  lua_createtable(L, (int)rp_tensor_count(list), 0);
  for (int64_t t = 0; t < rp_tensor_count(list); t++) {
    if (list->dtype == RP_INT32)
      lua_pushinteger(L, ((const int32_t *)rp_tensor_data(list))[t] + base);
    else
      lua_pushnumber(L, ((const double *)rp_tensor_data(list))[t]);
    lua_rawseti(L, -2, t + 1);
  }
  lua_setfield(L, -2, name);
}

/*
** function rotary:options()
** The options that create this scheme: `roper.rotary(scheme:options())` is the same scheme.
**
**     > roper.position.rope{dim = 4}:options()
**     {
**       base = 10000.0,
**       dim = 4,
**       fraction = 1.0,
**       pairing = "half",
**       rotate = "qk",
**       value_fraction = 1.0
**     }
** @return RotaryOptions options
*/
static int scheme_options(lua_State *L)
{
  rpl_check_count(L, "options", 1);
  RpRotary *scheme = new_rotary(L); /* a copy that no finalizer can clear */
  rpl_check(L, rp_rotary_only(scheme, rpl_check_rotary(L, 1), "qkvo"));
  lua_createtable(L, 0, 8);
  rpl_set_integer(L, "dim", scheme->dim);
  lua_pushstring(L, scheme->interleaved ? "interleaved" : "half");
  lua_setfield(L, -2, "pairing");
  push_parts(L, scheme->parts);
  lua_setfield(L, -2, "rotate");
  if (scheme->base == 0) {
    set_list(L, "frequencies", scheme->theta, 0);
  } else {
    set_number(L, "base", scheme->base);
    set_number(L, "fraction", fraction_of(scheme, scheme->pairs));
    set_number(L, "value_fraction", fraction_of(scheme, scheme->value_pairs));
  }
  if (scheme->last) {
    lua_pushboolean(L, true);
    lua_setfield(L, -2, "last");
  }
  if (scheme->magnitude != 1)
    set_number(L, "magnitude", scheme->magnitude);
  if (scheme->centre != 0)
    set_number(L, "centre", scheme->centre);
  set_list(L, "growth", scheme->growth, 0);
  set_list(L, "coordinates", scheme->coordinate, 1);
  return 1;
}

static int scheme_tostring(lua_State *L)
{
  const RpRotary facts = *rpl_check_rotary(L, 1), *scheme = &facts;
  lua_pushfstring(L, "rotary{dim = %I", (lua_Integer)scheme->dim);
  if (scheme->base == 0)
    lua_pushfstring(L, ", %I frequencies", (lua_Integer)scheme->pairs);
  else
    lua_pushfstring(L, ", base = %f", scheme->base);
  lua_pushfstring(L, ", pairing = \"%s\"", scheme->interleaved ? "interleaved" : "half");
  lua_concat(L, 3);
  if (scheme->base != 0 && 2 * scheme->pairs != scheme->dim) {
    lua_pushfstring(L, ", fraction = %f", fraction_of(scheme, scheme->pairs));
    lua_concat(L, 2);
  }
  if (scheme->value_pairs != scheme->pairs) {
    lua_pushfstring(L, ", value_fraction = %f", fraction_of(scheme, scheme->value_pairs));
    lua_concat(L, 2);
  }
  if (scheme->magnitude != 1) {
    lua_pushfstring(L, ", magnitude = %f", scheme->magnitude);
    lua_concat(L, 2);
  }
  lua_pushfstring(L, "%s%s%s, rotate = \"", scheme->last ? ", last = true" : "",
                  scheme->growth != NULL ? ", with growth" : "",
                  scheme->coordinates > 1 ? ", of several coordinates" : "");
  push_parts(L, scheme->parts);
  lua_pushliteral(L, "\"}");
  lua_concat(L, 4);
  return 1;
}

void rpl_open_position(lua_State *L)
{
  static const luaL_Reg functions[] = {{"rotary", rotary}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"rotate", rotate},
                                     {"unrotate", unrotate},
                                     {"only", only},
                                     {"options", scheme_options},
                                     {NULL, NULL}};
  static const RplOperation operations[] = {
      {"matrix", 2, matrix, 0}, {"thetas", 1, thetas, 0}, {NULL, 0, NULL, 0}};
  luaL_setfuncs(L, functions, 0);
  lua_getfield(L, -1, "tensor");
  lua_setfield(L, LUA_REGISTRYINDEX, RPL_ROTARY ".tensor");
  luaL_newmetatable(L, RPL_ROTARY);
  luaL_newlib(L, methods);
  rpl_set_operations(L, operations);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, scheme_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pushcfunction(L, rotary_gc);
  lua_setfield(L, -2, "__gc");
  lua_pop(L, 1);
  rpl_declare_options(L, "RotaryOptions", NULL, ROTARY);
}
