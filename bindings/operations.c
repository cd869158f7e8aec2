/*
** Differentiable operations as functions of the module and methods of tensors.
** A new operation is one line in a table here.
*/
#include "bindings/check.h"
#include "bindings/generator.h"
#include "core/ops/ops.h"
#include "core/tensor/elementwise.h"
#include "core/tensor/reduce.h"

/* The operation of a closure made from one of the tables below. */
static int operation(lua_State *L)
{
  return (int)lua_tointeger(L, lua_upvalueindex(1));
}

/* Turn a number at `index` into a scalar tensor of the dtype of `other`. */
static RpTensor *operand(lua_State *L, int index, const RpTensor *other)
{
  if (lua_type(L, index) != LUA_TNUMBER)
    return rpl_check_tensor(L, index);
  RpTensor *scalar = rpl_push_scalar(L, index, other->dtype);
  lua_replace(L, index);
  return scalar;
}

/* Two operands at `first` and the place after it, of which one may be a number. */
static void operands(lua_State *L, int first, RpTensor **a, RpTensor **b)
{
  if (lua_type(L, first) == LUA_TNUMBER) {
    *b = rpl_check_tensor(L, first + 1);
    *a = operand(L, first, *b);
  } else {
    *a = rpl_check_tensor(L, first);
    *b = operand(L, first + 1, *a);
  }
}

static int unary(lua_State *L)
{
  const RpUnary op = (RpUnary)operation(L);
  /* Lua passes the operand of a unary metamethod twice. */
  rpl_check_count(L, rp_unary_name(op), op == RP_NEGATE ? 2 : 1);
  RpTensor *x = rpl_check_tensor(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_unary(op, x);
  return rpl_return_tensor(L, slot);
}

static int binary(lua_State *L)
{
  const RpBinary op = (RpBinary)operation(L);
  RpTensor *a, *b;
  rpl_check_count(L, rp_binary_name(op), 2);
  operands(L, 1, &a, &b);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_binary(op, a, b);
  return rpl_return_tensor(L, slot);
}

static int compare(lua_State *L)
{
  const RpCompare op = (RpCompare)operation(L);
  RpTensor *a, *b;
  rpl_check_count(L, rp_compare_name(op), 2);
  operands(L, 1, &a, &b);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_compare(op, a, b);
  return rpl_return_tensor(L, slot);
}

/* a < b and a <= b in Lua give one boolean, so both must be single numbers. */
static int compare_scalars(lua_State *L)
{
  RpTensor *a, *b;
  operands(L, 1, &a, &b);
  if (rp_tensor_count(a) != 1 || rp_tensor_count(b) != 1)
    return luaL_error(L,
                      "< and <= compare single numbers, got shapes %s and %s; use :lt() or :le()",
                      rp_tensor_shape_text(a), rp_tensor_shape_text(b));
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_compare((RpCompare)operation(L), a, b);
  if (*slot == NULL)
    return rpl_raise(L);
  lua_pushboolean(L, *(const int32_t *)rp_tensor_data(*slot) != 0);
  return 1;
}

/* An axis at 2 (all of them where absent) and `keep` at 3. */
static int reduction_axis(lua_State *L, const RpTensor *x, bool *keep)
{
  rpl_check_count(L, rp_reduction_name((RpReduction)operation(L)), 3);
  *keep = lua_toboolean(L, 3);
  return lua_isnoneornil(L, 2) ? RP_ALL_AXES : rpl_check_axis(L, 2, x->rank);
}

static int reduce(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  bool keep;
  const int axis = reduction_axis(L, x, &keep);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_reduce((RpReduction)operation(L), x, axis, keep);
  return rpl_return_tensor(L, slot);
}

/* The places of extrema, from 1. */
static int argument(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  bool keep;
  const int axis = reduction_axis(L, x, &keep);
  RpTensor **values = rpl_new_tensor(L), **places = rpl_new_tensor(L);
  *values = rp_tensor_reduce((RpReduction)operation(L), x, axis, keep, places);
  if (*values == NULL)
    return rpl_raise(L);
  RpTensor **one = rpl_new_tensor(L), **slot = rpl_new_tensor(L);
  *one = rp_tensor_full(RP_INT32, 0, NULL, 1);
  if (*one == NULL)
    return rpl_raise(L);
  *slot = rp_tensor_binary(RP_ADD, *places, *one);
  return rpl_return_tensor(L, slot);
}

static int softmax(lua_State *L)
{
  rpl_check_count(L, "softmax", 2);
  RpTensor *x = rpl_check_tensor(L, 1);
  const int axis = lua_isnoneornil(L, 2) ? x->rank - 1 : rpl_check_axis(L, 2, x->rank);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_softmax(x, axis, operation(L) != 0);
  return rpl_return_tensor(L, slot);
}

static int cumulative_sum(lua_State *L)
{
  rpl_check_count(L, "cumsum", 2);
  RpTensor *x = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, x->rank);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_cumulative_sum(x, axis);
  return rpl_return_tensor(L, slot);
}

