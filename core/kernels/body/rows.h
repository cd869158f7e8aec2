/* Kernels that work along rows: softmax, cross-entropy and the cumulative sum. */
#ifndef RP_BODY_ROWS_H
#define RP_BODY_ROWS_H

#include "core/kernels/body/any.h"
#include "core/kernels/body/row.h"

/*
** log sum exp(x - maximum) of a row, computed with a buffer of fixed size. The maximum is not added
** here: in the sum with a large maximum, the logarithm would lose its digits.
*/
static REAL row_log_sum(int64_t n, const REAL *x, REAL maximum)
{
  REAL buffer[256], sum = 0;
  for (int64_t first = 0; first < n; first += 256)
    sum += exponential_row(n - first < 256 ? n - first : 256, x + first, maximum, buffer);
  return REAL_LOG(sum); /* cppcheck-suppress invalidFunctionArg ; n >= 1, so sum >= 1 */
}

static RpStatus softmax(bool logarithm, int64_t rows, int64_t n, const void *x_data, void *y_data)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t r = 0; r < rows; r++) {
    const REAL *x = (const REAL *)x_data + r * n;
    REAL *y = (REAL *)y_data + r * n;
    if (rp_interrupted())
      continue;
    const REAL maximum = row_maximum(n, x);
    if (logarithm) {
      const REAL log_sum = row_log_sum(n, x, maximum);
      for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - maximum) - log_sum;
    } else {
      const REAL factor = 1 / exponential_row(n, x, maximum, y);
      for (int64_t i = 0; i < n; i++)
        y[i] *= factor;
    }
  }
  return rp_interrupt_status();
}

/* softmax: dx = y (dy - sum y dy);  log softmax: dx = dy - exp(y) sum dy */
static RpStatus softmax_gradient(bool logarithm, int64_t rows, int64_t n, const void *y_data,
                                 const void *dy_data, void *dx_data)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t r = 0; r < rows; r++) {
    const REAL *y = (const REAL *)y_data + r * n, *dy = (const REAL *)dy_data + r * n;
    REAL *dx = (REAL *)dx_data + r * n;
    if (rp_interrupted())
      continue;
    if (logarithm) {
      const REAL sum = (REAL)double_sum(n, dy);
      for (int64_t i = 0; i < n; i++)
        dx[i] = dy[i] - exponential(y[i]) * sum;
    } else {
      const REAL sum = row_dot(n, y, dy);
      for (int64_t i = 0; i < n; i++)
        dx[i] = y[i] * (dy[i] - sum);
    }
  }
  return rp_interrupt_status();
}

static RpStatus cross_entropy(int64_t rows, int64_t n, const void *x_data, const int32_t *target,
                              int32_t ignore, void *loss)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t r = 0; r < rows; r++) {
    const REAL *x = (const REAL *)x_data + r * n;
    if (rp_interrupted())
      continue;
    if (target[r] == ignore) {
      ((REAL *)loss)[r] = 0;
      continue;
    }
    const REAL maximum = row_maximum(n, x);
    ((REAL *)loss)[r] = row_log_sum(n, x, maximum) - (x[target[r]] - maximum);
  }
  return rp_interrupt_status();
}

static RpStatus cross_entropy_gradient(int64_t rows, int64_t n, const void *x_data,
                                       const int32_t *target, int32_t ignore, const void *scale,
                                       int64_t scale_stride, void *dx_data)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t r = 0; r < rows; r++) {
    const REAL *x = (const REAL *)x_data + r * n;
    REAL *dx = (REAL *)dx_data + r * n;
    if (rp_interrupted())
      continue;
    if (target[r] == ignore) {
      memset(dx, 0, (size_t)n * sizeof(REAL));
      continue;
    }
    const REAL weight = ((const REAL *)scale)[r * scale_stride];
    const REAL factor = weight / exponential_row(n, x, row_maximum(n, x), dx);
    for (int64_t i = 0; i < n; i++)
      dx[i] *= factor;
    dx[target[r]] -= weight;
  }
  return rp_interrupt_status();
}

enum { LINES = 16 }; /* adjacent lines that are summed together, to read memory in its order */

/* Cumulative sums of `lines` <= LINES adjacent lines of n elements, `step` apart. */
static inline void cumulate_lines(int64_t lines, int64_t n, int64_t step, const REAL *x, REAL *y)
{
  double sum[LINES] = {0};
  for (int64_t at = 0; at < n; at++) {
    if (at % (1 << 12) == 0 && rp_interrupted())
      break;
    for (int64_t i = 0; i < lines; i++) {
      sum[i] += (double)x[at * step + i];
      y[at * step + i] = (REAL)sum[i];
    }
  }
}

static RpStatus cumulate(int64_t outer, int64_t n, int64_t inner, bool reverse, const void *x_data,
                         void *y_data)
{
  const int64_t bundles = (inner + LINES - 1) / LINES, step = reverse ? -inner : inner;
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)(outer * n * inner));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < outer * bundles; unit++) {
    const int64_t first = unit % bundles * LINES;
    const int64_t lines = inner - first < LINES ? inner - first : LINES;
    const int64_t start = (unit / bundles * n + (reverse ? n - 1 : 0)) * inner + first;
    const REAL *x = (const REAL *)x_data + start;
    REAL *y = (REAL *)y_data + start;
    if (lines == LINES)
      cumulate_lines(LINES, n, step, x, y);
    else if (lines == 1)
      cumulate_lines(1, n, step, x, y);
    else
      cumulate_lines(lines, n, step, x, y);
  }
  return rp_interrupt_status();
}

#endif
