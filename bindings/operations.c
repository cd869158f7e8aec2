/*
** Differentiable operations, as functions of the module and methods of tensors; a table row for
** each.
*/
#include "bindings/registry.h"

#include <string.h>

#include "bindings/generator.h"
#include "bindings/options.h"
#include "core/ops/attention.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"

/*
** function roper.matmul(a, b)
** The matrix product; leading axes are batches and broadcast.
**
**     y = a b
**
** Errors: int32 or different dtypes; fewer than two axes; different k in a and b; leading axes that
** do not broadcast.
**
**     > roper.tensor{{1, 2}, {3, 4}}:matmul(roper.tensor{{10}, {1}})
**     float32 [2, 1]
**     12
**     34
** @param a tensor [..., m, k], floats
** @param b tensor [..., k, n], of the dtype of a
** @return tensor y [..., m, n]
*/
static RpTensor *matmul(lua_State *L)
{
  return rp_op_matmul(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2));
}

/*
** function roper.linear(x, weight, bias, activation)
** A linear layer on the last axis, with an optional ReLU in the same pass over memory.
**
**     y = x Wᵀ + b
**
** Errors: int32; sizes or dtypes that do not match.
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
static RpTensor *linear(lua_State *L)
{
  static const char *const activations[] = {"none", "relu", NULL};
  const bool relu = rpl_check_choice(L, 4, activations, 0) == 1;
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_optional_tensor(L, 3);
  return rp_op_linear(x, weight, bias, relu);
}

/*
** function roper.pack_bfloat16(x)
** Rounds numbers to bfloat16 (8 significant bits; to nearest, ties to even), for `linear_bfloat16`.
** Each int32 element of the result holds two adjacent ones of the last axis.
**
** Errors: x is not float32, or has no axis.
**
**     > roper.pack_bfloat16(roper.zeros{3, 5}):shape()
**     {3, 3}
** @param x tensor [..., n], float32
** @return tensor packed [..., n / 2 rounded up], int32
*/
static RpTensor *pack_bfloat16(lua_State *L)
{
  return rp_pack_bfloat16(rpl_check_tensor(L, 1));
}

/*
** function roper.linear_bfloat16(x, weight, bias, activation)
** `linear` with a weight that is kept as bfloat16, which halves the memory that a product with few
** rows must read. Everything else is float32. It has no gradient.
**
**     y = x Wᵀ + b
**
** Errors: x is not float32; the weight is not packed, or does not match; a gradient flows through x
** or the bias.
**
**     > weight = roper.pack_bfloat16(roper.tensor{{1, 0.5}, {-1, 0.25}})
**     > roper.linear_bfloat16(roper.tensor{{1, 2}}, weight)
**     float32 [1, 2]
**      2.0000 -0.5000
** @param x tensor [..., inputs], float32
** @param weight tensor [outputs, inputs], from `pack_bfloat16`
** @param bias? tensor [outputs]
** @param activation? "none"|"relu" = "none"
** @return tensor y [..., outputs]
*/
static RpTensor *linear_bfloat16(lua_State *L)
{
  static const char *const activations[] = {"none", "relu", NULL};
  const bool relu = rpl_check_choice(L, 4, activations, 0) == 1;
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  return rp_linear_bfloat16(x, weight, rpl_optional_tensor(L, 3), relu);
}

/*
** function roper.layer_norm(x, gain, bias, epsilon)
** Layer normalization: normalizes the last axis to mean 0 and variance 1, then scales and shifts it
** (Ba et al. 2016).
**
**     y = gain (x − mean) / √(variance + ε) + bias
**
** Errors: int32; sizes or dtypes that do not match; a negative epsilon.
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
static RpTensor *layer_norm(lua_State *L)
{
  const double epsilon = rpl_optional_number(L, 4, 1e-5);
  RpTensor *x = rpl_check_tensor(L, 1), *gain = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_check_tensor(L, 3);
  return rp_op_layer_norm(x, gain, bias, epsilon);
}

/*
** function roper.rms_norm(x, gain, epsilon)
** RMS normalization: divides the last axis by its root mean square, then scales it (Zhang and
** Sennrich 2019).
**
**     y = gain x / √(mean(x²) + ε)
**
** Errors: int32; sizes or dtypes that do not match; a negative epsilon.
**
**     > roper.rms_norm(roper.tensor{{1, 7}}, roper.ones{2})
**     float32 [1, 2]
**     0.2000 1.4000
** @param x tensor [..., features], floats
** @param gain tensor [features]
** @param epsilon? number = 1e-5; added to the mean of the squares
** @return tensor y of the shape of x
*/
static RpTensor *rms_norm(lua_State *L)
{
  const double epsilon = rpl_optional_number(L, 3, 1e-5);
  return rp_op_rms_norm(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2), epsilon);
}

