/*
** Small matrix products (the inner loops of Goto and van de Geijn 2008). A tile of C
** stays in registers during the loop over the inner size, which reads single elements
** of A and a few vectors from a row of B. Floats are read in place: for an attention
** tile, OpenBLAS takes as long for packing as for arithmetic.
*/
#ifndef RP_BODY_MICRO_H
#define RP_BODY_MICRO_H

#include <stdbool.h>
#include <stdint.h>

#include "core/kernels/body/vector.h"

#if ROUNDS_OPERANDS && defined(__AVX512BF16__)
#define MULTIPLIES_PAIRS 1
#include <immintrin.h>
#else
#define MULTIPLIES_PAIRS 0
#endif

enum {
  /* 0 if vectors are too short for tiles to beat OpenBLAS on whole layers */
  TILES_WIN = VECTOR_BYTES >= 32 || !RP_BLAS,
  NARROW = 2,            /* vectors in a row of a narrow tile, which has twice the rows */
  STEP = NARROW * LANES, /* packed operands have a multiple of this many columns */
  CACHED = 1 << 17,      /* elements that stay in the L2 cache beside streamed data */
  /* Sums of more terms are divided, so that a strip of B stays in the L1 cache. With AVX2, this
     makes attention 1.1 times as fast, with AVX-512 no faster. */
  MOST_TERMS = VECTOR_BYTES == 32 ? 512 : INT32_MAX,
  NEAR_TERMS = 128
};

/*
** The unit that a tile multiplies: an element of A by a vector of B or, if the
** processor sums two products of bfloat16 at once (VDPBF16PS), pairs of elements
** adjacent along the inner size.
*/
#if MULTIPLIES_PAIRS
typedef uint32_t Packed;
typedef __m512 Sums;
enum { DEPTH = 2 };
#else
typedef REAL Packed;
typedef Vector Sums;
enum { DEPTH = 1 };
#endif
typedef Packed PackedVector
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(Packed)), may_alias));

static inline Sums multiply_add(Sums sum, Packed a, PackedVector b)
{
#if MULTIPLIES_PAIRS
  return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32((int)a), (__m512bh)b);
#else
  return sum + a * b;
#endif
}

/* A: (i, p) at data[i * down + p * across]. */
typedef struct Left {
  const Packed *data;
  int64_t down, across;
} Left;

/* B: row p, of columns STEP s to STEP (s + 1) - 1, from data + s * side + p * line on. */
typedef struct Right {
  const Packed *data;
  int64_t line, side;
} Right;

/* Memory that is needed next, to be prefetched into the L2 cache in small steps. */
typedef struct Ahead {
  struct {
    const REAL *next, *end;
  } part[4];
} Ahead;

enum { PACE = 16 }; /* terms of the inner sum between two prefetches */

#ifdef __wasm__
enum { PREFETCHES = 0 }; /* WebAssembly has no such instruction */
#else
enum { PREFETCHES = 1 };
#endif

static inline void fetch(Ahead *ahead)
{
  enum { LINE = 64 / (int)sizeof(REAL), LINES = 4 };
  for (int i = 0; i < 4; i++) {
    const REAL *from = ahead->part[i].next;
    if (from >= ahead->part[i].end)
      continue;
    for (int line = 0; line < LINES; line++)
      __builtin_prefetch(from + line * LINE, 0, 2);
    ahead->part[i].next = from + LINES * LINE;
    return;
  }
}

/* Compute one tile of height x vectors, which are constants, so that the compiler unrolls loops. */
static inline __attribute__((always_inline)) void
multiply_tile(const int height, const int vectors, int64_t rows, int64_t inner, REAL alpha, Left a,
              Right b, bool accumulate, REAL *c, int64_t ldc, Ahead *ahead)
{
  Sums sum[TILE_VECTORS] = {0};
  const Packed *starts[TILE_VECTORS];
  for (int r = 0; r < height; r++) /* a shorter last tile repeats its last row */
    starts[r] = a.data + (r < rows ? r : rows - 1) * a.down;
  for (int64_t p = 0; p < inner; p++) {
    PackedVector row[TILE_VECTORS];
    if (PREFETCHES && ahead != NULL && p % PACE == 0)
      fetch(ahead);
    for (int v = 0; v < vectors; v++)
      row[v] =
          *(const PackedVector *)(b.data + v / NARROW * b.side + p * b.line + v % NARROW * LANES);
    UNROLL(24)
    for (int r = 0; r < height; r++) {
      const Packed element = starts[r][p * a.across];
      for (int v = 0; v < vectors; v++)
        sum[r * vectors + v] = multiply_add(sum[r * vectors + v], element, row[v]);
    }
  }
  UNROLL(24)
  for (int r = 0; r < height; r++) {
    if (r >= rows)
      break;
    for (int v = 0; v < vectors; v++) {
      Vector *to = (Vector *)(c + r * ldc + v * LANES);
      const Vector total = (Vector)sum[r * vectors + v];
      *to = accumulate ? *to + alpha * total : alpha * total;
    }
  }
}

/*
** The part of a product that a causal mask leaves. In row r (a query) of one of the
** matrices, only the first `seen` + r columns (keys) are needed, or are not 0. If this
** matrix is C, tiles beyond them are skipped; if it is A or its transpose, terms of the
** inner sum are skipped.
*/
typedef struct Causal {
  enum { ALL, OF_C, OF_A, OF_TRANSPOSED_A } part;
  int64_t seen;
} Causal;

