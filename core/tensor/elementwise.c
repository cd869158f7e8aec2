#include "core/tensor/elementwise.h"

#include "core/tensor/copy.h"
#include "core/tensor/operands.h"

typedef struct Facts {
  const char *name;
  bool takes_int32;
} Facts;

static const Facts unaries[] = {
#define UNARY(id, name, ...) [RP_##id] = {name, true},
#define FLOAT_UNARY(id, name, ...) [RP_##id] = {name, false},
#include "core/kernels/operation/unary.h"
};

static const Facts binaries[] = {
#define BINARY(id, name, ...) [RP_##id] = {name, true},
#define FLOAT_BINARY(id, name, ...) [RP_##id] = {name, false},
#include "core/kernels/operation/binary.h"
};

static const char *const compare_names[] = {
#define COMPARE(id, name, ...) [RP_##id] = name,
#include "core/kernels/operation/compare.h"
};

static bool takes(const Facts *facts, RpDtype dtype)
{
  if (dtype == RP_INT32 && !facts->takes_int32)
    rp_fail(RP_BAD_ARGUMENT,
            "%s: expected float32 or float64, got int32; convert it with :to \"float32\"",
            facts->name);
  return dtype != RP_INT32 || facts->takes_int32;
}

/* int32 kernels fail if a result does not fit int32. */
static void overflow(const char *name)
{
  rp_fail(RP_BAD_ARGUMENT, "%s: int32 overflow: a result does not fit int32", name);
}

RpTensor *rp_tensor_unary(RpUnary op, const RpTensor *x)
{
  RpTensor *y = takes(&unaries[op], x->dtype) ? rp_tensor_new_like(x) : NULL;
  if (y == NULL)
    return NULL;
  RpLoop loop;
  void *data[2];
  rp_loop_operands(&loop, data, 2, (const RpTensor *[]){x, y});
  const RpStatus status = rp_kernels(x->dtype)->unary(op, &loop, data);
  if (status == RP_BAD_ARGUMENT)
    overflow(unaries[op].name);
  return rp_tensor_unless_failed(status, y);
}

RpTensor *rp_tensor_unary_gradient(RpUnary op, const RpTensor *kept, const RpTensor *dy)
{
  RpTensor *dx = rp_tensor_new_like(dy);
  if (dx == NULL)
    return NULL;
  RpLoop loop;
  void *data[3];
  rp_loop_operands(&loop, data, 3, (const RpTensor *[]){kept != NULL ? kept : dy, dy, dx});
  return rp_tensor_unless_failed(rp_kernels(dy->dtype)->unary_gradient(op, &loop, data), dx);
}

/* The shape of a op b; RP_BAD_ARGUMENT if their dtypes differ or their shapes do not broadcast. */
static RpStatus pair_shape(const char *name, const RpTensor *a, const RpTensor *b, int *rank,
                           int64_t *shape)
{
  if (a->dtype != b->dtype)
    return rp_fail(RP_BAD_ARGUMENT,
                   "%s: expected the same dtype, got %s and %s; convert one with :to()", name,
                   rp_dtype_name(a->dtype), rp_dtype_name(b->dtype));
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
  const char *name = binaries[op].name;
  RpTensor *y = takes(&binaries[op], a->dtype) ? new_for_pair(name, a, b, a->dtype) : NULL;
  if (y == NULL)
    return NULL;
  const bool stays_0_or_1 = op == RP_MULTIPLY || op == RP_MAXIMUM || op == RP_MINIMUM;
  y->is_mask = stays_0_or_1 && a->is_mask && b->is_mask;
  RpLoop loop;
  void *data[3];
  rp_loop_operands(&loop, data, 3, (const RpTensor *[]){a, b, y});
  const RpStatus status = rp_kernels(a->dtype)->binary(op, &loop, data);
  if (op == RP_REMAINDER && status == RP_BAD_ARGUMENT)
    rp_fail(status, "remainder: expected an int32 divisor other than 0");
  else if (status == RP_BAD_ARGUMENT)
    overflow(name);
  return rp_tensor_unless_failed(status, y);
}