/*
** function roper.embedding(table, index)
** Rows of a table, selected by index. Indices are token ids and count from 0.
**
** Errors: an index that is not int32 or is outside the table.
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
static RpTensor *embedding(lua_State *L)
{
  return rp_op_embedding(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2));
}

/*
** function roper.gather(x, axis, index)
** Elements of x, selected by index along one axis.
**
**     y[i][j] = x[i][index[i][j]]   for axis 2
**
** Errors: an index that is not int32 or is outside the axis; other axes of different sizes.
**
**     > roper.tensor{{1, 2}, {3, 4}}:gather(2, roper.tensor({{2}, {1}}, "int32"))
**     float32 [2, 1]
**     2
**     3
** @param x tensor
** @param axis integer 1-based, negative from the end
** @param index tensor int32, 1-based; of the shape of x except along the axis
** @return tensor y of the shape of index
*/
static RpTensor *gather(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1), *index = rpl_check_tensor(L, 3);
  return rp_op_gather(x, rpl_check_axis(L, 2, x->rank), index, 1);
}

/*
** function roper.index_select(x, axis, index)
** Slices of x, selected by index along one axis, like `x[index]` but for any axis. The axes of the
** index replace that axis.
**
** Errors: an axis that x does not have; an index that is not int32 or is outside the axis.
**
**     > index = roper.tensor({2, 2, 1}, "int32")
**     > roper.tensor{{1, 2}, {3, 4}}:index_select(2, index)
**     float32 [2, 3]
**     2 2 1
**     4 4 3
** @param x tensor
** @param axis integer 1-based, negative from the end
** @param index tensor int32, 1-based
** @return tensor y
*/
static RpTensor *index_select(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1), *index = rpl_check_tensor(L, 3);
  return rp_op_index_select(x, rpl_check_axis(L, 2, x->rank), index);
}

/*
** function roper.where(condition, a, b)
** The elements of a where the condition is not 0, and those of b elsewhere.
**
** Errors: a condition that is not int32; shapes that do not broadcast.
**
**     > x = roper.tensor{-1, 2}
**     > roper.where(x:gt(0), x, 0)
**     float32 [2]
**     0 2
** @param condition tensor int32, such as a mask
** @param a tensor|number
** @param b tensor|number at least one of them a tensor
** @return tensor y of the broadcast shape
*/
static RpTensor *where(lua_State *L)
{
  RpTensor *a, *b;
  luaL_argcheck(L, lua_type(L, 2) != LUA_TNUMBER || lua_type(L, 3) != LUA_TNUMBER, 2,
                "expected a tensor for a or b, got two numbers");
  rpl_operands(L, 2, &a, &b);
  return rp_op_where(rpl_check_tensor(L, 1), a, b);
}

/*
** function roper.cat(list, axis)
** Tensors concatenated along an axis. `stack` joins them along a new axis.
**
** Errors: an empty list; scalars; different dtypes; different sizes on another axis.
**
**     > roper.cat({roper.ones{1, 2}, roper.zeros{2, 2}})
**     float32 [3, 2]
**     1 1
**     0 0
**     0 0
** @param list tensor[] of one dtype and, except along the axis, one shape
** @param axis? integer = 1; 1-based, negative from the end
** @return tensor y
*/
static RpTensor *concatenate(lua_State *L)
{
  enum { MOST = 4096 };
  int count;
  RpTensor **list = rpl_push_tensors(L, 1, "cat", MOST, &count);
  if (count == 0)
    luaL_error(L, "cat: expected at least one tensor, got an empty list");
  if (list[0]->rank == 0)
    luaL_error(L, "cat: expected tensors with an axis, got scalars; use stack");
  const int axis = lua_isnil(L, 2) ? 0 : rpl_check_axis(L, 2, list[0]->rank);
  return rp_op_concatenate(count, list, axis);
}