static const Causal whole_product = {ALL, 0};

/*
** True if the tile of C with `height` rows that begins at (i, left) is needed. If so,
** restrict *from .. *to - 1 to the terms of the inner sum that it needs.
*/
static inline bool needs_tile(Causal causal, int64_t i, int64_t height, int64_t left, int64_t *from,
                              int64_t *to)
{
  const int64_t seen = causal.seen + i; /* by row i; rows below see more */
  if (causal.part == OF_C && left >= seen + height - 1)
    return false;
  if (causal.part == OF_A && *to > seen + height - 1)
    *to = seen + height - 1;
  if (causal.part == OF_TRANSPOSED_A && *from < i - causal.seen + 1)
    *from = i - causal.seen + 1;
  return true;
}

#if MULTIPLIES_PAIRS && defined(__AMX_BF16__)
#include "core/kernels/body/amx.h"
#else
/* Packed operands are padded to a multiple of INNER_STEP terms; C suits tiles best if its number of
   columns is a multiple of WIDTH_STEP. Threads call enter_tiles first. */
enum { INNER_STEP = DEPTH, LEFT_STEP = 1, WIDTH_STEP = LANES };
/* A block of packed operands, held in the L2 cache, and terms of a block of dW. */
enum {
  HELD_ROWS = 96,
  HELD_COLUMNS = ROUNDS_OPERANDS ? 512 : 256,
  HELD_TERMS = ROUNDS_OPERANDS ? 512 : 2048 / (int)sizeof(REAL),
  GRADIENT_ROWS = 48
};

static inline void enter_tiles(void)
{
}

static inline void leave_tiles(void)
{
}

/* multiply_tile for a C with fewer columns than packed B. */
static inline void multiply_edge(const int height, const int vectors, int64_t rows, int64_t columns,
                                 int64_t inner, REAL alpha, Left a, Right b, bool accumulate,
                                 REAL *c, int64_t ldc)
{
  REAL tile[TILE_VECTORS * LANES];
  multiply_tile(height, vectors, rows, inner, alpha, a, b, false, tile, vectors * LANES, NULL);
  for (int64_t i = 0; i < rows && i < height; i++)
    for (int64_t j = 0; j < columns; j++)
      c[i * ldc + j] = tile[i * vectors * LANES + j] + (accumulate ? c[i * ldc + j] : 0);
}

/* Compute a strip of `vectors` * LANES columns from `left` on, of which C has `columns`. */
static inline __attribute__((always_inline)) void
multiply_strip(const int height, const int vectors, int64_t m, int64_t left, int64_t columns,
               int64_t inner, REAL alpha, Left a, Right b, bool accumulate, REAL *c, int64_t ldc,
               Causal causal, Ahead *ahead)
{
  const int64_t terms = inner > MOST_TERMS ? NEAR_TERMS : MOST_TERMS;
  for (int64_t first = 0; first == 0 || first < inner; first += terms)
    for (int64_t i = 0; i < m; i += height) {
      int64_t from = first, to = inner - first < terms ? inner : first + terms;
      if (!needs_tile(causal, i, height, left, &from, &to) || (from >= to && first > 0))
        continue;
      from /= DEPTH;
      to = (to + DEPTH - 1) / DEPTH;
      const Left rows = {a.data + i * a.down + from * a.across, a.down, a.across};
      const Right strip = {b.data + left / STEP * b.side + from * b.line, b.line, b.side};
      const bool adds = accumulate || first > 0;
      if (columns >= vectors * LANES)
        multiply_tile(height, vectors, m - i, to - from, alpha, rows, strip, adds,
                      c + i * ldc + left, ldc, ahead);
      else
        multiply_edge(height, vectors, m - i, columns, to - from, alpha, rows, strip, adds,
                      c + i * ldc + left, ldc);
    }
}

/* C[m, n] (+)= alpha A[m, inner] B[inner, n], with operands from operand.h; `ahead` may be NULL. */
static inline __attribute__((always_inline)) void
multiply_ahead(int64_t m, int64_t n, int64_t inner, REAL alpha, Left a, Right b, bool accumulate,
               REAL *c, int64_t ldc, Causal causal, Ahead *ahead)
{
  int64_t left = 0;
  for (; left + WIDE * LANES <= n; left += WIDE * LANES)
    multiply_strip(TILE_VECTORS / WIDE, WIDE, m, left, WIDE * LANES, inner, alpha, a, b, accumulate,
                   c, ldc, causal, ahead);
  for (; left + LANES < n; left += STEP)
    multiply_strip(TILE_VECTORS / NARROW, NARROW, m, left, n - left, inner, alpha, a, b, accumulate,
                   c, ldc, causal, ahead);
  if (left < n)
    multiply_strip(TILE_VECTORS / NARROW, 1, m, left, n - left, inner, alpha, a, b, accumulate, c,
                   ldc, causal, ahead);
}
#endif

static void multiply(int64_t m, int64_t n, int64_t inner, REAL alpha, Left a, Right b,
                     bool accumulate, REAL *c, int64_t ldc, Causal causal)
{
  multiply_ahead(m, n, inner, alpha, a, b, accumulate, c, ldc, causal, NULL);
}

#endif
