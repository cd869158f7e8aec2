/*
** Differentiable operations as functions of the module and methods of tensors.
** A new operation is one line in the table here.
*/
#include "bindings/operations.h"

#include "bindings/generator.h"
#include "core/ops/ops.h"

int rpl_operation(lua_State *L)
{
  return (int)lua_tointeger(L, lua_upvalueindex(1));
}

void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b)
{
  const int second = first + 1;
  const int number = lua_type(L, first) == LUA_TNUMBER ? first : second;
  if (lua_type(L, number) == LUA_TNUMBER) {
    rpl_push_scalar(L, number, rpl_check_tensor(L, number == first ? second : first)->dtype);
    lua_replace(L, number);
  }
  *a = rpl_check_tensor(L, first);
  *b = rpl_check_tensor(L, second);
}

void rpl_add_operations(lua_State *L, const RplOperation *table)
{
  const int module = lua_gettop(L);
  luaL_getmetatable(L, RPL_TENSOR);
  lua_getfield(L, -1, "methods");
  for (; table->name != NULL; table++) {
    lua_pushinteger(L, table->operation);
    lua_pushcclosure(L, table->function, 1);
    lua_pushvalue(L, -1);
    lua_setfield(L, module, table->name);
    lua_setfield(L, -2, table->name);
  }
  lua_pop(L, 2);
}

void rpl_add_events(lua_State *L, const RplOperation *events)
{
  luaL_getmetatable(L, RPL_TENSOR);
  for (; events->name != NULL; events++) {
    lua_pushinteger(L, events->operation);
    lua_pushcclosure(L, events->function, 1);
    lua_setfield(L, -2, events->name);
  }
  lua_pop(L, 1);
}

/*
** function roper.matmul(a, b)
** Products of matrices; leading axes are broadcast.
**
**     y = a b
**
** Errors: less than two axes, other dtypes, sizes that do not fit.
**
**     > roper.tensor{{1, 2}, {3, 4}}:matmul(roper.tensor{{10}, {1}})
**     float32 [2, 1]
**     12
**     34
** @param a tensor [..., m, k], floats
** @param b tensor [..., k, n], of the dtype of a
** @return tensor y [..., m, n]
*/
static int matmul(lua_State *L)
{
  rpl_check_count(L, "matmul", 2);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_matmul(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2));
  return rpl_return_tensor(L, slot);
}

