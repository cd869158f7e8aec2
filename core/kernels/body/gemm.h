/* Matrix products: by tiles, by packed blocks or by OpenBLAS, shared among threads here. */
#ifndef RP_BODY_GEMM_H
#define RP_BODY_GEMM_H

#include <cblas.h>

#include "core/kernels/body/operand.h"

#if REAL_IS_FLOAT
#define CBLAS_GEMM cblas_sgemm
#define CBLAS_GEMV cblas_sgemv
#else
#define CBLAS_GEMM cblas_dgemm
#define CBLAS_GEMV cblas_dgemv
#endif

/* True if tiles, with a matrix of `held` elements kept in cache, compute C[m, n] faster. */
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

static int64_t product_room(void)
{
  return columns_room(HELD_TERMS, HELD_COLUMNS) + left_room(HELD_ROWS, HELD_TERMS);
}

/*
** C (+)= alpha op(A) op(B), by blocks of op(B) that are packed and fit in cache. Rows of C are
** finished while they are in cache.
*/
static void blocked_product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                            double alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
                            bool accumulate, Finish finish, REAL *c, int64_t ldc, Packed *room)
{
  Packed *left = room + columns_room(HELD_TERMS, HELD_COLUMNS);
  for (int64_t j = 0; j < n && !rp_interrupted(); j += HELD_COLUMNS)
    for (int64_t p = 0; p < k; p += HELD_TERMS) {
      const int64_t columns = smaller(n - j, HELD_COLUMNS), terms = smaller(k - p, HELD_TERMS);
      const Right right = transpose_b ? pack_columns(terms, columns, b + j * ldb + p, ldb, room)
                                      : copy_right(terms, columns, b + p * ldb + j, ldb, room);
      for (int64_t i = 0; i < m; i += HELD_ROWS) {
        const int64_t rows = smaller(m - i, HELD_ROWS);
        const Strided from =
            transpose_a ? (Strided){a + p * lda + i, 1, lda} : (Strided){a + i * lda + p, lda, 1};
        multiply(rows, columns, terms, (REAL)alpha, pack_left(rows, terms, from, left), right,
                 accumulate || p > 0, c + i * ldc + j, ldc, whole_product);
        if (p + terms == k)
          finish_rows(finish, j, rows, columns, ldc, c + i * ldc + j);
      }
    }
}

/* True if blocked_product computes C[m, n] += A[m, k] B[k, n] faster than OpenBLAS. */
static bool suits_blocks(bool transpose_a, int64_t m, int64_t n, int64_t k)
{
  return ROUNDS_OPERANDS || (TILES_WIN && !transpose_a && m >= HELD_ROWS && n >= STEP && k >= STEP);
}

#if ROUNDS_OPERANDS
static void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
                    bool accumulate, REAL *c, int64_t ldc, Packed *room)
{
  blocked_product(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, accumulate, no_finish,
                  c, ldc, room);
}
#else

/* C (+)= alpha op(A) op(B); one row times a matrix avoids packing the matrix. */
static void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
                    bool accumulate, REAL *c, int64_t ldc, Packed *room)
{
  (void)room;
  if (m == 1 && !transpose_a)
    CBLAS_GEMV(CblasRowMajor, transpose_b ? CblasNoTrans : CblasTrans, (int)(transpose_b ? n : k),
               (int)(transpose_b ? k : n), (REAL)alpha, b, (int)ldb, a, 1, accumulate, c, 1);
  else
    CBLAS_GEMM(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
               transpose_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, (REAL)alpha, a,
               (int)lda, b, (int)ldb, accumulate, c, (int)ldc);
}
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
  if (tiled_product(&part, a, b, c, room))
    return;
  if (suits_blocks(g->transpose_a, part.m, part.n, g->k))
    blocked_product(g->transpose_a, g->transpose_b, part.m, part.n, g->k, 1, a, g->lda, b, g->ldb,
                    g->accumulate, no_finish, c, g->ldc, room);
  else
    product(g->transpose_a, g->transpose_b, part.m, part.n, g->k, 1, a, g->lda, b, g->ldb,
            g->accumulate, c, g->ldc, room);
}

static RpStatus gemm(const RpGemm *g, int64_t count, const int64_t *offsets, const void *a,
                     const void *b, void *c)
{
  const double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  const int threads = rp_team(RP_WORK_FLOPS, flops * (double)count);
  /* Enough parts for all threads; a part takes at most about a tenth of a second. */
  int64_t parts = count >= threads ? 1 : threads;
  while (flops / (double)parts > 5e9)
    parts += threads;
  const bool by_rows = g->m >= g->n;
  const int64_t whole = by_rows ? g->m : g->n;
  Packed *memory = rp_alloc_array(threads * product_room(), sizeof(Packed));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel num_threads(rp_present(threads))
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