static int matmul(lua_State *L)
{
  rpl_check_count(L, "matmul", 2);
  RpTensor *a = rpl_check_tensor(L, 1), *b = rpl_check_tensor(L, 2);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_matmul(a, b);
  return rpl_return_tensor(L, slot);
}

/* linear(x, weight [, bias [, "relu"]]) */
static int linear(lua_State *L)
{
  static const char *const activations[] = {"none", "relu", NULL};
  rpl_check_count(L, "linear", 4);
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_optional_tensor(L, 3);
  const bool relu = luaL_checkoption(L, 4, "none", activations) == 1;
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_linear(x, weight, bias, relu);
  return rpl_return_tensor(L, slot);
}

/* layer_norm(x, gain, bias [, epsilon]) */
static int layer_norm(lua_State *L)
{
  rpl_check_count(L, "layer_norm", 4);
  RpTensor *x = rpl_check_tensor(L, 1), *gain = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_check_tensor(L, 3);
  const double epsilon = luaL_optnumber(L, 4, 1e-5);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_layer_norm(x, gain, bias, epsilon);
  return rpl_return_tensor(L, slot);
}

static int embedding(lua_State *L)
{
  rpl_check_count(L, "embedding", 2);
  RpTensor *table = rpl_check_tensor(L, 1), *index = rpl_check_tensor(L, 2);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_embedding(table, index);
  return rpl_return_tensor(L, slot);
}

/* Raise unless every index, already from 0, is a place of the axis. */
static void check_places(lua_State *L, const RpTensor *from_0, int64_t size)
{
  const int32_t *place = rp_tensor_data(from_0);
  for (int64_t i = 0; i < rp_tensor_count(from_0); i++)
    if (place[i] < 0 || place[i] >= size)
      luaL_error(L, "gather: expected places from 1 to %I, got %I as element %I", (lua_Integer)size,
                 (lua_Integer)place[i] + 1, (lua_Integer)i + 1);
}

/* gather(x, axis, index): indices from 1 */
static int gather(lua_State *L)
{
  rpl_check_count(L, "gather", 3);
  RpTensor *x = rpl_check_tensor(L, 1), *index = rpl_check_tensor(L, 3);
  const int axis = rpl_check_axis(L, 2, x->rank);
  luaL_argcheck(L, index->dtype == RP_INT32, 3, "expected an int32 index, got floats");
  RpTensor **one = rpl_new_tensor(L), **from_0 = rpl_new_tensor(L);
  *one = rp_tensor_full(RP_INT32, 0, NULL, 1);
  if (*one == NULL)
    return rpl_raise(L);
  *from_0 = rp_tensor_binary(RP_SUBTRACT, index, *one);
  if (*from_0 == NULL)
    return rpl_raise(L);
  check_places(L, *from_0, x->shape[axis]);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_gather(x, axis, *from_0);
  return rpl_return_tensor(L, slot);
}

/* where(condition, a, b); a or b may be a number */
static int where(lua_State *L)
{
  rpl_check_count(L, "where", 3);
  RpTensor *condition = rpl_check_tensor(L, 1), *a, *b;
  luaL_argcheck(L, lua_type(L, 2) != LUA_TNUMBER || lua_type(L, 3) != LUA_TNUMBER, 2,
                "expected a tensor for a or b, got two numbers");
  operands(L, 2, &a, &b);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_where(condition, a, b);
  return rpl_return_tensor(L, slot);
}

/* cat(list [, axis]) */
static int concatenate(lua_State *L)
{
  enum { MOST = 4096 };
  int count;
  rpl_check_count(L, "cat", 2);
  lua_settop(L, 2);
  RpTensor **list = rpl_push_tensors(L, 1, "cat", MOST, &count);
  if (count == 0)
    return luaL_error(L, "cat: expected at least one tensor, got an empty list");
  if (list[0]->rank == 0)
    return luaL_error(L, "cat: expected tensors with an axis, got scalars; use stack");
  const int axis = lua_isnil(L, 2) ? 0 : rpl_check_axis(L, 2, list[0]->rank);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_concatenate(count, list, axis);
  return rpl_return_tensor(L, slot);
}

