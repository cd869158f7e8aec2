/* Rotary schemes: construction, rotation, the explicit matrix. */
#include "bindings/position.h"

#include "core/ops/attention.h"
#include "core/tensor/copy.h"

RpPositions rpl_push_positions(lua_State *L, int index, int64_t time, double offset)
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
    if (lua_istable(L, index)) { /* read as tensor(list, "float64") would */
      lua_getfield(L, LUA_REGISTRYINDEX, RPL_ROTARY ".tensor");
      lua_pushvalue(L, index);
      lua_pushstring(L, "float64");
      lua_call(L, 2, 1);
    } else {
      if (!lua_isuserdata(L, index))
        luaL_error(L, "positions: expected a number, a list or a tensor, got %s",
                   luaL_typename(L, index));
      rpl_check_tensor(L, index);
      lua_pushvalue(L, index);
    }
    RpTensor *given = rpl_check_tensor(L, -1);
    slot = rpl_new_tensor(L);
    *slot = rp_tensor_convert(given, RP_FLOAT64);
    lua_remove(L, -2);
  }
  if (*slot == NULL)
    rpl_raise(L);
  positions.list = *slot;
  return positions;
}

/*
** @class rotary
** A rotary position scheme: which features of queries, keys, values and output turn, and how fast.
** It does not change; attention takes it as `position`.
**
**     > roper.position.roper{dim = 64}
**     rotary{dim = 64, base = 10000.0, pairing = "half", rotate = "qkvo"}
*/

static RpRotary *check_rotary(lua_State *L, int index)
{
  return luaL_checkudata(L, index, RPL_ROTARY);
}

/*
** @class RotaryOptions
** @field dim integer features of a head
** @field base? number = 10000; of the frequencies
** @field pairing? "half"|"interleaved" = "half"; which features turn together: t and t + r/2, or
**   2t and 2t + 1
** @field fraction? number = 1; of the features of queries and keys that turn
** @field value_fraction? number = fraction; of the features of values and output that turn
** @field rotate? string = "qk"; what turns: any letters of "qkvo"
*/

