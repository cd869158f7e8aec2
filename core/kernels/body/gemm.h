/* Products of matrices by OpenBLAS, partitioned here: it is never left to thread by itself. */
#ifndef RP_BODY_GEMM_H
#define RP_BODY_GEMM_H

#include <cblas.h>

#include "core/kernels/body/micro.h"

#if REAL_IS_FLOAT
#define CBLAS_GEMM cblas_sgemm
#define CBLAS_GEMV cblas_sgemv
#else
#define CBLAS_GEMM cblas_dgemm
#define CBLAS_GEMV cblas_dgemv
#endif

/* Should C[m, n], with a matrix of `held` elements used again and again, be done by tiles? */
static bool suits_tiles(int64_t m, int64_t n, int64_t held)
{
  return TILES_WIN && m >= 16 && n % STEP == 0 && held <= CACHED;
}

/* C = alpha op(A) op(B) + beta C; one row times a matrix avoids packing the matrix. */
static void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    double alpha, const REAL *a, int64_t lda, const REAL *b, int64_t ldb,
                    double beta, REAL *c, int64_t ldc)
{
  if (m == 1 && !transpose_a)
    CBLAS_GEMV(CblasRowMajor, transpose_b ? CblasNoTrans : CblasTrans, (int)(transpose_b ? n : k),
               (int)(transpose_b ? k : n), (REAL)alpha, b, (int)ldb, a, 1, (REAL)beta, c, 1);
  else
    CBLAS_GEMM(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
               transpose_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, (REAL)alpha, a,
               (int)lda, b, (int)ldb, (REAL)beta, c, (int)ldc);
}

/*
** The same where one matrix stays in cache: B while rows of A pass by, or C
** while rows of A^T and B do. False, and nothing done, where BLAS is better.
*/
static bool tiled_product(const RpGemm *g, const REAL *a, const REAL *b, REAL *c)
{
  enum { ROWS = 96 };
  const int64_t held = g->transpose_a ? g->m * g->n : g->k * g->n;
  if (g->transpose_b || g->beta != 0 || !suits_tiles(g->m, g->n, held))
    return false;
  for (int64_t i = 0; !g->transpose_a && i < g->m; i += ROWS)
    multiply(g->m - i < ROWS ? g->m - i : ROWS, g->n, g->k, (REAL)g->alpha,
             (Strided){a + i * g->lda, g->lda, 1}, b, g->ldb, false, c + i * g->ldc, g->ldc,
             whole_product);
  for (int64_t p = 0; g->transpose_a && p < g->k; p += ROWS)
    multiply(g->m, g->n, g->k - p < ROWS ? g->k - p : ROWS, (REAL)g->alpha,
             (Strided){a + p * g->lda, 1, g->lda}, b + p * g->ldb, g->ldb, p > 0, c, g->ldc,
             whole_product);
  return true;
}

/* The part of the product in rows [m0, m1) and columns [n0, n1) of C. */
static void gemm_part(const RpGemm *g, int64_t m0, int64_t m1, int64_t n0, int64_t n1,
                      const REAL *a, const REAL *b, REAL *c)
{
  if (m0 == m1 || n0 == n1)
    return;
  RpGemm part = *g;
  part.m = m1 - m0;
  part.n = n1 - n0;
  a += g->transpose_a ? m0 : m0 * g->lda;
  b += g->transpose_b ? n0 * g->ldb : n0;
  c += m0 * g->ldc + n0;
  if (!tiled_product(&part, a, b, c))
    product(g->transpose_a, g->transpose_b, part.m, part.n, g->k, g->alpha, a, g->lda, b, g->ldb,
            g->beta, c, g->ldc);
}

static RpStatus gemm(const RpGemm *g, int64_t count, const int64_t *offsets, const void *a_data,
                     const void *b_data, void *c_data)
{
  const REAL *a = a_data, *b = b_data;
  REAL *c = c_data;
  const double flops = 2.0 * (double)g->m * (double)g->n * (double)g->k;
  if (is_small(g->m, flops * (double)count)) {
    for (int64_t p = 0; p < count; p++)
      gemm_part(g, 0, g->m, 0, g->n, a + offsets[3 * p], b + offsets[3 * p + 1],
                c + offsets[3 * p + 2]);
    return RP_OK;
  }
  const int threads = omp_get_max_threads();
  /* Parts: enough for every thread, and none much longer than a tenth of a second. */
  int64_t parts = count >= threads ? 1 : threads;
  while (flops / (double)parts > 5e9)
    parts += threads;
  const bool by_rows = g->m >= g->n;
  const int64_t whole = by_rows ? g->m : g->n;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t work = 0; work < count * parts; work++) {
    if (rp_interrupted())
      continue;
    const int64_t p = work / parts, part = work % parts;
    const int64_t from = whole * part / parts, to = whole * (part + 1) / parts;
    gemm_part(g, by_rows ? from : 0, by_rows ? to : g->m, by_rows ? 0 : from, by_rows ? g->n : to,
              a + offsets[3 * p], b + offsets[3 * p + 1], c + offsets[3 * p + 2]);
  }
  return rp_interrupt_status();
}

#endif
