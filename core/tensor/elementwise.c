#include "core/tensor/elementwise.h"

static const char *const unary_names[] = {
    [RP_NEGATE] = "neg",
    [RP_ABS] = "abs",
    [RP_SIGN] = "sign",
    [RP_SQUARE] = "square",
    [RP_FLOOR] = "floor",
    [RP_CEIL] = "ceil",
    [RP_ROUND] = "round",
    [RP_SQRT] = "sqrt",
    [RP_EXP] = "exp",
    [RP_LOG] = "log",
    [RP_SIN] = "sin",
    [RP_COS] = "cos",
    [RP_TANH] = "tanh",
    [RP_SIGMOID] = "sigmoid",
    [RP_RELU] = "relu",
    [RP_GELU] = "gelu",
    [RP_ROUND_FLOAT16] = "round_to",
    [RP_ROUND_BFLOAT16] = "round_to",
};

static const char *const binary_names[] = {
    [RP_ADD] = "add",   [RP_SUBTRACT] = "sub",    [RP_MULTIPLY] = "mul",    [RP_DIVIDE] = "div",
    [RP_POWER] = "pow", [RP_MAXIMUM] = "maximum", [RP_MINIMUM] = "minimum",
};

const char *rp_unary_name(RpUnary op)
{
  return unary_names[op];
}

const char *rp_binary_name(RpBinary op)
{
  return binary_names[op];
}

static const char *const compare_names[] = {
    [RP_EQ] = "eq", [RP_NE] = "ne", [RP_LT] = "lt", [RP_LE] = "le", [RP_GT] = "gt", [RP_GE] = "ge",
};

const char *rp_compare_name(RpCompare op)
{
  return compare_names[op];
}

/* Line up operands, all broadcast to the shape of the last, for one loop. */
static void prepare(RpLoop *loop, void **data, int count, const RpTensor *const *operands)
{
  const RpTensor *result = operands[count - 1];
  loop->operands = count;
  loop->rank = result->rank;
  for (int axis = 0; axis < result->rank; axis++)
    loop->shape[axis] = result->shape[axis];
  for (int i = 0; i < count; i++) {
    const RpTensor *operand = operands[i];
    const int missing = result->rank - operand->rank;
    data[i] = rp_tensor_data(operand);
    for (int axis = 0; axis < result->rank; axis++) {
      const int own = axis - missing;
      loop->strides[i][axis] = own < 0 || operand->shape[own] == 1 ? 0 : operand->strides[own];
    }
  }
  rp_loop_collapse(loop);
}

/* The result of an operation, or NULL: int32 kernels refuse what does not fit 32 bits. */
static RpTensor *result_of(const char *name, RpStatus status, RpTensor *y)
{
  if (status == RP_BAD_ARGUMENT)
    rp_fail(status, "%s: int32 overflow: a result does not fit 32 bits", name);
  return rp_tensor_unless_failed(status, y);
}

RpTensor *rp_tensor_unary(RpUnary op, const RpTensor *x)
{
  const bool integral = op <= RP_ROUND || op == RP_RELU;
  if (x->dtype == RP_INT32 && !integral) {
    rp_fail(RP_BAD_ARGUMENT, "%s: expected float32 or float64, got int32", unary_names[op]);
    return NULL;
  }
  RpTensor *y = rp_tensor_new_like(x);
  if (y == NULL)
    return NULL;
  RpLoop loop;
  void *data[2];
  prepare(&loop, data, 2, (const RpTensor *[]){x, y});
  return result_of(unary_names[op], rp_kernels(x->dtype)->unary(op, &loop, data), y);
}

RpTensor *rp_tensor_unary_gradient(RpUnary op, const RpTensor *x, const RpTensor *y,
                                   const RpTensor *dy)
{
  RpTensor *dx = rp_tensor_new_like(x);
  if (dx == NULL)
    return NULL;
  RpLoop loop;
  void *data[4];
  prepare(&loop, data, 4, (const RpTensor *[]){x, y, dy, dx});
  return rp_tensor_unless_failed(rp_kernels(x->dtype)->unary_gradient(op, &loop, data), dx);
}

