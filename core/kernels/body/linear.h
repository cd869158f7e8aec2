/* Affine maps of packed rows, with bias and ReLU applied while a block of rows is in cache. */
#ifndef RP_BODY_LINEAR_H
#define RP_BODY_LINEAR_H

#include "core/kernels/body/gemm.h"

static void add_bias(int64_t rows, int64_t n, int64_t stride, const REAL *bias, bool relu, REAL *y)
{
  for (int64_t r = 0; r < rows; r++) {
    REAL *row = y + r * stride;
    for (int64_t i = 0; bias != NULL && i < n; i++)
      row[i] += bias[i];
    for (int64_t i = 0; relu && i < n; i++)
      row[i] = row[i] < 0 ? 0 : row[i];
  }
}

/* columns[in, line] = W^T, for w[out, in]. */
static void transpose_weight(int64_t in, int64_t out, const REAL *w, int64_t line, REAL *columns)
{
  for (int64_t i = 0; i < in; i++)
    for (int64_t o = 0; o < out; o++)
      columns[i * line + o] = w[o * in + i];
}

/* The rows by tiles of registers, with the transposed weight in cache. */
static RpStatus tiled_linear(int64_t rows, int64_t in, int64_t out, const REAL *x, const REAL *w,
                             const REAL *bias, bool relu, REAL *y)
{
  enum { ROWS = 96 };
  const int64_t line = out + LANES; /* not a power of two, which would crowd the cache */
  REAL *columns = rp_alloc((size_t)(in * line) * sizeof(REAL));
  if (columns == NULL)
    return RP_OUT_OF_MEMORY;
  transpose_weight(in, out, w, line, columns);
#pragma omp parallel for schedule(static) if (rows * in * out > 1 << 18)
  for (int64_t first = 0; first < rows; first += ROWS) {
    const int64_t count = rows - first < ROWS ? rows - first : ROWS;
    if (rp_interrupted())
      continue;
    multiply(count, out, in, 1, (Strided){x + first * in, in, 1}, columns, line, false,
             y + first * out, out);
    add_bias(count, out, out, bias, relu, y + first * out);
  }
  rp_free(columns);
  return rp_interrupt_status();
}

static RpStatus linear(int64_t rows, int64_t in, int64_t out, const void *x_data,
                       const void *w_data, const void *bias_data, bool relu, void *y_data)
{
  enum { BLOCK_ELEMENTS = 1 << 16, LEAST_ROWS = 64 };
  const REAL *x = x_data, *w = w_data, *bias = bias_data;
  REAL *y = y_data;
  if (suits_tiles(rows, out, in * out))
    return tiled_linear(rows, in, out, x, w, bias, relu, y);
  int64_t height = BLOCK_ELEMENTS / out;
  height = height < LEAST_ROWS ? LEAST_ROWS : height > 1024 ? 1024 : height;
  const int64_t down = (rows + height - 1) / height;
  /* Few rows, as in generation: threads share the columns instead. */
  const int64_t across = down < omp_get_max_threads() && out >= 256 ? omp_get_max_threads() : 1;
  const bool small = is_small(rows, 2.0 * (double)rows * (double)in * (double)out);
#pragma omp parallel for schedule(static) if (!small)
  for (int64_t block = 0; block < down * across; block++) {
    const int64_t first = block / across * height, left = out * (block % across) / across;
    const int64_t count = rows - first < height ? rows - first : height;
    const int64_t width = out * (block % across + 1) / across - left;
    REAL *corner = y + first * out + left;
    if (rp_interrupted())
      continue;
    for (int64_t r = 0; in == 0 && r < count; r++)
      memset(corner + r * out, 0, (size_t)width * sizeof(REAL));
    if (in > 0)
      product(false, true, count, width, in, 1, x + first * in, in, w + left * in, in, 0, corner,
              out);
    add_bias(count, width, out, bias != NULL ? bias + left : NULL, relu, corner);
  }
  return rp_interrupt_status();
}

/* Each thread sums dbias over its own rows; the sums join in order. */
static RpStatus linear_gradient(int64_t rows, int64_t out, const void *y_data, const void *dy_data,
                                void *dz_data, void *dbias)
{
  const int threads = rows * out > 1 << 13 ? omp_get_max_threads() : 1;
  REAL *partial = rp_alloc((size_t)threads * (size_t)out * sizeof(REAL));
  if (partial == NULL)
    return RP_OUT_OF_MEMORY;
  memset(partial, 0, (size_t)threads * (size_t)out * sizeof(REAL));
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; part++) {
    REAL *sum = partial + part * out;
    for (int64_t r = rows * part / threads; r < rows * (part + 1) / threads; r++) {
      const REAL *dy = (const REAL *)dy_data + r * out;
      if (y_data == NULL) {
        for (int64_t i = 0; i < out; i++)
          sum[i] += dy[i];
        continue;
      }
      const REAL *y = (const REAL *)y_data + r * out;
      REAL *dz = (REAL *)dz_data + r * out;
      for (int64_t i = 0; i < out; i++) {
        dz[i] = y[i] > 0 ? dy[i] : 0;
        sum[i] += dz[i];
      }
    }
  }
  for (int part = 1; part < threads; part++)
    for (int64_t i = 0; i < out; i++)
      partial[i] += partial[part * out + i];
  if (dbias != NULL)
    memcpy(dbias, partial, (size_t)out * sizeof(REAL));
  rp_free(partial);
  return rp_interrupt_status();
}

#endif
