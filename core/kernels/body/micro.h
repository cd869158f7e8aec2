/*
** Small matrix products with no packing (Goto and van de Geijn 2008, the inner
** loops): a tile of C stays in registers while the inner size runs, A is read an
** element at a time, B a few vectors of a row at a time. At the sizes of an
** attention tile OpenBLAS spends as long on packing as on arithmetic.
*/
#ifndef RP_BODY_MICRO_H
#define RP_BODY_MICRO_H

#include <stdbool.h>
#include <stdint.h>

/* With few registers the tiles are too small to beat OpenBLAS at whole layers. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, TILE_VECTORS = 24, TILES_WIN = 1 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, TILE_VECTORS = 12, TILES_WIN = 0 };
#else
enum { VECTOR_BYTES = 16, TILE_VECTORS = 8, TILES_WIN = 0 };
#endif
enum {
  LANES = VECTOR_BYTES / (int)sizeof(REAL),
  WIDE = 4,              /* vectors of C in a row of a tile, */
  NARROW = 2,            /* or these, with twice the rows */
  STEP = NARROW * LANES, /* columns of C come in multiples of this */
  CACHED = 1 << 17       /* elements that stay in the second cache beside what streams by */
};

typedef REAL Vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL)), may_alias));

/* A matrix whose element (i, j) lies at data[i * down + j * across]. */
typedef struct Strided {
  const REAL *data;
  int64_t down, across;
} Strided;

/* Memory that is used next, of which the second cache is asked for a little at every step. */
typedef struct Ahead {
  struct {
    const REAL *next, *end;
  } part[4];
} Ahead;

enum { PACE = 16 }; /* terms of the inner sum from one step to the next */

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

/* One tile: `vectors` is a constant where this is called, so everything unrolls. */
static inline __attribute__((always_inline)) void
multiply_tile(const int vectors, int64_t rows, int64_t inner, REAL alpha, Strided a, const REAL *b,
              int64_t ldb, bool accumulate, REAL *c, int64_t ldc, Ahead *ahead)
{
  const int height = TILE_VECTORS / vectors;
  Vector sum[TILE_VECTORS] = {0};
  const REAL *starts[TILE_VECTORS];
  for (int r = 0; r < height; r++) /* a short last tile repeats a row */
    starts[r] = a.data + (r < rows ? r : rows - 1) * a.down;
  for (int64_t p = 0; p < inner; p++) {
    Vector row[WIDE];
    if (ahead != NULL && p % PACE == 0)
      fetch(ahead);
    for (int v = 0; v < vectors; v++)
      row[v] = *(const Vector *)(b + p * ldb + v * LANES);
#pragma GCC unroll 24
    for (int r = 0; r < height; r++) {
      const REAL element = starts[r][p * a.across];
      for (int v = 0; v < vectors; v++)
        sum[r * vectors + v] += element * row[v];
    }
  }
#pragma GCC unroll 24
  for (int r = 0; r < height; r++) {
    if (r >= rows)
      break;
    for (int v = 0; v < vectors; v++) {
      Vector *to = (Vector *)(c + r * ldc + v * LANES);
      *to = accumulate ? *to + alpha * sum[r * vectors + v] : alpha * sum[r * vectors + v];
    }
  }
}

/*
** What a product may leave out where row r of a matrix, of queries, is wanted or
** not zero only in its first `seen` + r columns, of keys: tiles of C beyond, or
** terms of the inner sum where A, or its transpose, is that matrix.
*/
typedef struct Causal {
  enum { ALL, OF_C, OF_A, OF_TRANSPOSED_A } part;
  int64_t seen;
} Causal;

static const Causal whole_product = {ALL, 0};

/* Columns left .. left + vectors * LANES - 1 of the product. */
static inline __attribute__((always_inline)) void
multiply_strip(const int vectors, int64_t m, int64_t left, int64_t inner, REAL alpha, Strided a,
               const REAL *b, int64_t ldb, bool accumulate, REAL *c, int64_t ldc, Causal causal,
               Ahead *ahead)
{
  const int64_t height = TILE_VECTORS / vectors;
  for (int64_t i = 0; i < m; i += height) {
    const int64_t seen = causal.seen + i; /* by row i; more by those below */
    int64_t from = 0, to = inner;
    if (causal.part == OF_C && left >= seen + height - 1)
      continue;
    if (causal.part == OF_A && to > seen + height - 1)
      to = seen + height - 1;
    if (causal.part == OF_TRANSPOSED_A && i >= causal.seen)
      from = i - causal.seen + 1;
    multiply_tile(vectors, m - i, to - from, alpha,
                  (Strided){a.data + i * a.down + from * a.across, a.down, a.across},
                  b + from * ldb + left, ldb, accumulate, c + i * ldc + left, ldc, ahead);
  }
}

/* C[m, n] (+)= alpha A[m, inner] B[inner, n]; n is a multiple of STEP. `ahead` may be NULL. */
static inline __attribute__((always_inline)) void
multiply_ahead(int64_t m, int64_t n, int64_t inner, REAL alpha, Strided a, const REAL *b,
               int64_t ldb, bool accumulate, REAL *c, int64_t ldc, Causal causal, Ahead *ahead)
{
  int64_t left = 0;
  for (; left + WIDE * LANES <= n; left += WIDE * LANES)
    multiply_strip(WIDE, m, left, inner, alpha, a, b, ldb, accumulate, c, ldc, causal, ahead);
  for (; left < n; left += NARROW * LANES)
    multiply_strip(NARROW, m, left, inner, alpha, a, b, ldb, accumulate, c, ldc, causal, ahead);
}

static void multiply(int64_t m, int64_t n, int64_t inner, REAL alpha, Strided a, const REAL *b,
                     int64_t ldb, bool accumulate, REAL *c, int64_t ldc, Causal causal)
{
  multiply_ahead(m, n, inner, alpha, a, b, ldb, accumulate, c, ldc, causal, NULL);
}

/*
** Is this much work on products of m rows best done by the calling thread? Then
** it may be done outside a parallel region too: OpenBLAS does not thread below
** these sizes.
*/
static bool is_small(int64_t m, double flops)
{
  return flops <= (m == 1 ? 2.0 * 9216 : 2.0 * 64 * 64 * 64);
}

#endif