/* The shape of a op b; RP_BAD_ARGUMENT when dtypes or shapes do not go together. */
static RpStatus pair_shape(const char *name, const RpTensor *a, const RpTensor *b, int *rank,
                           int64_t *shape)
{
  if (a->dtype != b->dtype)
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected one dtype, got %s and %s; convert one with :to()",
                   name, rp_dtype_name(a->dtype), rp_dtype_name(b->dtype));
  return rp_broadcast_shape(name, a, b, rank, shape);
}

/* A new tensor for a op b, or NULL. */
static RpTensor *new_for_pair(const char *name, const RpTensor *a, const RpTensor *b, RpDtype dtype)
{
  int rank;
  int64_t shape[RP_MAX_RANK];
  return pair_shape(name, a, b, &rank, shape) == RP_OK ? rp_tensor_new(dtype, rank, shape) : NULL;
}

RpTensor *rp_tensor_binary(RpBinary op, const RpTensor *a, const RpTensor *b)
{
  if (a->dtype == RP_INT32 && (op == RP_DIVIDE || op == RP_POWER)) {
    rp_fail(RP_BAD_ARGUMENT, "%s: expected float32 or float64, got int32", binary_names[op]);
    return NULL;
  }
  RpTensor *y = new_for_pair(binary_names[op], a, b, a->dtype);
  if (y == NULL)
    return NULL;
  RpLoop loop;
  void *data[3];
  prepare(&loop, data, 3, (const RpTensor *[]){a, b, y});
  return result_of(binary_names[op], rp_kernels(a->dtype)->binary(op, &loop, data), y);
}

RpTensor *rp_tensor_compare(RpCompare op, const RpTensor *a, const RpTensor *b)
{
  RpTensor *y = new_for_pair(compare_names[op], a, b, RP_INT32);
  if (y == NULL)
    return NULL;
  RpLoop loop;
  void *data[3];
  prepare(&loop, data, 3, (const RpTensor *[]){a, b, y});
  return rp_tensor_unless_failed(rp_kernels(a->dtype)->compare(op, &loop, data), y);
}

RpTensor *rp_tensor_where(const RpTensor *condition, const RpTensor *a, const RpTensor *b)
{
  if (condition->dtype != RP_INT32) {
    rp_fail(RP_BAD_ARGUMENT, "where: expected an int32 condition, got %s",
            rp_dtype_name(condition->dtype));
    return NULL;
  }
  RpTensor pair = {.rank = 0};
  int rank;
  int64_t shape[RP_MAX_RANK];
  if (pair_shape("where", a, b, &pair.rank, pair.shape) != RP_OK ||
      rp_broadcast_shape("where", condition, &pair, &rank, shape) != RP_OK)
    return NULL;
  RpTensor *y = rp_tensor_new(a->dtype, rank, shape);
  if (y == NULL)
    return NULL;
  RpLoop loop;
  void *data[4];
  prepare(&loop, data, 4, (const RpTensor *[]){condition, a, b, y});
  return rp_tensor_unless_failed(rp_kernels(a->dtype)->where(&loop, data), y);
}

RpStatus rp_tensor_accumulate(RpTensor *target, const RpTensor *source)
{
  RpLoop loop;
  void *data[3];
  target->storage->version++;
  prepare(&loop, data, 3, (const RpTensor *[]){target, source, target});
  return rp_kernels(target->dtype)->binary(RP_ADD, &loop, data);
}

RpStatus rp_tensor_copy_elements(const RpTensor *from, RpTensor *to)
{
  RpLoop loop;
  void *data[2];
  prepare(&loop, data, 2, (const RpTensor *[]){from, to});
  RpStatus status = rp_kernels(from->dtype)->convert(to->dtype, &loop, data);
  if (status == RP_BAD_ARGUMENT)
    rp_fail(status, "to: expected numbers that fit int32, got NaN or one past 32 bits");
  return status;
}