/* cross_entropy(logits, targets [, {ignore =, each =}]) */
static int cross_entropy(lua_State *L)
{
  static const char *const names[] = {"ignore", "each", NULL};
  rpl_check_count(L, "cross_entropy", 3);
  RpTensor *logits = rpl_check_tensor(L, 1), *targets = rpl_check_tensor(L, 2);
  const RplOptions options = rpl_options(L, 3, "cross_entropy", names);
  const int64_t ignore = rpl_option_integer(&options, "ignore", -1, INT32_MIN, INT32_MAX);
  const bool each = rpl_option_boolean(&options, "each", false);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_cross_entropy(logits, targets, (int32_t)ignore, each);
  return rpl_return_tensor(L, slot);
}

/* dropout(x, p [, seed]); without a seed the generator gives one */
static int dropout(lua_State *L)
{
  rpl_check_count(L, "dropout", 3);
  RpTensor *x = rpl_check_tensor(L, 1);
  const double p = luaL_checknumber(L, 2);
  const uint64_t seed = lua_isnoneornil(L, 3) ? rpl_next_seed() : (uint64_t)luaL_checkinteger(L, 3);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_dropout(x, p, seed);
  return rpl_return_tensor(L, slot);
}

static const struct {
  const char *name;
  lua_CFunction function;
  int operation;
} table[] = {
    {"neg", unary, RP_NEGATE},       {"abs", unary, RP_ABS},
    {"sign", unary, RP_SIGN},        {"square", unary, RP_SQUARE},
    {"floor", unary, RP_FLOOR},      {"ceil", unary, RP_CEIL},
    {"round", unary, RP_ROUND},      {"sqrt", unary, RP_SQRT},
    {"exp", unary, RP_EXP},          {"log", unary, RP_LOG},
    {"sin", unary, RP_SIN},          {"cos", unary, RP_COS},
    {"tanh", unary, RP_TANH},        {"sigmoid", unary, RP_SIGMOID},
    {"relu", unary, RP_RELU},        {"gelu", unary, RP_GELU},
    {"add", binary, RP_ADD},         {"sub", binary, RP_SUBTRACT},
    {"mul", binary, RP_MULTIPLY},    {"div", binary, RP_DIVIDE},
    {"pow", binary, RP_POWER},       {"maximum", binary, RP_MAXIMUM},
    {"minimum", binary, RP_MINIMUM}, {"eq", compare, RP_EQ},
    {"ne", compare, RP_NE},          {"lt", compare, RP_LT},
    {"le", compare, RP_LE},          {"gt", compare, RP_GT},
    {"ge", compare, RP_GE},          {"sum", reduce, RP_SUM},
    {"mean", reduce, RP_MEAN},       {"max", reduce, RP_MAX},
    {"min", reduce, RP_MIN},         {"argmax", argument, RP_MAX},
    {"argmin", argument, RP_MIN},    {"softmax", softmax, 0},
    {"log_softmax", softmax, 1},     {"cumsum", cumulative_sum, 0},
    {"matmul", matmul, 0},           {"linear", linear, 0},
    {"layer_norm", layer_norm, 0},   {"embedding", embedding, 0},
    {"gather", gather, 0},           {"where", where, 0},
    {"cat", concatenate, 0},         {"cross_entropy", cross_entropy, 0},
    {"dropout", dropout, 0},
};

static const struct {
  const char *event;
  lua_CFunction function;
  int operation;
} events[] = {
    {"__unm", unary, RP_NEGATE},      {"__add", binary, RP_ADD},
    {"__sub", binary, RP_SUBTRACT},   {"__mul", binary, RP_MULTIPLY},
    {"__div", binary, RP_DIVIDE},     {"__pow", binary, RP_POWER},
    {"__lt", compare_scalars, RP_LT}, {"__le", compare_scalars, RP_LE},
};

void rpl_open_operations(lua_State *L)
{
  const int module = lua_gettop(L);
  luaL_getmetatable(L, RPL_TENSOR);
  lua_getfield(L, -1, "methods");
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    lua_pushinteger(L, table[i].operation);
    lua_pushcclosure(L, table[i].function, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, module, table[i].name);
    lua_setfield(L, -2, table[i].name);
  }
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
    lua_pushinteger(L, events[i].operation);
    lua_pushcclosure(L, events[i].function, 1);
    lua_setfield(L, -3, events[i].event);
  }
  lua_pop(L, 2);
}
