/* Matrix products by BLAS, or by blocks where these are faster than OpenBLAS. Included by gemm.h.
 */
#include <cblas.h>

#if REAL_IS_FLOAT
#define CBLAS_GEMM cblas_sgemm
#define CBLAS_GEMV cblas_sgemv
#else
#define CBLAS_GEMM cblas_dgemm
#define CBLAS_GEMV cblas_dgemv
#endif

#define FEW_ROOM 0 /* elements of the memory of a product with few rows */

static bool suits_blocks(const RpGemm *g)
{
  return TILES_WIN && !g->transpose_a && g->m >= HELD_ROWS && g->n >= STEP && g->k >= STEP;
}

static void product(const RpGemm *g, double alpha, const REAL *a, const REAL *b, REAL *c,
                    Finish finish, Packed *room)
{
  if (suits_blocks(g)) {
    blocked_product(g, alpha, a, b, c, finish, room);
    return;
  }
  if (g->k == 0) /* BLAS refuses strides of 0 */
    for (int64_t i = 0; !g->accumulate && i < g->m; i++)
      memset(c + i * g->ldc, 0, (size_t)g->n * sizeof(REAL));
  else if (g->m == 1 && !g->transpose_a) /* avoids packing B */
    CBLAS_GEMV(CblasRowMajor, g->transpose_b ? CblasNoTrans : CblasTrans,
               (int)(g->transpose_b ? g->n : g->k), (int)(g->transpose_b ? g->k : g->n),
               (REAL)alpha, b, (int)g->ldb, a, 1, g->accumulate, c, 1);
  else
    CBLAS_GEMM(CblasRowMajor, g->transpose_a ? CblasTrans : CblasNoTrans,
               g->transpose_b ? CblasTrans : CblasNoTrans, (int)g->m, (int)g->n, (int)g->k,
               (REAL)alpha, a, (int)g->lda, b, (int)g->ldb, g->accumulate, c, (int)g->ldc);
  finish_rows(finish, 0, g->m, g->n, g->ldc, c);
}
