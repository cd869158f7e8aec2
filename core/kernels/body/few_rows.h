/*
** y = x W^T for a few rows of x, as in generation: W is read once, in place, by dot products of
** rows. Each tile of W is used for all rows of x while it is in cache.
*/
#ifndef RP_BODY_FEW_ROWS_H
#define RP_BODY_FEW_ROWS_H

#include "core/kernels/body/vector.h"

enum {
  ACROSS = 4,                   /* rows of W, and thus columns of y, in a tile */
  DOWN = TILE_VECTORS / ACROSS, /* rows of x in a tile */
  FEW_ROWS = 4 * DOWN
};

/* Sums of adjacent groups of `size` lanes, of a and of b in turn. */
static inline __attribute__((always_inline)) Vector fold(const int size, Vector a, Vector b)
{
  Picks left = {0}, right = {0};
  UNROLL(16)
  for (int lane = 0; lane < LANES; lane++) {
    left[lane] = lane / (2 * size) * (2 * size) + lane % size + lane / size % 2 * LANES;
    right[lane] = left[lane] + size;
  }
  return SHUFFLE(a, b, left) + SHUFFLE(a, b, right);
}

/* The sums of the lanes of ACROSS vectors. */
static inline __attribute__((always_inline)) void sum_lanes(const Vector sum[ACROSS],
                                                            REAL total[ACROSS])
{
  const Vector pair[2] = {fold(1, sum[0], sum[1]), fold(1, sum[2], sum[3])};
  if (LANES == 2) {
    for (int c = 0; c < ACROSS; c++)
      total[c] = pair[c / 2][c % 2];
    return;
  }
  typedef REAL Group __attribute__((vector_size(ACROSS * sizeof(REAL)), aligned(sizeof(REAL))));
  Group part[LANES / ACROSS + 1];
  const Vector all = fold(2, pair[0], pair[1]);
  memcpy(part, &all, sizeof all);
  for (int i = 1; i < LANES / ACROSS; i++)
    part[0] += part[i];
  memcpy(total, part, sizeof part[0]);
}

#if REAL_IS_FLOAT
typedef uint16_t Halves __attribute__((vector_size(LANES * 2), aligned(2), may_alias));

/* Elements p to p + LANES - 1 of a row of W, in float32 or in bfloat16, its upper half. */
static inline __attribute__((always_inline)) Vector weights_at(bool halves, const void *row,
                                                               int64_t p)
{
  if (!halves)
    return *(const Vector *)((const REAL *)row + p);
  const Halves half = *(const Halves *)((const uint16_t *)row + p);
  return (Vector)(__builtin_convertvector(half, Picks) << 16);
}

