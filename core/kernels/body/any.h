/* Kernels that are the same for every dtype: compare, where, reductions, gather. */
#ifndef RP_BODY_ANY_H
#define RP_BODY_ANY_H

static void compare_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const REAL *a = data[0], *b = data[1];
  int32_t *y = data[2];
  const int64_t sa = strides[0], sb = strides[1], sy = strides[2];
  switch (*(const RpCompare *)context) {
  case RP_EQ:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] == b[i * sb];
    break;
  case RP_NE:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] != b[i * sb];
    break;
  case RP_LT:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] < b[i * sb];
    break;
  case RP_LE:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] <= b[i * sb];
    break;
  case RP_GT:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] > b[i * sb];
    break;
  case RP_GE:
    for (int64_t i = 0; i < n; i++)
      y[i * sy] = a[i * sa] >= b[i * sb];
    break;
  }
}

static RpStatus compare(RpCompare op, const RpLoop *loop, void *const *data)
{
  const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(int32_t)};
  return rp_loop_run(loop, compare_row, &op, data, sizes);
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
  const size_t sizes[] = {sizeof(int32_t), sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, where_row, NULL, data, sizes);
}

typedef struct ConvertContext {
  RpDtype to;
  atomic_bool *overflow;
} ConvertContext;

static void convert_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const ConvertContext *c = context;
  const REAL *x = data[0];
  const int64_t sx = strides[0], sy = strides[1];
  bool fits = true;
  switch (c->to) {
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
    atomic_store(c->overflow, true);
}

static RpStatus convert(RpDtype to, const RpLoop *loop, void *const *data)
{
  const size_t sizes[] = {sizeof(REAL), rp_dtype_size(to)};
  atomic_bool overflow = false;
  const ConvertContext context = {to, &overflow};
  RpStatus status = rp_loop_run(loop, convert_row, &context, data, sizes);
  return status == RP_OK && overflow ? RP_BAD_ARGUMENT : status;
}

/* y[inner] = sum or mean over x[n, inner] */
static void sum_block(int64_t n, int64_t inner, double divisor, const REAL *x, REAL *y)
{
  double sum[64];
  for (int64_t first = 0; first < inner; first += 64) {
    const int64_t width = inner - first < 64 ? inner - first : 64;
    for (int64_t k = 0; k < width; k++)
      sum[k] = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = 0; k < width; k++)
        sum[k] += (double)x[i * inner + first + k];
    for (int64_t k = 0; k < width; k++)
      y[first + k] = (REAL)(sum[k] / divisor);
  }
}

/* The sum of n adjacent elements, by eight running sums in a fixed order. */
static double sum_row(int64_t n, const REAL *x)
{
  double sum[8] = {0};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++)
      sum[k] += (double)x[i + k];
  double total = ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
  for (; i < n; i++)
    total += (double)x[i];
  return total;
}

static void extremum_block(bool maximum, int64_t n, int64_t inner, const REAL *x, REAL *y,
                           int32_t *index)
{
  for (int64_t k = 0; k < inner; k++) {
    REAL best = x[k];
    int64_t place = 0;
    for (int64_t i = 1; i < n && !IS_NAN(best); i++) {
      const REAL value = x[i * inner + k];
      if (IS_NAN(value) || (maximum ? value > best : value < best)) {
        best = value;
        place = i;
      }
    }
    y[k] = best;
    if (index != NULL)
      index[k] = (int32_t)place;
  }
}

/* A single sum over everything is cut into fixed pieces: parallel, and the same for any threads. */
static RpStatus sum_all(int64_t n, double divisor, const REAL *x, REAL *y)
{
  enum { PIECE = 1 << 16 };
  const int64_t pieces = (n + PIECE - 1) / PIECE;
  double *partial = rp_alloc((size_t)pieces * sizeof *partial);
  if (partial == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) if (pieces > 1)
  for (int64_t p = 0; p < pieces; p++)
    partial[p] = sum_row(p + 1 < pieces ? PIECE : n - p * PIECE, x + p * PIECE);
  double total = 0;
  for (int64_t p = 0; p < pieces; p++)
    total += partial[p];
  *y = (REAL)(total / divisor);
  rp_free(partial);
  return RP_OK;
}

static RpStatus reduce(RpReduction op, int64_t outer, int64_t n, int64_t inner, const void *x_data,
                       void *y_data, int32_t *index)
{
  const REAL *x = x_data;
  REAL *y = y_data;
  const double divisor = op == RP_MEAN ? (double)n : 1;
  const bool sums = op == RP_SUM || op == RP_MEAN;
  if (sums && outer == 1 && inner == 1)
    return sum_all(n, divisor, x, y);
#pragma omp parallel for schedule(static) if (outer * n * inner > 1 << 15)
  for (int64_t o = 0; o < outer; o++) {
    const REAL *xo = x + o * n * inner;
    if (rp_interrupted())
      continue;
    if (sums && inner == 1)
      y[o] = (REAL)(sum_row(n, xo) / divisor);
    else if (sums)
      sum_block(n, inner, divisor, xo, y + o * inner);
    else
      extremum_block(op == RP_MAX, n, inner, xo, y + o * inner,
                     index != NULL ? index + o * inner : NULL);
  }
  return rp_interrupt_status();
}

static RpStatus take_rows(int64_t rows, int64_t n, const void *table, const int32_t *index, void *y)
{
#pragma omp parallel for schedule(static) if (rows * n > 1 << 15)
  for (int64_t r = 0; r < rows; r++)
    if (!rp_interrupted())
      memcpy((REAL *)y + r * n, (const REAL *)table + index[r] * n, (size_t)n * sizeof(REAL));
  return rp_interrupt_status();
}

/* Threads share the columns, so that every sum keeps the order of the rows. */
static RpStatus add_to_rows(int64_t rows, int64_t n, const void *y_data, const int32_t *index,
                            void *table_data)
{
  enum { COLUMNS = 64 };
  const REAL *y = y_data;
  REAL *table = table_data;
#pragma omp parallel for schedule(static) if (rows * n > 1 << 15)
  for (int64_t first = 0; first < n; first += COLUMNS) {
    const int64_t width = n - first < COLUMNS ? n - first : COLUMNS;
    for (int64_t r = 0; r < rows; r++) {
      REAL *target = table + index[r] * n + first;
      const REAL *source = y + r * n + first;
      for (int64_t k = 0; k < width; k++)
        target[k] += source[k];
    }
  }
  return rp_interrupt_status();
}

static RpStatus gather(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *table,
                       const int32_t *index, void *y)
{
#pragma omp parallel for schedule(static) if (outer * n * inner > 1 << 15)
  for (int64_t row = 0; row < outer * n; row++)
    for (int64_t k = 0; k < inner && !rp_interrupted(); k++)
      ((REAL *)y)[row * inner + k] =
          ((const REAL *)table)[(row / n * size + index[row * inner + k]) * inner + k];
  return rp_interrupt_status();
}

static RpStatus scatter_add(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *y,
                            const int32_t *index, void *table)
{
#pragma omp parallel for schedule(static) if (outer * n * inner > 1 << 15)
  for (int64_t o = 0; o < outer; o++)
    for (int64_t i = o * n * inner; i < (o + 1) * n * inner; i++)
      ((REAL *)table)[(o * size + index[i]) * inner + i % inner] += ((const REAL *)y)[i];
  return rp_interrupt_status();
}

#endif
