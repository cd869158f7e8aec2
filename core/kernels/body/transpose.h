/* Transposition in registers, a square block of vectors at a time. */
#ifndef RP_BODY_TRANSPOSE_H
#define RP_BODY_TRANSPOSE_H

#include "core/kernels/body/micro.h"

#if REAL_IS_FLOAT
typedef int32_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#else
typedef int64_t Picks __attribute__((vector_size(VECTOR_BYTES)));
#endif

/*
** to[j][i] = from[i][j] for i, j < LANES: for each bit of the index, elements whose
** row and column differ in it change places.
*/
static inline void transpose_block(const REAL *from, int64_t from_line, REAL *to, int64_t to_line)
{
  Vector rows[LANES];
  for (int i = 0; i < LANES; i++)
    rows[i] = *(const Vector *)(from + i * from_line);
#pragma GCC unroll 4
  for (int bit = 1; bit < LANES; bit *= 2) {
    Picks upper = {0}, lower = {0}; /* of two vectors side by side */
    for (int lane = 0; lane < LANES; lane++) {
      upper[lane] = lane & bit ? LANES + lane - bit : lane;
      lower[lane] = lane & bit ? LANES + lane : lane + bit;
    }
#pragma GCC unroll 16
    for (int i = 0; i < LANES; i++) {
      if (i & bit)
        continue;
      const Vector top = rows[i], bottom = rows[i + bit];
      rows[i] = __builtin_shuffle(top, bottom, upper);
      rows[i + bit] = __builtin_shuffle(top, bottom, lower);
    }
  }
  for (int i = 0; i < LANES; i++)
    *(Vector *)(to + i * to_line) = rows[i];
}

/* to[columns, rows] = the transpose of from[rows, columns]; both are multiples of LANES. */
static void transpose(int64_t rows, int64_t columns, const REAL *from, int64_t from_line, REAL *to,
                      int64_t to_line)
{
  for (int64_t i = 0; i < rows; i += LANES)
    for (int64_t j = 0; j < columns; j += LANES)
      transpose_block(from + i * from_line + j, from_line, to + j * to_line + i, to_line);
}

#endif