RpTensor *rp_tensor_binary_gradient(RpBinary op, bool right, RpTensor *const *kept,
                                    const RpTensor *dy)
{
  RpTensor *gradient = rp_tensor_new_like(dy);
  if (gradient == NULL)
    return NULL;
  RpLoop loop;
  void *data[5];
  const RpTensor *operands[] = {kept[0], kept[1], kept[2], dy, gradient};
  for (int i = 0; i < 3; i++)
    operands[i] = kept[i] != NULL ? kept[i] : dy;
  rp_loop_operands(&loop, data, 5, operands);
  RpStatus status = rp_kernels(dy->dtype)->binary_gradient(op, right, &loop, data);
  return rp_tensor_unless_failed(status, gradient);
}

RpTensor *rp_tensor_compare(RpCompare op, const RpTensor *a, const RpTensor *b)
{
  RpTensor *y = new_for_pair(compare_names[op], a, b, RP_INT32);
  if (y == NULL)
    return NULL;
  y->is_mask = true;
  RpLoop loop;
  void *data[3];
  rp_loop_operands(&loop, data, 3, (const RpTensor *[]){a, b, y});
  return rp_tensor_unless_failed(rp_kernels(a->dtype)->compare(op, &loop, data), y);
}

RpStatus rp_tensor_equal(RpTensor *a, RpTensor *b, bool *equal)
{
  *equal = rp_tensor_same_shape(a, b);
  if (!*equal)
    return RP_OK;
  const RpDtype dtype = a->dtype == b->dtype ? a->dtype : RP_FLOAT64; /* exact for all dtypes */
  RpTensor *x = a->dtype == dtype ? rp_tensor_retain(a) : rp_tensor_convert(a, dtype);
  RpTensor *y = b->dtype == dtype ? rp_tensor_retain(b) : rp_tensor_convert(b, dtype);
  RpTensor *differs = x != NULL && y != NULL ? rp_tensor_compare(RP_NE, x, y) : NULL;
  const RpStatus status = differs != NULL ? RP_OK : rp_last_status();
  for (int64_t i = 0; differs != NULL && *equal && i < rp_tensor_count(differs); i++)
    *equal = ((const int32_t *)rp_tensor_data(differs))[i] == 0;
  rp_tensor_release(x);
  rp_tensor_release(y);
  rp_tensor_release(differs);
  return status;
}

RpTensor *rp_tensor_where(const RpTensor *condition, const RpTensor *a, const RpTensor *b)
{
  if (condition->dtype != RP_INT32)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "where: expected an int32 condition, got %s; :ne(0) returns one",
                     rp_dtype_name(condition->dtype));
  RpTensor pair = {.rank = 0};
  int rank;
  int64_t shape[RP_MAX_RANK];
  if (pair_shape("where", a, b, &pair.rank, pair.shape) != RP_OK ||
      rp_broadcast_shape("where", condition, &pair, &rank, shape) != RP_OK)
    return NULL;
  RpTensor *y = rp_tensor_new(a->dtype, rank, shape);
  if (y == NULL)
    return NULL;
  y->is_mask = a->is_mask && b->is_mask;
  RpLoop loop;
  void *data[4];
  rp_loop_operands(&loop, data, 4, (const RpTensor *[]){condition, a, b, y});
  return rp_tensor_unless_failed(rp_kernels(a->dtype)->where(&loop, data), y);
}

RpStatus rp_tensor_accumulate(RpTensor *target, const RpTensor *source)
{
  RpLoop loop;
  void *data[3];
  target->storage->version++;
  rp_loop_operands(&loop, data, 3, (const RpTensor *[]){target, source, target});
  return rp_kernels(target->dtype)->binary(RP_ADD, &loop, data);
}