typedef struct LossOptions {
  int64_t ignore, rows;
  const char *reduction;
} LossOptions;

static const char *const REDUCTIONS[] = {"mean", "none", NULL};

#define IGNORE_ROW                                                                                 \
  RPL_INTEGER_ROW(LossOptions, ignore, INT32_MIN, -1, INT32_MAX,                                   \
                  "rows with this target do not count")
#define REDUCTION_ROW                                                                              \
  RPL_CHOICE_ROW(LossOptions, reduction, REDUCTIONS, "\"none\" returns one loss for each row")

static const RplRow CROSS_ENTROPY[] = {IGNORE_ROW, REDUCTION_ROW, {0}};
static const RplRow LINEAR_CROSS_ENTROPY[] = {
    IGNORE_ROW,
    REDUCTION_ROW,
    RPL_INTEGER_ROW(LossOptions, rows, 0, 0, INT32_MAX,
                    "number of rows whose logits are in memory at once; 0 means as many as fit "
                    "into 32 MiB, but at least 64"),
    {0}};

static bool is_each(const LossOptions *options)
{
  return options->reduction == REDUCTIONS[1];
}

/*
** function roper.cross_entropy(logits, targets, options)
** The cross-entropy loss in nats: the mean over rows of minus the logarithm of the softmax
** probability of the target.
**
**     log Σⱼ exp(xⱼ) − x_target
**
** Errors: int32 logits; targets that are not int32, or neither a class nor `ignore`; shapes that do
** not match; a mean of rows that all have the target `ignore`.
**
**     > logits = roper.tensor{{0, 0}, {0, 100}}
**     > roper.cross_entropy(logits, roper.tensor({0, 1}, "int32"))
**     0.34657 (float32)
** @param logits tensor [..., classes], floats
** @param targets tensor [...], int32, from 0
** @param options? CrossEntropyOptions
** @return tensor loss a scalar, or [...] with reduction = "none"
*/
static RpTensor *cross_entropy(lua_State *L)
{
  LossOptions o = {0};
  rpl_options(L, 3, "cross_entropy", CROSS_ENTROPY, &o);
  RpTensor *logits = rpl_check_tensor(L, 1), *targets = rpl_check_tensor(L, 2);
  return rp_op_cross_entropy(logits, targets, (int32_t)o.ignore, is_each(&o));
}

/*
** function roper.linear_cross_entropy(x, weight, bias, targets, options)
** `cross_entropy` of `linear`, for many classes: it never stores the logits of all rows at once.
**
**     log Σⱼ exp(zⱼ) − z_target,   z = x Wᵀ + b
**
** The product, the loss and the gradients are computed for a slice of rows at a time. In addition
** to x, weight and their gradients, this takes memory for `rows` × classes numbers. For the mean,
** the gradients are computed together with the loss; with reduction = "none", `backward`
** computes the logits a second time.
**
** Errors: sizes or dtypes that do not match; a target that is neither a class nor `ignore`; a mean
** of rows that all have the target `ignore`.
**
**     > weight = roper.tensor{{1}, {-1}}
**     > targets = roper.tensor({0, 1}, "int32")
**     > roper.linear_cross_entropy(roper.tensor{{0}, {-50}}, weight, nil, targets)
**     0.34657 (float32)
** @param x tensor [..., inputs], floats
** @param weight tensor [classes, inputs]
** @param bias? tensor [classes]
** @param targets tensor [...], int32, from 0
** @param options? LinearCrossEntropyOptions
** @return tensor loss a scalar, or [...] with reduction = "none"
*/
static RpTensor *linear_cross_entropy(lua_State *L)
{
  LossOptions o = {0};
  rpl_options(L, 5, "linear_cross_entropy", LINEAR_CROSS_ENTROPY, &o);
  RpTensor *x = rpl_check_tensor(L, 1), *weight = rpl_check_tensor(L, 2);
  RpTensor *bias = rpl_optional_tensor(L, 3), *targets = rpl_check_tensor(L, 4);
  return rp_op_linear_cross_entropy(x, weight, bias, targets, (int32_t)o.ignore, is_each(&o),
                                    o.rows);
}

