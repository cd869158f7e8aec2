/* Depthwise causal convolution along time, of packed [batch, time, channels]. */
#ifndef RP_BODY_CAUSAL_CONVOLUTION_H
#define RP_BODY_CAUSAL_CONVOLUTION_H

#include "core/kernels/body/operand.h"

enum {
  TILE = 64,  /* channels that are summed together */
  STEPS = 32, /* time steps between two checks of the interrupt flag */
  PIECES = 32 /* partial sums of the gradient; fixed, so that threads do not change the result */
};

/* sum[c] += a[c] b[c] */
static inline void add_products(int64_t n, const REAL *restrict a, const REAL *restrict b,
                                REAL *restrict sum)
{
  if (n == TILE) {
    for (int64_t c = 0; c < TILE; c++)
      sum[c] += a[c] * b[c];
  } else {
    for (int64_t c = 0; c < n; c++)
      sum[c] += a[c] * b[c];
  }
}

static RpStatus causal_convolution(bool ahead, int64_t batch, int64_t time, int64_t channels,
                                   int64_t width, const void *x_data, const void *weight_data,
                                   void *y_data)
{
  const int64_t blocks = (time + STEPS - 1) / STEPS;
  REAL *by_lag = rp_alloc_array(width * channels, sizeof *by_lag); /* [width, channels] */
  if (by_lag == NULL)
    return RP_OUT_OF_MEMORY;
  for (int64_t lag = 0; lag < width; lag++)
    for (int64_t c = 0; c < channels; c++)
      by_lag[lag * channels + c] = ((const REAL *)weight_data)[c * width + width - 1 - lag];
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(batch * time * channels));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < batch * blocks; unit++) {
    if (rp_interrupted())
      continue;
    const int64_t begin = unit % blocks * STEPS, end = smaller(begin + STEPS, time);
    const REAL *x = (const REAL *)x_data + unit / blocks * time * channels;
    REAL *y = (REAL *)y_data + unit / blocks * time * channels;
    for (int64_t t = begin; t < end; t++) {
      const int64_t lags = smaller(width, ahead ? time - t : t + 1);
      const int64_t step = ahead ? channels : -channels;
      for (int64_t first = 0; first < channels; first += TILE) {
        const int64_t n = smaller(TILE, channels - first);
        REAL sum[TILE] = {0};
        for (int64_t lag = 0; lag < lags; lag++)
          add_products(n, by_lag + lag * channels + first, x + t * channels + lag * step + first,
                       sum);
        memcpy(y + t * channels + first, sum, (size_t)n * sizeof *sum);
      }
    }
  }
  rp_free(by_lag);
  return rp_interrupt_status();
}

/* Each piece sums over its blocks of STEPS time steps: a block in REAL, blocks in float64. */
static RpStatus causal_convolution_gradient(int64_t batch, int64_t time, int64_t channels,
                                            int64_t width, const void *x_data, const void *dy_data,
                                            void *dweight)
{
  const int64_t blocks = (time + STEPS - 1) / STEPS, units = batch * blocks;
  const int64_t size = width * channels, pieces = smaller(PIECES, units);
  double *partial = rp_alloc_array(pieces * size, sizeof *partial); /* [pieces, width, channels] */
  if (partial == NULL)
    return RP_OUT_OF_MEMORY;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(batch * time * channels));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t piece = 0; piece < pieces; piece++) {
    double *total = partial + piece * size;
    memset(total, 0, (size_t)size * sizeof *total);
    for (int64_t unit = units * piece / pieces; unit < units * (piece + 1) / pieces; unit++) {
      const int64_t begin = unit % blocks * STEPS, end = smaller(begin + STEPS, time);
      const REAL *x = (const REAL *)x_data + unit / blocks * time * channels;
      const REAL *dy = (const REAL *)dy_data + unit / blocks * time * channels;
      if (rp_interrupted())
        break;
      for (int64_t first = 0; first < channels; first += TILE) {
        const int64_t n = smaller(TILE, channels - first);
        for (int64_t lag = 0; lag < smaller(width, end); lag++) {
          REAL sum[TILE] = {0};
          for (int64_t t = lag > begin ? lag : begin; t < end; t++)
            add_products(n, dy + t * channels + first, x + (t - lag) * channels + first, sum);
          for (int64_t c = 0; c < n; c++)
            total[lag * channels + first + c] += (double)sum[c];
        }
      }
    }
  }
  for (int64_t lag = 0; lag < width; lag++)
    for (int64_t c = 0; c < channels; c++) {
      double sum = 0;
      for (int64_t piece = 0; piece < pieces; piece++)
        sum += partial[piece * size + lag * channels + c];
      ((REAL *)dweight)[c * width + width - 1 - lag] = (REAL)sum;
    }
  rp_free(partial);
  return rp_interrupt_status();
}

#endif