/*
** function roper.rotary(options)
** A rotary scheme; `roper.position.rope` and `roper.position.roper` make the usual ones.
**
** Errors: a fraction of the features that is no even number; letters other than q, k, v and o.
**
**     > roper.rotary{dim = 4, rotate = "vo"}
**     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "vo"}
** @param options RotaryOptions
** @return rotary scheme
*/
static int rotary(lua_State *L)
{
  static const char *const names[] = {"dim",    "base", "pairing", "fraction", "value_fraction",
                                      "rotate", NULL};
  rpl_check_count(L, "rope", 1);
  const RplOptions options = rpl_options(L, 1, "rope", names);
  if (rpl_option_push(&options, "dim") == LUA_TNIL)
    return luaL_error(L, "rope: expected dim, the number of features of a head");
  lua_pop(L, 1);
  const int64_t dim = rpl_option_integer(&options, "dim", 0, 1, INT32_MAX);
  const double base = rpl_option_number(&options, "base", 10000);
  const char *pairing = rpl_option_string(&options, "pairing", "half");
  const double fraction = rpl_option_number(&options, "fraction", 1);
  const double value_fraction = rpl_option_number(&options, "value_fraction", fraction);
  const char *rotate = rpl_option_string(&options, "rotate", "qk");
  RpRotary *scheme = lua_newuserdatauv(L, sizeof *scheme, 0);
  rpl_check(L, rp_rotary_init(scheme, dim, base, pairing, fraction, value_fraction, rotate));
  luaL_setmetatable(L, RPL_ROTARY);
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

/* The pairs that turn for an optional letter of "qkvo" at `index`: none if it is not rotated. */
static int64_t pairs_for(lua_State *L, int index, const RpRotary *scheme)
{
  static const char *const letters[] = {"q", "k", "v", "o", NULL};
  if (lua_isnoneornil(L, index))
    return scheme->pairs;
  const int part = luaL_checkoption(L, index, NULL, letters);
  if ((scheme->parts & 1u << part) == 0)
    return 0;
  return part < 2 ? scheme->pairs : scheme->value_pairs;
}

static int turn(lua_State *L, const char *name, bool back)
{
  rpl_check_count(L, name, 4);
  const RpRotary *scheme = check_rotary(L, 1);
  RpTensor *x = rpl_check_tensor(L, 2);
  const int64_t pairs = pairs_for(L, 4, scheme);
  if (x->rank == 0 || x->shape[x->rank - 1] != scheme->dim)
    return luaL_error(L, "%s: expected [..., time, %I], got %s", name, (lua_Integer)scheme->dim,
                      rp_tensor_shape_text(x));
  const int64_t time = x->rank > 1 ? x->shape[x->rank - 2] : 1;
  const RpPositions positions = rpl_push_positions(L, 3, time, 0);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_rotate(x, scheme, pairs, &positions, back);
  return rpl_return_tensor(L, slot);
}

/*
** function rotary:rotate(x, positions, part)
** Turn every pair of features by position times its frequency (RoFormer, Su et al. 2021,
** eq. 13-16).
**
**     (x, y) → (x cos pθ − y sin pθ, x sin pθ + y cos pθ)
**
** Errors: another number of features; positions of another shape, or not finite.
**
**     > rope = roper.position.rope{dim = 2}
**     > rope:rotate(roper.tensor{{1, 0}, {1, 0}}, {0, 1})
**     float32 [2, 2]
**     1.0000 0.0000
**     0.5403 0.8415
** @param x tensor [..., time, dim], floats
** @param positions? number|number[]|tensor 0, 1, 2, ... by default; one for all of time, a list
**   [time], a tensor [time] or [batch, time]; any real numbers
** @param part? "q"|"k"|"v"|"o" turn as the scheme turns this one; by default all pairs of
**   queries turn
** @return tensor y of the shape of x
*/
static int rotate(lua_State *L)
{
  return turn(L, "rotate", false);
}

/*
** function rotary:unrotate(x, positions, part)
** Turn back what `rotate` turned.
**
**     R₋ₚ x
**
** Errors: as for `rotate`.
**
**     > rope = roper.position.rope{dim = 4}
**     > x = roper.randn{3, 4}
**     > (rope:unrotate(rope:rotate(x)) - x):abs():max():item() < 1e-6
**     true
** @param x tensor [..., time, dim], floats
** @param positions? number|number[]|tensor 0, 1, 2, ... by default; one for all of time, a list
**   [time], a tensor [time] or [batch, time]; any real numbers
** @param part? "q"|"k"|"v"|"o" turn as the scheme turns this one; by default all pairs of
**   queries turn
** @return tensor y of the shape of x
*/
static int unrotate(lua_State *L)
{
  return turn(L, "unrotate", true);
}

/*
** function rotary:matrix(position)
** The rotation as a matrix, for looking at it.
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
static int matrix(lua_State *L)
{
  rpl_check_count(L, "matrix", 2);
  const RpRotary *scheme = check_rotary(L, 1);
  luaL_checknumber(L, 2);
  const int64_t shape[] = {scheme->dim, scheme->dim};
  const RpPositions positions = rpl_push_positions(L, 2, scheme->dim, 0);
  RpTensor **unit = rpl_new_tensor(L);
  *unit = rp_tensor_full(RP_FLOAT64, 2, shape, 0);
  if (*unit == NULL)
    return rpl_raise(L);
  double *diagonal = rp_tensor_data(*unit);
  for (int64_t i = 0; i < scheme->dim; i++)
    diagonal[i * (scheme->dim + 1)] = 1;
  RpTensor **slot = rpl_new_tensor(L); /* row i of the rotated unit matrix is R e_i: a column */
  *slot = rp_op_rotate(*unit, scheme, scheme->pairs, &positions, true);
  return rpl_return_tensor(L, slot);
}

