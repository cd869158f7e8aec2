/* Transposition of a square block of vectors, in registers. */
#ifndef RP_BODY_TRANSPOSE_H
#define RP_BODY_TRANSPOSE_H

#include "core/kernels/body/micro.h"

/* Swap the elements whose row and column differ in one bit, a constant. */
static inline __attribute__((always_inline)) void exchange(const int bit, PackedVector rows[LANES])
{
  Picks upper = {0}, lower = {0};
  UNROLL(16)
  for (int lane = 0; lane < LANES; lane++) {
    upper[lane] = lane & bit ? LANES + lane - bit : lane;
    lower[lane] = lane & bit ? LANES + lane : lane + bit;
  }
  UNROLL(16)
  for (int i = 0; i < LANES; i++) {
    if (i & bit)
      continue;
    const PackedVector top = rows[i], bottom = rows[i + bit];
    rows[i] = SHUFFLE(top, bottom, upper);
    rows[i + bit] = SHUFFLE(top, bottom, lower);
  }
}

static inline __attribute__((always_inline)) void transpose_block(PackedVector rows[LANES])
{
  exchange(1, rows);
  if (LANES > 2)
    exchange(2, rows);
  if (LANES > 4)
    exchange(4, rows);
  if (LANES > 8)
    exchange(8, rows);
}

/* to[columns, rows] = the transpose of from[rows, columns]; both are multiples of LANES. */
static inline void transpose(int64_t rows, int64_t columns, const REAL *from, int64_t from_line,
                             REAL *to, int64_t to_line)
{
  for (int64_t i = 0; i < rows; i += LANES)
    for (int64_t j = 0; j < columns; j += LANES) {
      PackedVector block[LANES];
      for (int r = 0; r < LANES; r++)
        block[r] = *(const PackedVector *)(from + (i + r) * from_line + j);
      transpose_block(block);
      for (int r = 0; r < LANES; r++)
        *(PackedVector *)(to + (j + r) * to_line + i) = block[r];
    }
}

#endif
