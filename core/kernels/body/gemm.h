/* Matrix products: by tiles, by packed blocks or by BLAS, shared among threads here. */
#ifndef RP_BODY_GEMM_H
#define RP_BODY_GEMM_H

#include "core/kernels/body/operand.h"

/* True if tiles, with a matrix of `held` elements kept in cache, compute C[m, n] faster than
   `product`. */
static bool suits_tiles(int64_t m, int64_t n, int64_t held)
{
  return TILES_WIN && m >= 16 && n % STEP == 0 && held <= CACHED;
}

/* What follows a product: the sum with a bias for each column, unless it is NULL, then ReLU. */
typedef struct Finish {
  const REAL *bias;
  bool relu;
} Finish;

static const Finish no_finish = {NULL, false};

/* Finish `rows` rows of y from column `left` of the bias on; rows are `stride` apart. */
static void finish_rows(Finish finish, int64_t left, int64_t rows, int64_t n, int64_t stride,
                        REAL *y)
{
  for (int64_t r = 0; r < rows; r++) {
    REAL *row = y + r * stride;
    for (int64_t i = 0; finish.bias != NULL && i < n; i++)
      row[i] += finish.bias[left + i];
    for (int64_t i = 0; finish.relu && i < n; i++)
      row[i] = row[i] < 0 ? 0 : row[i];
  }
}

static inline Finish finish_from(Finish finish, int64_t column)
{
  return (Finish){finish.bias != NULL ? finish.bias + column : NULL, finish.relu};
}

/* Elements of the memory that a product needs, one for each thread. */
static int64_t product_room(void)
{
  return columns_room(HELD_TERMS, HELD_COLUMNS) + left_room(HELD_ROWS, HELD_TERMS);
}

/*
** C (+)= alpha op(A) op(B), by blocks of op(B) that are packed and fit in cache. Rows of C are
** finished while they are in cache.
*/
static void blocked_product(const RpGemm *g, double alpha, const REAL *a, const REAL *b, REAL *c,
                            Finish finish, Packed *room)
{
  Packed *left = room + columns_room(HELD_TERMS, HELD_COLUMNS);
  for (int64_t j = 0; j < g->n && !rp_interrupted(); j += HELD_COLUMNS)
    for (int64_t p = 0; p == 0 || p < g->k; p += HELD_TERMS) { /* without terms, C is 0 */
      const int64_t columns = smaller(g->n - j, HELD_COLUMNS);
      const int64_t terms = smaller(g->k - p, HELD_TERMS);
      const Right right = g->transpose_b
                              ? pack_columns(terms, columns, b + j * g->ldb + p, g->ldb, room)
                              : copy_right(terms, columns, b + p * g->ldb + j, g->ldb, room);
      for (int64_t i = 0; i < g->m; i += HELD_ROWS) {
        const int64_t rows = smaller(g->m - i, HELD_ROWS);
        const Strided from = g->transpose_a ? (Strided){a + p * g->lda + i, 1, g->lda}
                                            : (Strided){a + i * g->lda + p, g->lda, 1};
        REAL *to = c + i * g->ldc + j;
        multiply(rows, columns, terms, (REAL)alpha, pack_left(rows, terms, from, left), right,
                 g->accumulate || p > 0, to, g->ldc, whole_product);
        if (p + terms == g->k)
          finish_rows(finish, j, rows, columns, g->ldc, to);
      }
    }
}

/*
** Both files define
**   product: C (+)= alpha op(A) op(B), finished, with product_room() elements of memory (FEW_ROOM
**     if A has fewer than 8 rows);
**   suits_blocks: true if `product` is blocked_product for all but few rows.
*/
#if RP_BLAS && !ROUNDS_OPERANDS
#include "core/kernels/body/product_blas.h"
#else
#include "core/kernels/body/product_own.h"
#endif

/*
** The same by tiles, with one matrix kept in cache: B while rows of A are read or, if A
** is transposed, C while rows of A^T and B are read. Returns false and does nothing if
** `product` is faster.
*/
static bool tiled_product(const RpGemm *g, const REAL *a, const REAL *b, REAL *c, Packed *room)
{
  enum { ROWS = 96 };
  const int64_t held = g->transpose_a ? g->m * g->n : g->k * g->n;
  if (ROUNDS_OPERANDS || g->transpose_b || g->accumulate || !suits_tiles(g->m, g->n, held))
    return false;
  for (int64_t i = 0; !g->transpose_a && i < g->m; i += ROWS) {
    const int64_t rows = smaller(g->m - i, ROWS);
    multiply(rows, g->n, g->k, 1, pack_left(rows, g->k, (Strided){a + i * g->lda, g->lda, 1}, room),
             pack_right(g->k, g->n, b, g->ldb, room), false, c + i * g->ldc, g->ldc, whole_product);
  }
  for (int64_t p = 0; g->transpose_a && p < g->k; p += ROWS) {
    const int64_t terms = smaller(g->k - p, ROWS);
    multiply(
        g->m, g->n, terms, 1, pack_left(g->m, terms, (Strided){a + p * g->lda, 1, g->lda}, room),
        pack_right(terms, g->n, b + p * g->ldb, g->ldb, room), p > 0, c, g->ldc, whole_product);
  }
  return true;
}

/* Compute rows [m0, m1) and columns [n0, n1) of C. */
static void gemm_part(const RpGemm *g, int64_t m0, int64_t m1, int64_t n0, int64_t n1,
                      const REAL *a, const REAL *b, REAL *c, Packed *room)
{
  if (m0 == m1 || n0 == n1)
    return;
  RpGemm part = *g;
  part.m = m1 - m0;
  part.n = n1 - n0;
  a += g->transpose_a ? m0 : m0 * g->lda;
  b += g->transpose_b ? n0 * g->ldb : n0;
  c += m0 * g->ldc + n0;
  if (!tiled_product(&part, a, b, c, room))
    product(&part, 1, a, b, c, no_finish, room);
}

static RpStatus gemm(const RpGemm *g, int64_t count, const int64_t *offsets, const void *a,
                     const void *b, void *c)
{
  const double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  const RpTeam team = rp_team(RP_WORK_FLOPS, flops * (double)count);
  const int threads = team.size;
  /* Enough parts for all threads; a part takes at most about a tenth of a second. */
  int64_t parts = count >= threads ? 1 : threads;
  while (flops / (double)parts > 5e9)
    parts += threads;
  const bool by_rows = g->m >= g->n;
  const int64_t whole = by_rows ? g->m : g->n;
  Packed *memory = rp_alloc_array(threads * product_room(), sizeof(Packed));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel num_threads(rp_present(team))
  {
    Packed *room = memory + rp_system_thread() * product_room();
    enter_tiles();
#pragma omp for schedule(static) nowait
    for (int64_t work = 0; work < count * parts; work++) {
      if (rp_interrupted())
        continue;
      const int64_t p = work / parts, part = work % parts;
      const int64_t from = whole * part / parts, to = whole * (part + 1) / parts;
      gemm_part(g, by_rows ? from : 0, by_rows ? to : g->m, by_rows ? 0 : from, by_rows ? g->n : to,
                (const REAL *)a + offsets[3 * p], (const REAL *)b + offsets[3 * p + 1],
                (REAL *)c + offsets[3 * p + 2], room);
    }
    leave_tiles();
  }
  rp_free(memory);
  return rp_interrupt_status();
}

#endif