/*
** function roper.dropout(x, p, seed)
** Dropout: each element becomes 0 with probability p and is divided by 1 − p otherwise (Srivastava
** et al. 2014).
**
** Errors: int32; p outside its range.
**
**     > roper.dropout(roper.ones{6}, 0.5, 3)
**     float32 [6]
**     2 0 2 2 0 2
** @param x tensor of floats
** @param p number at least 0 and below 1
** @param seed? integer decides which elements become 0; by default, drawn from the generator
** @return tensor y of the shape of x
*/
static RpTensor *dropout(lua_State *L)
{
  const double p = rpl_check_number(L, 2);
  RpTensor *x = rpl_check_tensor(L, 1);
  const bool is_valid = rp_dtype_is_float(x->dtype) && p >= 0 && p < 1;
  const bool is_given = !lua_isnoneornil(L, 3);
  const uint64_t drawn = is_valid && !is_given ? rpl_next_seed() : 0;
  return rp_op_dropout(x, p, is_given ? (uint64_t)rpl_check_integer(L, 3) : drawn);
}

/*
** function roper.round_to(x, format)
** Each element rounded to the nearest value of a narrower float format, ties to even. The dtype
** does not change. float16 has 11 significant bits, values up to 65504 and subnormals below 2^-14;
** bfloat16 has 8 significant bits and the exponents of float32. Larger values become infinite. The
** gradient passes unchanged.
**
** Errors: int32; another format (`to` converts to float32 and float64).
**
**     > roper.tensor{1 / 3, 2049, 1e5}:round_to "float16"
**     float32 [3]
**        0.3333 2048.0000       inf
** @param x tensor [...], floats
** @param format "float16"|"bfloat16"
** @return tensor y of the shape and dtype of x
*/
static RpTensor *round_to(lua_State *L)
{
  static const char *const formats[] = {"float16", "bfloat16", NULL};
  const int format = rpl_find_choice(L, 2, formats);
  RpDtype dtype;
  if (format < 0 && rp_dtype_from_name(rpl_check_string(L, 2, NULL), &dtype))
    luaL_argerror(L, 2,
                  lua_pushfstring(L,
                                  "expected one of float16, bfloat16, got \"%s\"; :to() converts "
                                  "to it",
                                  lua_tostring(L, 2)));
  else if (format < 0)
    luaL_argerror(L, 2, rpl_push_refusal(L, 2, formats));
  return rp_op_unary(format == 0 ? RP_ROUND_FLOAT16 : RP_ROUND_BFLOAT16, rpl_check_tensor(L, 1));
}

/*
** function roper.rotate(x, angle, inverse)
** Rotates pairs of features by angles, which can be trained or computed from data; for fixed
** frequencies, see `rotary`. Features t and t + p are a pair, for p angles; features from 2p + 1 on
** are copied.
**
**     y_t     = x_t cos α_t − x_{t+p} sin α_t
**     y_{t+p} = x_{t+p} cos α_t + x_t sin α_t
**
** Both tensors may have fewer leading axes. The gradient of the angles is summed over the axes of
** size 1. Angles are reduced in float64. If the same angles rotate several tensors of one dtype,
** their cosines and sines are computed once.
**
** Errors: int32; more than four axes; angles of another shape.
**
**     > angle = roper.tensor{{0}, {0.5}}
**     > roper.rotate(roper.tensor{{1, 0, 5}, {1, 0, 5}}, angle)
**     float32 [2, 3]
**     1.0000 0.0000 5.0000
**     0.8776 0.4794 5.0000
** @param x tensor [batch, heads, time, features], floats
** @param angle tensor [1 or batch, 1 or heads, time, pairs], floats, in radians
** @param inverse? boolean = false; rotate by the negative angles
** @return tensor y of the shape of x
*/
static RpTensor *rotate(lua_State *L)
{
  return rp_op_rotate_by(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2),
                         rpl_optional_boolean(L, 3, false));
}

/*
** function roper.causal_convolution(x, weight)
** A convolution of each channel along time. The last weight belongs to the current time step, the
** first to the earliest; there are zeros before the first time step. Equal to PyTorch's conv1d with
** `groups = channels` and `width - 1` zeros on the left.
**
**     y_t = Σₖ weightₖ x_{t − width + k},   k = 1 … width
**
** Errors: int32 or different dtypes; sizes that do not match; a width of 0.
**
**     > x = roper.tensor{{{1}, {2}, {4}}}
**     > roper.causal_convolution(x, roper.tensor{{10, 1}}):view{3}
**     float32 [3]
**      1 12 24
** @param x tensor [batch, time, channels], floats
** @param weight tensor [channels, width], of the dtype of x
** @return tensor y [batch, time, channels]
*/
static RpTensor *causal_convolution(lua_State *L)
{
  return rp_op_causal_convolution(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2));
}

