/* Element-wise functions of every dtype: one loop for each row of operation/. */
#ifndef RP_BODY_ELEMENTWISE_H
#define RP_BODY_ELEMENTWISE_H

typedef struct Operation {
  int code;
  atomic_bool *overflow;
} Operation;

/* Run a loop; RP_BAD_ARGUMENT if a result does not fit the dtype. */
static RpStatus run(int code, RpWork work, RpRow row, const RpLoop *loop, void *const *data,
                    const size_t *sizes)
{
  atomic_bool overflow = false;
  const Operation operation = {code, &overflow};
  RpStatus status = rp_loop_run(loop, work, row, &operation, data, sizes);
  return status == RP_OK && overflow ? RP_BAD_ARGUMENT : status;
}

static void unary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const Operation *operation = context;
  const REAL *xs = data[0];
  REAL *ys = data[1];
  const int64_t sx = strides[0], sy = strides[1];
  bool overflow = false;
  switch ((RpUnary)operation->code) {
#define UNARY(id, name, keeps, value, slope)                                                       \
  case RP_##id:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const VALUE x = xs[i * sx], y = (value);                                                     \
      overflow |= !FITS(y);                                                                        \
      ys[i * sy] = (REAL)y;                                                                        \
    }                                                                                              \
    break;
#define FLOAT_UNARY(...) FLOATS(UNARY(__VA_ARGS__))
#include "core/kernels/operation/unary.h"
  default:
    break;
  }
  if (overflow)
    atomic_store(operation->overflow, true);
}

static RpStatus unary(RpUnary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL)};
  return run((int)op, RP_WORK_FUNCTIONS, unary_row, loop, data, sizes);
}

/* Elements of a local buffer for a broadcast operand, which keeps loops vectorizable. */
enum { BLOCK = 256 };

static const REAL *spread(REAL *buffer, const REAL *x, int64_t *stride)
{
  if (*stride != 0)
    return x;
  for (int i = 0; i < BLOCK; i++)
    buffer[i] = x[0];
  *stride = 1;
  return buffer;
}

/* NaN for b = 0; for int32, a value that does not fit int32. */
static inline VALUE remainder_of(VALUE a, VALUE b)
{
  const VALUE rest = REAL_FMOD(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool binary_block(RpBinary op, int64_t n, const REAL *as, int64_t sa, const REAL *bs,
                         int64_t sb, REAL *ys, int64_t sy)
{
  bool overflow = false;
  switch (op) {
#define BINARY(id, name, value, ...)                                                               \
  case RP_##id:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const VALUE a = as[i * sa], b = bs[i * sb], y = (value);                                     \
      overflow |= !FITS(y);                                                                        \
      ys[i * sy] = (REAL)y;                                                                        \
    }                                                                                              \
    break;
#define FLOAT_BINARY(...) FLOATS(BINARY(__VA_ARGS__))
#include "core/kernels/operation/binary.h"
  default:
    break;
  }
  return overflow;
}

static void binary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  REAL spread_a[BLOCK], spread_b[BLOCK];
  const Operation *operation = context;
  int64_t sa = strides[0], sb = strides[1];
  const REAL *a = spread(spread_a, data[0], &sa);
  const REAL *b = spread(spread_b, data[1], &sb);
  bool overflow = false;
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t width = n - first < BLOCK ? n - first : BLOCK;
    overflow |= binary_block((RpBinary)operation->code, width, a == spread_a ? a : a + first * sa,
                             sa, b == spread_b ? b : b + first * sb, sb,
                             (REAL *)data[2] + first * strides[2], strides[2]);
  }
  if (overflow)
    atomic_store(operation->overflow, true);
}

static RpStatus binary(RpBinary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return run((int)op, RP_WORK_ELEMENTS, binary_row, loop, data, sizes);
}

static void compare_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const REAL *as = data[0], *bs = data[1];
  int32_t *ys = data[2];
  const int64_t sa = strides[0], sb = strides[1], sy = strides[2];
  switch (*(const RpCompare *)context) {
#define COMPARE(id, name, relation)                                                                \
  case RP_##id:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const REAL a = as[i * sa], b = bs[i * sb];                                                   \
      ys[i * sy] = relation;                                                                       \
    }                                                                                              \
    break;
#include "core/kernels/operation/compare.h"
  }
}

static RpStatus compare(RpCompare op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(int32_t)};
  return rp_loop_run(loop, RP_WORK_ELEMENTS, compare_row, &op, data, sizes);
}

static void where_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  (void)context;
  const int32_t *condition = data[0];
  const REAL *a = data[1], *b = data[2];
  REAL *y = data[3];
  for (int64_t i = 0; i < n; i++)
    y[i * strides[3]] = condition[i * strides[0]] ? a[i * strides[1]] : b[i * strides[2]];
}

static RpStatus where(const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(int32_t), sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, RP_WORK_ELEMENTS, where_row, NULL, data, sizes);
}

static void convert_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const Operation *operation = context;
  const REAL *x = data[0];
  const int64_t sx = strides[0], sy = strides[1];
  bool fits = true;
  switch ((RpDtype)operation->code) {
  case RP_FLOAT32:
    for (int64_t i = 0; i < n; i++)
      ((float *)data[1])[i * sy] = (float)x[i * sx];
    break;
  case RP_FLOAT64:
    for (int64_t i = 0; i < n; i++)
      ((double *)data[1])[i * sy] = (double)x[i * sx];
    break;
  default:
    for (int64_t i = 0; i < n; i++) {
      const double value = (double)x[i * sx];
      const bool holds = value > -2147483649.0 && value < 2147483648.0; /* once truncated */
      ((int32_t *)data[1])[i * sy] = holds ? (int32_t)value : 0;
      fits &= holds;
    }
  }
  if (!fits)
    atomic_store(operation->overflow, true);
}

static RpStatus convert(RpDtype to, const RpLoop *loop, void *const *data)
{
  const size_t sizes[] = {sizeof(REAL), rp_dtype_size(to)};
  return run((int)to, RP_WORK_ELEMENTS, convert_row, loop, data, sizes);
}

#endif