/*
** function roper.linear(x, weight, bias, activation)
** A linear map of the last axis, and ReLU where asked, in one pass.
**
**     y = x Wᵀ + b
**
** Errors: sizes or dtypes that do not fit.
**
**     > weight, bias = roper.tensor{{1, 1}, {-1, 0}}, roper.tensor{0.5, 0}
**     > roper.linear(roper.tensor{{1, 2}}, weight, bias, "relu")
**     float32 [1, 2]
**     3.5000 0.0000
** @param x tensor [..., inputs], floats
** @param weight tensor [outputs, inputs]
** @param bias? tensor [outputs]
** @param activation? "none"|"relu" = "none"
** @return tensor y [..., outputs]
*/
static int linear(lua_State *L)
{
  static const char *const activations[] = {"none", "relu", NULL};
  rpl_check_count(L, "linear", 4);
  const bool relu = luaL_checkoption(L, 4, "none", activations) == 1;
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_optional_tensor(L, 3);
  *slot = rp_op_linear(x, weight, bias, relu);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.layer_norm(x, gain, bias, epsilon)
** Mean 0 and variance 1 along the last axis, then scale and shift (Ba et al. 2016).
**
**     y = gain (x − mean) / √(variance + ε) + bias
**
** Errors: sizes or dtypes that do not fit.
**
**     > roper.layer_norm(roper.tensor{{1, 3}}, roper.ones{2}, roper.zeros{2})
**     float32 [1, 2]
**     -1.0000  1.0000
** @param x tensor [..., features], floats
** @param gain tensor [features]
** @param bias tensor [features]
** @param epsilon? number = 1e-5; added to the variance
** @return tensor y of the shape of x
*/
static int layer_norm(lua_State *L)
{
  rpl_check_count(L, "layer_norm", 4);
  const double epsilon = luaL_optnumber(L, 4, 1e-5);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *x = rpl_check_tensor(L, 1), *gain = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_check_tensor(L, 3);
  *slot = rp_op_layer_norm(x, gain, bias, epsilon);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.embedding(table, index)
** Rows of a table by their number, from 0 as token ids are.
**
** Errors: an index that is not int32 or not in the table.
**
**     > words = roper.tensor{{1, 2}, {3, 4}}
**     > roper.embedding(words, roper.tensor({1, 0, 1}, "int32"))
**     float32 [3, 2]
**     3 4
**     1 2
**     3 4
** @param table tensor [count, features]
** @param index tensor [...], int32, from 0
** @return tensor y [..., features]
*/
static int embedding(lua_State *L)
{
  rpl_check_count(L, "embedding", 2);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_embedding(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2));
  return rpl_return_tensor(L, slot);
}

/*
** function roper.gather(x, axis, index)
** Elements of x by their place along one axis.
**
**     y[i][j] = x[i][index[i][j]]   for axis 2
**
** Errors: an index that is not int32 or past the axis; other sizes on the other axes.
**
**     > roper.tensor{{1, 2}, {3, 4}}:gather(2, roper.tensor({{2}, {1}}, "int32"))
**     float32 [2, 1]
**     2
**     3
** @param x tensor
** @param axis integer from 1, or from the end where negative
** @param index tensor int32, places from 1; of the shape of x but for the axis
** @return tensor y of the shape of index
*/
static int gather(lua_State *L)
{
  rpl_check_count(L, "gather", 3);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *x = rpl_check_tensor(L, 1), *index = rpl_check_tensor(L, 3);
  *slot = rp_op_gather(x, rpl_check_axis(L, 2, x->rank), index, 1);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.where(condition, a, b)
** a where the condition is not 0, else b.
**
** Errors: a condition that is not int32; shapes that do not broadcast.
**
**     > x = roper.tensor{-1, 2}
**     > roper.where(x:gt(0), x, 0)
**     float32 [2]
**     0 2
** @param condition tensor int32, as comparisons give
** @param a tensor|number
** @param b tensor|number of the dtype of a; at least one of them a tensor
** @return tensor y of the broadcast shape
*/
static int where(lua_State *L)
{
  rpl_check_count(L, "where", 3);
  RpTensor *a, *b;
  luaL_argcheck(L, lua_type(L, 2) != LUA_TNUMBER || lua_type(L, 3) != LUA_TNUMBER, 2,
                "expected a tensor for a or b, got two numbers");
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 2, &a, &b);
  *slot = rp_op_where(rpl_check_tensor(L, 1), a, b);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.cat(list, axis)
** Tensors one after the other along an axis; `stack` makes a new one.
**
** Errors: an empty list, scalars, other dtypes or sizes.
**
**     > roper.cat({roper.ones{1, 2}, roper.zeros{2, 2}})
**     float32 [3, 2]
**     1 1
**     0 0
**     0 0
** @param list tensor[] of one dtype and, but for the axis, one shape
** @param axis? integer = 1; or from the end where negative
** @return tensor y
*/
static int concatenate(lua_State *L)
{
  enum { MOST = 4096 };
  int count;
  rpl_check_count(L, "cat", 2);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor **list = rpl_push_tensors(L, 1, "cat", MOST, &count);
  if (count == 0)
    return luaL_error(L, "cat: expected at least one tensor, got an empty list");
  if (list[0]->rank == 0)
    return luaL_error(L, "cat: expected tensors with an axis, got scalars; use stack");
  const int axis = lua_isnil(L, 2) ? 0 : rpl_check_axis(L, 2, list[0]->rank);
  *slot = rp_op_concatenate(count, list, axis);
  lua_settop(L, 3);
  return rpl_return_tensor(L, slot);
}

/*
** @class CrossEntropyOptions
** @field ignore? integer = -1; a target that does not count
** @field each? boolean = false; one loss a row instead of their mean
*/

/*
** function roper.cross_entropy(logits, targets, options)
** The loss of a classifier, in nats: the mean over rows of minus the log of the probability
** that softmax gives to the target.
**
**     log Σⱼ exp(xⱼ) − x_target
**
** Errors: a target that is not int32 or no class.
**
**     > logits = roper.tensor{{0, 0}, {0, 100}}
**     > roper.cross_entropy(logits, roper.tensor({0, 1}, "int32"))
**     0.34657
** @param logits tensor [..., classes], floats
** @param targets tensor [...], int32, from 0
** @param options? CrossEntropyOptions
** @return tensor loss a scalar, or [...] with `each`
*/
static int cross_entropy(lua_State *L)
{
  static const char *const names[] = {"ignore", "each", NULL};
  rpl_check_count(L, "cross_entropy", 3);
  const RplOptions options = rpl_options(L, 3, "cross_entropy", names);
  const int64_t ignore = rpl_option_integer(&options, "ignore", -1, INT32_MIN, INT32_MAX);
  const bool each = rpl_option_boolean(&options, "each", false);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *logits = rpl_check_tensor(L, 1), *targets = rpl_check_tensor(L, 2);
  *slot = rp_op_cross_entropy(logits, targets, (int32_t)ignore, each);
  return rpl_return_tensor(L, slot);
}

/*
** @class LinearCrossEntropyOptions
** @field ignore? integer = -1; a target that does not count
** @field each? boolean = false; one loss a row instead of their mean
** @field rows? integer = 0; whose logits are there at once; 0: as many as fill 32 MiB
*/

/*
** function roper.linear_cross_entropy(x, weight, bias, targets, options)
** `cross_entropy` of `linear`, for many classes: the logits of all rows are never there at once.
**
**     log Σⱼ exp(zⱼ) − z_target,   z = x Wᵀ + b
**
** Rows go in slices through product, loss and gradients. Besides x, weight and their gradients it
** takes rows × classes numbers. The mean computes the gradients with the loss; with `each` the
** logits are computed twice.
**
** Errors: sizes or dtypes that do not fit, a target that is no class.
**
**     > weight = roper.tensor{{1}, {-1}}
**     > targets = roper.tensor({0, 1}, "int32")
**     > roper.linear_cross_entropy(roper.tensor{{0}, {-50}}, weight, nil, targets)
**     0.34657
** @param x tensor [..., inputs], floats
** @param weight tensor [classes, inputs]
** @param bias? tensor [classes]
** @param targets tensor [...], int32, from 0
** @param options? LinearCrossEntropyOptions
** @return tensor loss a scalar, or [...] with `each`
*/
static int linear_cross_entropy(lua_State *L)
{
  static const char *const names[] = {"ignore", "each", "rows", NULL};
  rpl_check_count(L, "linear_cross_entropy", 5);
  const RplOptions options = rpl_options(L, 5, "linear_cross_entropy", names);
  const int64_t ignore = rpl_option_integer(&options, "ignore", -1, INT32_MIN, INT32_MAX);
  const bool each = rpl_option_boolean(&options, "each", false);
  const int64_t rows = rpl_option_integer(&options, "rows", 0, 0, INT32_MAX);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_optional_tensor(L, 3), *targets = rpl_check_tensor(L, 4);
  *slot = rp_op_linear_cross_entropy(x, weight, bias, targets, (int32_t)ignore, each, rows);
  return rpl_return_tensor(L, slot);
}

/*
** function roper.dropout(x, p, seed)
** Each element is 0 with probability p, else divided by 1 − p (Srivastava et al. 2014).
**
** Errors: integers; p outside its range.
**
**     > roper.dropout(roper.ones{6}, 0.5, 3)
**     float32 [6]
**     2 0 2 2 0 2
** @param x tensor of floats
** @param p number from 0 to below 1
** @param seed? integer of the choice; by default the generator gives one
** @return tensor y of the shape of x
*/
static int dropout(lua_State *L)
{
  rpl_check_count(L, "dropout", 3);
  const double p = luaL_checknumber(L, 2);
  const uint64_t seed = lua_isnoneornil(L, 3) ? rpl_next_seed() : (uint64_t)luaL_checkinteger(L, 3);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_dropout(rpl_check_tensor(L, 1), p, seed);
  return rpl_return_tensor(L, slot);
}

static const RplOperation table[] = {
    {"matmul", matmul, 0},
    {"linear", linear, 0},
    {"layer_norm", layer_norm, 0},
    {"embedding", embedding, 0},
    {"gather", gather, 0},
    {"where", where, 0},
    {"cat", concatenate, 0},
    {"cross_entropy", cross_entropy, 0},
    {"linear_cross_entropy", linear_cross_entropy, 0},
    {"dropout", dropout, 0},
    {NULL, NULL, 0},
};

void rpl_open_operations(lua_State *L)
{
  rpl_add_operations(L, table);
}
