/*
** Operands of products, prepared for tiles. Floats are read in place, except that a
** transposed right operand is copied by columns. Operands rounded to bfloat16 are
** always packed.
*/
#ifndef RP_BODY_OPERAND_H
#define RP_BODY_OPERAND_H

#include "core/kernels/body/micro.h"
#include "core/kernels/body/transpose.h"

/* A float matrix with element (i, j) at data[i * down + j * across]; one of the strides is 1. */
typedef struct Strided {
  const REAL *data;
  int64_t down, across;
} Strided;

static inline int64_t round_up(int64_t n, int64_t step)
{
  return (n + step - 1) / step * step;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

static inline int64_t larger(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/* Number of Packed elements in a column. */
static inline int64_t packed_depth(int64_t inner)
{
  return round_up(inner, INNER_STEP) / DEPTH;
}

#if ROUNDS_OPERANDS
#include "core/kernels/body/bfloat16.h"
#else
static inline PackedVector pack_row(const REAL *x, int64_t count)
{
  PackedVector row = {0};
  if (count >= LANES)
    return *(const PackedVector *)x;
  for (int64_t i = 0; i < count; i++)
    row[i] = x[i];
  return row;
}

static inline int64_t left_room(int64_t m, int64_t inner)
{
  (void)m, (void)inner;
  return 0;
}

static inline int64_t right_room(int64_t inner, int64_t n)
{
  (void)inner, (void)n;
  return 0;
}

static inline Left pack_left(int64_t m, int64_t inner, Strided a, Packed *room)
{
  (void)m, (void)inner, (void)room;
  return (Left){a.data, a.down, a.across};
}

static inline Right pack_right(int64_t inner, int64_t n, const REAL *b, int64_t line, Packed *room)
{
  (void)inner, (void)n, (void)room;
  return (Right){b, line, STEP};
}

/* B[inner, n] copied to consecutive memory, padded with zeros. */
static inline Right copy_right(int64_t inner, int64_t n, const REAL *b, int64_t line, Packed *room)
{
  for (int64_t j = 0; j < n; j += STEP)
    for (int64_t p = 0; p < inner; p++) {
      REAL *to = room + j * inner + p * STEP;
      if (n - j < STEP)
        memset(to, 0, STEP * sizeof(REAL));
      memcpy(to, b + p * line + j, (size_t)(n - j < STEP ? n - j : STEP) * sizeof(REAL));
    }
  return (Right){room, STEP, inner * STEP};
}
#endif

static inline int64_t columns_room(int64_t inner, int64_t n)
{
  return packed_depth(inner) * round_up(n, STEP);
}

/* Pack a block of `rows` rows of `terms` each as `depth` columns, padded with zeros. */
static inline __attribute__((always_inline)) void
pack_block(int64_t rows, int64_t terms, int64_t depth, const REAL *x, int64_t line, Packed *to)
{
  PackedVector block[LANES];
  for (int i = 0; i < LANES; i++)
    block[i] = i < rows ? pack_row(x + i * line, terms) : (PackedVector){0};
  transpose_block(block);
  for (int i = 0; i < LANES && i < depth; i++)
    *(PackedVector *)(to + i * STEP) = block[i];
}

/* B[inner, n] from its transpose with rows `line` apart, padded with zeros. */
static Right pack_columns(int64_t inner, int64_t n, const REAL *x, int64_t line, Packed *room)
{
  const int64_t depth = packed_depth(inner), whole = round_up(n, STEP);
  for (int64_t j = 0; j < whole; j += LANES)
    for (int64_t p = 0; p < depth; p += LANES) {
      const int64_t rows = n - j, terms = inner - p * DEPTH;
      const REAL *from = x + j * line + p * DEPTH;
      Packed *to = room + j / STEP * depth * STEP + p * STEP + j % STEP;
      if (rows >= LANES && terms >= LANES * DEPTH)
        pack_block(LANES, LANES * DEPTH, LANES, from, line, to);
      else
        pack_block(rows, terms, depth - p, from, line, to);
    }
  return (Right){room, STEP, depth * STEP};
}

#endif
