/* Gradients of the element-wise functions, from their rows in operation/, and of take_rows. */
#ifndef RP_BODY_GRADIENT_H
#define RP_BODY_GRADIENT_H

static void unary_gradient_row(const void *context, int64_t n, void *const *data,
                               const int64_t *strides)
{
  const REAL *kept = data[0], *dys = data[1];
  REAL *dxs = data[2];
  const int64_t sk = strides[0], sdy = strides[1], sdx = strides[2];
  switch (*(const RpUnary *)context) {
#define UNARY(id, name, keeps, value, slope)                                                       \
  case RP_##id:                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const REAL keeps = kept[i * sk];                                                             \
      (void)keeps;                                                                                 \
      dxs[i * sdx] = dys[i * sdy] * (slope);                                                       \
    }                                                                                              \
    break;
#include "core/kernels/operation/unary.h"
  default:
    break;
  }
}

static RpStatus unary_gradient(RpUnary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, RP_WORK_FUNCTIONS, unary_gradient_row, &op, data, sizes);
}

typedef struct Side {
  RpBinary op;
  bool right;
} Side;

/* Up to BLOCK elements of a, b, y, dy and the gradient. */
static void side_block(const Side *side, int64_t n, const REAL *const *inputs, const int64_t *steps,
                       REAL *gs, int64_t sg)
{
  const REAL *as = inputs[0], *bs = inputs[1], *ys = inputs[2], *dys = inputs[3];
  const int64_t sa = steps[0], sb = steps[1], sy = steps[2], sdy = steps[3];
  switch (2 * (int)side->op + side->right) {
#define SIDE(number, gradient)                                                                     \
  case number:                                                                                     \
    for (int64_t i = 0; i < n; i++) {                                                              \
      const REAL a = as[i * sa], b = bs[i * sb], y = ys[i * sy], dy = dys[i * sdy];                \
      (void)a;                                                                                     \
      (void)b;                                                                                     \
      (void)y;                                                                                     \
      gs[i * sg] = (gradient);                                                                     \
    }                                                                                              \
    break;
#define BINARY(id, name, value, reads_a, da, reads_b, db)                                          \
  SIDE(2 * RP_##id, da) SIDE(2 * RP_##id + 1, db)
#include "core/kernels/operation/binary.h"
#undef SIDE
  }
}

static void side_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  enum { INPUTS = 4 };
  REAL buffers[INPUTS][BLOCK];
  const REAL *inputs[INPUTS];
  int64_t steps[INPUTS];
  for (int i = 0; i < INPUTS; i++) {
    steps[i] = strides[i];
    inputs[i] = spread(buffers[i], data[i], &steps[i]);
  }
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t width = n - first < BLOCK ? n - first : BLOCK;
    side_block(context, width, inputs, steps, (REAL *)data[INPUTS] + first * strides[INPUTS],
               strides[INPUTS]);
    for (int i = 0; i < INPUTS; i++)
      inputs[i] += inputs[i] == buffers[i] ? 0 : width * steps[i];
  }
}

static RpStatus binary_gradient(RpBinary op, bool right, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(REAL), sizeof(REAL),
                                 sizeof(REAL)};
  const Side side = {op, right};
  return rp_loop_run(loop, RP_WORK_ELEMENTS, side_row, &side, data, sizes);
}

/* Threads divide the columns, so that each sum adds rows in their order. */
static RpStatus add_to_rows(int64_t outer, int64_t size, int64_t rows, int64_t n,
                            const void *y_data, const int32_t *index, void *table_data)
{
  enum { COLUMNS = 64 };
  const int64_t blocks = (n + COLUMNS - 1) / COLUMNS;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t block = 0; block < outer * blocks; block++) {
    const int64_t o = block / blocks, first = block % blocks * COLUMNS;
    const int64_t width = n - first < COLUMNS ? n - first : COLUMNS;
    const REAL *y = (const REAL *)y_data + o * rows * n + first;
    REAL *table = (REAL *)table_data + o * size * n + first;
    for (int64_t r = 0; r < rows; r++) {
      REAL *target = table + index[r] * n;
      const REAL *source = y + r * n;
      for (int64_t k = 0; k < width; k++)
        target[k] += source[k];
    }
  }
  return rp_interrupt_status();
}

static RpStatus scatter_add(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *y,
                            const int32_t *index, void *table)
{
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * n * inner));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = o * n * inner; i < (o + 1) * n * inner; i++)
      ((REAL *)table)[(o * size + index[i]) * inner + i % inner] += ((const REAL *)y)[i];
  return rp_interrupt_status();
}

#endif