/*
** function rotary:only(letters)
** The same scheme, turning just those of its tensors.
**
** Errors: other letters.
**
**     > roper.position.roper{dim = 4}:only "qo"
**     rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qo"}
** @param letters string of "qkvo"
** @return rotary scheme
*/
static int only(lua_State *L)
{
  rpl_check_count(L, "only", 2);
  const RpRotary *scheme = check_rotary(L, 1);
  RpRotary asked;
  rpl_check(
      L, rp_rotary_init(&asked, scheme->dim, scheme->base, "half", 0, 0, luaL_checkstring(L, 2)));
  RpRotary *copy = lua_newuserdatauv(L, sizeof *copy, 0);
  *copy = *scheme;
  copy->parts &= asked.parts;
  luaL_setmetatable(L, RPL_ROTARY);
  return 1;
}

/*
** function rotary:thetas()
** The frequencies: radians that each pair turns by in one position.
**
**     θ_t = base^(−2t / r), r features that turn
**
**     > roper.position.rope{dim = 4}:thetas()
**     float64 [2]
**     1.0000 0.0100
** @return tensor theta [pairs], float64
*/
static int thetas(lua_State *L)
{
  rpl_check_count(L, "thetas", 1);
  const RpRotary *scheme = check_rotary(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_new(RP_FLOAT64, 1, &scheme->pairs);
  if (*slot == NULL)
    return rpl_raise(L);
  double *theta = rp_tensor_data(*slot);
  for (int64_t t = 0; t < scheme->pairs; t++)
    theta[t] = rp_rotary_theta(scheme, scheme->pairs, t);
  return 1;
}

/* The share of a head's features that these pairs are. */
static double fraction_of(const RpRotary *scheme, int64_t pairs)
{
  return 2.0 * (double)pairs / (double)scheme->dim;
}

/*
** function rotary:options()
** What makes the same scheme again.
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
  const RpRotary *scheme = check_rotary(L, 1);
  lua_createtable(L, 0, 6);
  lua_pushinteger(L, scheme->dim);
  lua_setfield(L, -2, "dim");
  lua_pushnumber(L, scheme->base);
  lua_setfield(L, -2, "base");
  lua_pushstring(L, scheme->interleaved ? "interleaved" : "half");
  lua_setfield(L, -2, "pairing");
  lua_pushnumber(L, fraction_of(scheme, scheme->pairs));
  lua_setfield(L, -2, "fraction");
  lua_pushnumber(L, fraction_of(scheme, scheme->value_pairs));
  lua_setfield(L, -2, "value_fraction");
  push_parts(L, scheme->parts);
  lua_setfield(L, -2, "rotate");
  return 1;
}

static int scheme_tostring(lua_State *L)
{
  const RpRotary *scheme = check_rotary(L, 1);
  lua_pushfstring(L, "rotary{dim = %I, base = %f, pairing = \"%s\"", (lua_Integer)scheme->dim,
                  scheme->base, scheme->interleaved ? "interleaved" : "half");
  if (2 * scheme->pairs != scheme->dim)
    lua_pushfstring(L, ", fraction = %f", fraction_of(scheme, scheme->pairs));
  else
    lua_pushliteral(L, "");
  if (scheme->value_pairs != scheme->pairs)
    lua_pushfstring(L, ", value_fraction = %f", fraction_of(scheme, scheme->value_pairs));
  else
    lua_pushliteral(L, "");
  lua_pushliteral(L, ", rotate = \"");
  push_parts(L, scheme->parts);
  lua_pushliteral(L, "\"}");
  lua_concat(L, 6);
  return 1;
}

void rpl_open_position(lua_State *L)
{
  static const luaL_Reg functions[] = {{"rotary", rotary}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"rotate", rotate}, {"unrotate", unrotate},      {"matrix", matrix}, {"only", only},
      {"thetas", thetas}, {"options", scheme_options}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  lua_getfield(L, -1, "tensor");
  lua_setfield(L, LUA_REGISTRYINDEX, RPL_ROTARY ".tensor");
  luaL_newmetatable(L, RPL_ROTARY);
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, scheme_tostring);
  lua_setfield(L, -2, "__tostring");
  lua_pop(L, 1);
}