static inline REAL weight_at(bool halves, const void *row, int64_t p)
{
  if (!halves)
    return ((const REAL *)row)[p];
  const uint32_t bits = (uint32_t)((const uint16_t *)row)[p] << 16;
  REAL value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
#else
static inline Vector weights_at(bool halves, const void *row, int64_t p)
{
  (void)halves;
  return *(const Vector *)((const REAL *)row + p);
}

static inline REAL weight_at(bool halves, const void *row, int64_t p)
{
  (void)halves;
  return ((const REAL *)row)[p];
}
#endif

/* W of few_rows: rows of `line` bytes, of elements of REAL or, if `halves`, of bfloat16. */
typedef struct Weights {
  const char *data;
  int64_t line;
  bool halves;
} Weights;

/*
** A tile of y with `columns` <= ACROSS columns that are `apart` columns apart. Rows of x are `in`
** apart, rows of y `out`, and rows of W `step` bytes.
*/
static inline __attribute__((always_inline)) void
multiply_few(const int height, const bool halves, int64_t in, int64_t out, int64_t columns,
             int64_t apart, const REAL *x, const char *w, int64_t step, REAL *y)
{
  Vector sum[DOWN * ACROSS] = {0};
  const char *row[ACROSS];
  for (int c = 0; c < ACROSS; c++) /* a narrower tile repeats its last column */
    row[c] = w + (c < columns ? c : columns - 1) * step;
  int64_t p = 0;
  for (; p + LANES <= in; p += LANES) {
    Vector part[ACROSS];
    for (int c = 0; c < ACROSS; c++)
      part[c] = weights_at(halves, row[c], p);
    UNROLL(8)
    for (int r = 0; r < height; r++) {
      const Vector element = *(const Vector *)(x + r * in + p);
      for (int c = 0; c < ACROSS; c++)
        sum[r * ACROSS + c] += element * part[c];
    }
  }
  UNROLL(8)
  for (int r = 0; r < height; r++) {
    REAL total[ACROSS];
    sum_lanes(sum + r * ACROSS, total);
    for (int c = 0; c < ACROSS && c < columns; c++) {
      for (int64_t q = p; q < in; q++)
        total[c] += x[r * in + q] * weight_at(halves, row[c], q);
      y[r * out + c * apart] = total[c];
    }
  }
}

/* multiply_few for any number of rows. */
static inline __attribute__((always_inline)) void
multiply_rows(int64_t rows, const bool halves, int64_t in, int64_t out, int64_t columns,
              int64_t apart, const REAL *x, const char *w, int64_t step, REAL *y)
{
  int64_t r = 0;
  for (; r + DOWN <= rows; r += DOWN)
    multiply_few(DOWN, halves, in, out, columns, apart, x + r * in, w, step, y + r * out);
  x += r * in;
  y += r * out;
  if (rows - r == 1)
    multiply_few(1, halves, in, out, columns, apart, x, w, step, y);
  else if (DOWN > 2 && rows - r == 2)
    multiply_few(2, halves, in, out, columns, apart, x, w, step, y);
  else if (DOWN > 3 && rows - r == 3)
    multiply_few(3, halves, in, out, columns, apart, x, w, step, y);
  else if (DOWN > 4 && rows - r == 4)
    multiply_few(4, halves, in, out, columns, apart, x, w, step, y);
  else if (DOWN > 5 && rows - r == 5)
    multiply_few(5, halves, in, out, columns, apart, x, w, step, y);
}

/* Rows of W of a tile in float32: room[ACROSS, in]. */
static void widen(int64_t in, int64_t columns, const char *w, int64_t step, REAL *room)
{
  for (int64_t c = 0; c < ACROSS && c < columns; c++) {
    int64_t p = 0;
    for (; p + LANES <= in; p += LANES)
      *(Vector *)(room + c * in + p) = weights_at(true, w + c * step, p);
    for (; p < in; p++)
      room[c * in + p] = weight_at(true, w + c * step, p);
  }
}

/* Number of elements in the working memory of few_rows. */
static int64_t few_rows_room(int64_t rows, int64_t in, bool halves)
{
  return halves && rows > DOWN ? ACROSS * in : 0;
}

/*
** y[rows, width] = x[rows, in] W^T for `width` rows of W from the first one on; rows of y are `out`
** apart. A tile reads rows that are far apart, ACROSS long streams: processors fetch these ahead,
** but not adjacent short ones.
*/
static void few_rows(int64_t rows, int64_t in, int64_t out, int64_t width, const REAL *x, Weights w,
                     REAL *y, REAL *room)
{
  const int64_t apart = (width + ACROSS - 1) / ACROSS, step = apart * w.line;
  for (int64_t left = 0; left < apart; left++) {
    const int64_t columns = (width - left + apart - 1) / apart;
    const char *part = w.data + left * w.line;
    if (few_rows_room(rows, in, w.halves) > 0) {
      widen(in, columns, part, step, room);
      multiply_rows(rows, false, in, out, columns, apart, x, (const char *)room,
                    in * (int64_t)sizeof(REAL), y + left);
    } else if (w.halves) {
      multiply_rows(rows, true, in, out, columns, apart, x, part, step, y + left);
    } else {
      multiply_rows(rows, false, in, out, columns, apart, x, part, step, y + left);
    }
  }
}

#endif
