/*
** Layer normalization (Ba, Kiros, Hinton 2016, eq. 4) of packed rows and, without means and bias,
** RMSNorm (Zhang and Sennrich 2019, eq. 4).
*/
#ifndef RP_BODY_NORM_H
#define RP_BODY_NORM_H

#include "core/kernels/body/row.h"

/* 1 / sqrt(mean of (x - mean)^2 + epsilon), from the differences d = x - mean. If squares overflow,
   or lose digits below the smallest normal number, they are computed in units of the largest. */
static REAL inverse_deviation(int64_t n, const REAL *x, REAL mean, const REAL *d, double epsilon)
{
  const REAL variance = row_dot(n, d, d) / (REAL)n + (REAL)epsilon;
  if (variance > REAL_MIN / REAL_EPSILON && variance <= REAL_MAX)
    return 1 / REAL_SQRT(variance);
  double unit = sqrt(epsilon), sum = 0;
  for (int64_t i = 0; i < n; i++) { /* not with fmax, on which gcc 12 for arm64 fails */
    const double size = fabs((double)x[i] - mean);
    unit = size > unit ? size : unit;
  }
  for (int64_t i = 0; i < n; i++)
    sum += ((double)x[i] - mean) / unit * (((double)x[i] - mean) / unit);
  return (REAL)(1 / sqrt(sum / (double)n + epsilon / unit / unit) / unit);
}

static RpStatus layer_norm(int64_t rows, int64_t n, double epsilon, const void *x_data,
                           const void *gain_data, const void *bias_data, void *y_data, void *means,
                           void *rstds)
{
  const REAL *gain = gain_data, *bias = bias_data;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(rows * n));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t r = 0; r < rows; r++) {
    const REAL *x = (const REAL *)x_data + r * n;
    REAL *y = (REAL *)y_data + r * n;
    if (rp_interrupted())
      continue;
    const REAL mean = means != NULL ? row_sum(n, x) / (REAL)n : 0;
    for (int64_t i = 0; i < n; i++)
      y[i] = x[i] - mean;
    const REAL rstd = inverse_deviation(n, x, mean, y, epsilon);
    for (int64_t i = 0; i < n; i++)
      y[i] = y[i] * rstd * gain[i] + (bias != NULL ? bias[i] : 0);
    if (means != NULL)
      ((REAL *)means)[r] = mean;
    ((REAL *)rstds)[r] = rstd;
  }
  return rp_interrupt_status();
}

/*
** With h = (x - mean) rstd and g = dy gain:
** dx = rstd (g - mean(g) - h mean(g h)), dgain = sum dy h, dbias = sum dy; without
** means, dx = rstd (g - h mean(g h)).
** Each thread sums dgain and dbias over its own rows; these are added in the order of threads.
*/
static RpStatus layer_norm_gradient(int64_t rows, int64_t n, const void *x_data,
                                    const void *gain_data, const void *means, const void *rstds,
                                    const void *dy_data, void *dx_data, void *dgain_data,
                                    void *dbias_data)
{
  const REAL *gain = gain_data;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(2 * rows * n));
  const int threads = team.size;
  const int64_t room = 4 * n; /* of a thread: its dgain and dbias; h and g of a row */
  REAL *partial = rp_alloc_array(threads * room, sizeof(REAL));
  if (partial == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int part = 0; part < threads; part++) {
    REAL *dgain = partial + part * room, *dbias = dgain + n, *h = dbias + n, *g = h + n;
    memset(dgain, 0, (size_t)(2 * n) * sizeof *dgain);
    for (int64_t r = rows * part / threads; r < rows * (part + 1) / threads; r++) {
      const REAL *x = (const REAL *)x_data + r * n, *dy = (const REAL *)dy_data + r * n;
      const REAL mean = means != NULL ? ((const REAL *)means)[r] : 0,
                 rstd = ((const REAL *)rstds)[r];
      if (rp_interrupted())
        break;
#pragma omp simd
      for (int64_t i = 0; i < n; i++) {
        h[i] = (x[i] - mean) * rstd;
        g[i] = dy[i] * gain[i];
        dgain[i] += dy[i] * h[i];
        dbias[i] += dy[i];
      }
      if (dx_data == NULL)
        continue;
      REAL *dx = (REAL *)dx_data + r * n;
      const REAL sum = means != NULL ? row_sum(n, g) / (REAL)n : 0;
      const REAL product = row_dot(n, g, h) / (REAL)n;
#pragma omp simd
      for (int64_t i = 0; i < n; i++)
        dx[i] = rstd * (g[i] - sum - h[i] * product);
    }
  }
  for (int part = 1; part < threads; part++)
    for (int64_t i = 0; i < 2 * n; i++)
      partial[i] += partial[part * room + i];
  if (dgain_data != NULL)
    memcpy(dgain_data, partial, (size_t)n * sizeof(REAL));
  if (dbias_data != NULL)
    memcpy(dbias_data, partial + n, (size_t)n * sizeof(REAL));
  rp_free(partial);
  return rp_interrupt_status();
}

#endif
