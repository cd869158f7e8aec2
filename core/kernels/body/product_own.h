/* Matrix products without BLAS: by blocks or, with few rows of A, from B in place. Included by
   gemm.h. */
#include "core/kernels/body/few_rows.h"

/* Elements of the memory of a product with few rows. */
#define FEW_ROOM product_room()

static bool suits_blocks(const RpGemm *g)
{
  (void)g;
  return true;
}

#if ROUNDS_OPERANDS
static int64_t product_in_place(const RpGemm *g, REAL alpha, const REAL *a, const REAL *b, REAL *c)
{
  (void)g, (void)alpha, (void)a, (void)b, (void)c;
  return 0;
}
#else
/*
** The first columns of a product with so few rows that packing B would take longest. Returns their
** number: all or none of B^T; otherwise as many as whole vectors contain.
*/
static int64_t product_in_place(const RpGemm *g, REAL alpha, const REAL *a, const REAL *b, REAL *c)
{
  enum { MOST_ROWS = 7 };
  if (g->transpose_a || g->m > MOST_ROWS || (g->transpose_b && g->accumulate))
    return 0;
  if (!g->transpose_b) {
    const int64_t whole = g->n - g->n % STEP;
    const Left rows = {a, g->lda, 1};
    int64_t left = 0;
    for (; g->m == 1 && left + 2 * STEP <= whole; left += 2 * STEP)
      multiply_strip(1, 2 * NARROW, 1, left, 2 * STEP, g->k, alpha, rows, (Right){b, g->ldb, STEP},
                     g->accumulate, c, g->ldc, whole_product, NULL);
    multiply(g->m, whole - left, g->k, alpha, rows, (Right){b + left, g->ldb, STEP}, g->accumulate,
             c + left, g->ldc, whole_product);
    return whole;
  }
  const Weights rows = {(const char *)b, g->ldb * (int64_t)sizeof(REAL), false};
  for (int64_t i = 0; i < g->m; i++) {
    few_rows(1, g->k, g->n, g->n, a + i * g->lda, rows, c + i * g->ldc, NULL);
    for (int64_t j = 0; alpha != 1 && j < g->n; j++)
      c[i * g->ldc + j] *= alpha;
  }
  return g->n;
}
#endif

static void product(const RpGemm *g, double alpha, const REAL *a, const REAL *b, REAL *c,
                    Finish finish, Packed *room)
{
  const int64_t done = product_in_place(g, (REAL)alpha, a, b, c);
  RpGemm rest = *g;
  rest.n -= done;
  finish_rows(finish, 0, g->m, done, g->ldc, c);
  blocked_product(&rest, alpha, a, b + done, c + done, finish_from(finish, done), room);
}
