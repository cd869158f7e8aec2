/* Kernels of all dtypes: reductions, rows of a table, gather. */
#ifndef RP_BODY_ANY_H
#define RP_BODY_ANY_H

/* y[inner] = sum over n of x[n, inner] / divisor: the sum or the mean */
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

/* The sum of n adjacent elements, from eight partial sums in a fixed order. */
static double double_sum(int64_t n, const REAL *x)
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

/* The sum of all elements, in pieces of fixed size: computed in parallel, but with the same result
   for any number of threads. */
static RpStatus sum_all(int64_t n, double divisor, const REAL *x, REAL *y)
{
  enum { PIECE = 1 << 16 };
  const int64_t pieces = (n + PIECE - 1) / PIECE;
  double *partial = rp_alloc_array(pieces, sizeof *partial);
  if (partial == NULL)
    return RP_OUT_OF_MEMORY;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)n);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t p = 0; p < pieces; p++)
    partial[p] = double_sum(p + 1 < pieces ? PIECE : n - p * PIECE, x + p * PIECE);
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
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * n * inner));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t o = 0; o < outer; o++) {
    const REAL *xo = x + o * n * inner;
    if (rp_interrupted())
      continue;
    if (sums && inner == 1)
      y[o] = (REAL)(double_sum(n, xo) / divisor);
    else if (sums)
      sum_block(n, inner, divisor, xo, y + o * inner);
    else
      extremum_block(op == RP_MAX, n, inner, xo, y + o * inner,
                     index != NULL ? index + o * inner : NULL);
  }
  return rp_interrupt_status();
}

/* Copy a row. A single element is copied without memcpy, whose call would cost more. */
static inline void copy_row(int64_t n, const REAL *from, REAL *to)
{
  if (n == 1)
    *to = *from;
  else
    memcpy(to, from, (size_t)n * sizeof(REAL));
}

static RpStatus take_rows(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *table,
                          const int32_t *index, void *y)
{
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * rows * n));
#pragma omp parallel for collapse(2) schedule(static) num_threads(rp_present(team))
  for (int64_t o = 0; o < outer; o++)
    for (int64_t r = 0; r < rows; r++)
      if (!rp_interrupted())
        copy_row(n, (const REAL *)table + (o * size + index[r]) * n,
                 (REAL *)y + (o * rows + r) * n);
  return rp_interrupt_status();
}

static RpStatus put_rows(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *y,
                         const int32_t *index, void *table)
{
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t o = 0; o < outer; o++)
    for (int64_t r = 0; r < rows && !rp_interrupted(); r++)
      copy_row(n, (const REAL *)y + (o * rows + r) * n, (REAL *)table + (o * size + index[r]) * n);
  return rp_interrupt_status();
}

static RpStatus gather(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *table,
                       const int32_t *index, void *y)
{
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(outer * n * inner));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t row = 0; row < outer * n; row++)
    for (int64_t k = 0; k < inner && !rp_interrupted(); k++)
      ((REAL *)y)[row * inner + k] =
          ((const REAL *)table)[(row / n * size + index[row * inner + k]) * inner + k];
  return rp_interrupt_status();
}

#endif