/*
** function roper.householder_scores(q, k, w, beta)
** Products of queries and keys that pass a linear map of each token on the way (PaTH; Yang et al.
** 2025, section 2). The map of a token multiplies the part of a vector along w_t by 1 − β_t, if w_t
** has length 1: with β_t = 2, it is a Householder reflection.
**
**     sᵢⱼ = qᵢ · H_i H_{i−1} ⋯ H_{j+1} kⱼ,   H_t = I − β_t w_t w_tᵀ
**
** Queries are those of the last tokens. Scores of keys after the query are 0.
**
** Errors: int32 or different dtypes; sizes that do not match; more queries than keys.
**
**     > one = roper.tensor{{{{1, 0}, {1, 0}, {1, 0}}}}
**     > roper.householder_scores(one, one, one, roper.tensor{{{0, 2, 0.5}}}):view{3, 3}
**     float32 [3, 3]
**      1.0000  0.0000  0.0000
**     -1.0000  1.0000  0.0000
**     -0.5000  0.5000  1.0000
** @param q tensor [batch, heads, queries, features], floats
** @param k tensor [batch, heads, keys, features]
** @param w tensor [batch, heads, keys, features]
** @param beta tensor [batch, heads, keys]
** @return tensor s [batch, heads, queries, keys]
*/
static RpTensor *householder_scores(lua_State *L)
{
  return rp_op_householder_scores(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2),
                                  rpl_check_tensor(L, 3), rpl_check_tensor(L, 4));
}

/*
** function roper.householder_sums(a, v, w, beta)
** Sums of values that pass the maps of `householder_scores` on the way to the query. Weights of
** keys after the query count as 0.
**
**     yᵢ = Σⱼ aᵢⱼ H_i H_{i−1} ⋯ H_{j+1} vⱼ
**
** Errors: int32 or different dtypes; sizes that do not match; more queries than keys.
**
**     > v = roper.tensor{{{{1, 5}, {1, 5}}}}
**     > w = roper.tensor{{{{1, 0}, {1, 0}}}}
**     > a = roper.ones{1, 1, 2, 2}
**     > roper.householder_sums(a, v, w, roper.tensor{{{0, 2}}}):view{2, 2}
**     float32 [2, 2]
**      1  5
**      0 10
** @param a tensor [batch, heads, queries, keys], floats
** @param v tensor [batch, heads, keys, features]
** @param w tensor [batch, heads, keys, features]
** @param beta tensor [batch, heads, keys]
** @return tensor y [batch, heads, queries, features]
*/
static RpTensor *householder_sums(lua_State *L)
{
  return rp_op_householder_sums(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2),
                                rpl_check_tensor(L, 3), rpl_check_tensor(L, 4));
}

static const RplOperation table[] = {
    {"matmul", 2, matmul, 0},
    {"linear", 4, linear, 0},
    {"pack_bfloat16", 1, pack_bfloat16, 0},
    {"linear_bfloat16", 4, linear_bfloat16, 0},
    {"layer_norm", 4, layer_norm, 0},
    {"rms_norm", 3, rms_norm, 0},
    {"embedding", 2, embedding, 0},
    {"gather", 3, gather, 0},
    {"index_select", 3, index_select, 0},
    {"where", 3, where, 0},
    {"cat", 2, concatenate, 0},
    {"cross_entropy", 3, cross_entropy, 0},
    {"linear_cross_entropy", 5, linear_cross_entropy, 0},
    {"dropout", 3, dropout, 0},
    {"round_to", 2, round_to, 0},
    {"rotate", 3, rotate, 0},
    {"causal_convolution", 2, causal_convolution, 0},
    {"householder_scores", 4, householder_scores, 0},
    {"householder_sums", 4, householder_sums, 0},
    {NULL, 0, NULL, 0},
};

void rpl_open_operations(lua_State *L)
{
  rpl_add_operations(L, table);
  rpl_declare_options(L, "CrossEntropyOptions", NULL, CROSS_ENTROPY);
  rpl_declare_options(L, "LinearCrossEntropyOptions", NULL, LINEAR_CROSS_ENTROPY);
}
