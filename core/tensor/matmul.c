#include "core/tensor/matmul.h"

#include <limits.h>

#include "core/base/memory.h"
#include "core/kernels/kernels.h"
#include "core/tensor/copy.h"

/*
** True if BLAS can read the last two axes in place: one has stride 1, and the stride
** of the other is at least a row's length. Sets *transposed if the first of them has
** stride 1.
*/
static bool is_blasable(const RpTensor *x, bool *transposed)
{
  const int64_t rows = x->shape[x->rank - 2], columns = x->shape[x->rank - 1];
  const int64_t down = x->strides[x->rank - 2], across = x->strides[x->rank - 1];
  *transposed = false;
  if ((across == 1 || columns == 1) && (down >= columns || rows == 1) && down <= INT_MAX)
    return true;
  *transposed = true;
  return (down == 1 || rows == 1) && (across >= rows || columns == 1) && across <= INT_MAX;
}

/* An operand ready for BLAS: in place, or packed. */
typedef struct Operand {
  RpTensor *tensor;
  bool transpose;
  int64_t leading;
} Operand;

static Operand prepare(RpTensor *x, bool transpose)
{
  Operand operand = {NULL, transpose, 1};
  bool transposed = false;
  if (is_blasable(x, &transposed)) {
    operand.tensor = rp_tensor_retain(x);
  } else {
    transposed = false;
    operand.tensor = rp_tensor_convert(x, x->dtype);
    if (operand.tensor == NULL)
      return operand;
  }
  const RpTensor *t = operand.tensor;
  const int64_t rows = t->shape[t->rank - (transposed ? 1 : 2)];
  const int64_t width = t->shape[t->rank - (transposed ? 2 : 1)];
  const int64_t stride = t->strides[t->rank - (transposed ? 1 : 2)];
  operand.transpose = transpose != transposed;
  operand.leading = rows == 1 || stride < width ? width : stride;
  if (operand.leading < 1)
    operand.leading = 1;
  return operand;
}

/* Offset in `x` of product `p` of the broadcast leading axes. */
static int64_t batch_offset(const RpTensor *x, int64_t p, int rank, const int64_t *shape)
{
  int64_t offset = 0;
  for (int axis = rank - 1; axis >= 0; axis--) {
    const int own = axis - (rank - (x->rank - 2));
    if (own >= 0 && x->shape[own] != 1)
      offset += p % shape[axis] * x->strides[own];
    p /= shape[axis];
  }
  return offset;
}

static RpStatus multiply(const RpGemm *gemm, const RpTensor *a, const RpTensor *b, RpTensor *c)
{
  const int rank = c->rank - 2;
  int64_t count = 1;
  for (int i = 0; i < rank; i++)
    count *= c->shape[i];
  if (count == 0 || gemm->m == 0 || gemm->n == 0)
    return RP_OK;
  if (gemm->k == 0)
    return rp_tensor_fill(c, 0);
  int64_t *offsets = rp_alloc_array(3 * count, sizeof *offsets);
  if (offsets == NULL)
    return RP_OUT_OF_MEMORY;
  for (int64_t p = 0; p < count; p++) {
    offsets[3 * p] = batch_offset(a, p, rank, c->shape);
    offsets[3 * p + 1] = batch_offset(b, p, rank, c->shape);
    offsets[3 * p + 2] = p * gemm->m * gemm->n;
  }
  RpStatus status = rp_products(c->dtype)->gemm(gemm, count, offsets, rp_tensor_data(a),
                                                rp_tensor_data(b), rp_tensor_data(c));
  rp_free(offsets);
  return status;
}

/* The shape of the product, or RP_BAD_ARGUMENT. */
static RpStatus product_shape(const RpTensor *a, bool transpose_a, const RpTensor *b,
                              bool transpose_b, RpGemm *gemm, int *rank, int64_t *shape)
{
  if (a->dtype != b->dtype || !rp_dtype_is_float(a->dtype))
    return rp_fail(RP_BAD_ARGUMENT,
                   "matmul: expected floats of the same dtype, got %s and %s; convert with :to()",
                   rp_dtype_name(a->dtype), rp_dtype_name(b->dtype));
  if (a->rank < 2 || b->rank < 2)
    return rp_fail(RP_BAD_ARGUMENT, "matmul: expected at least 2 axes each, got %s and %s",
                   rp_tensor_shape_text(a), rp_tensor_shape_text(b));
  gemm->m = a->shape[a->rank - (transpose_a ? 1 : 2)];
  gemm->k = a->shape[a->rank - (transpose_a ? 2 : 1)];
  gemm->n = b->shape[b->rank - (transpose_b ? 2 : 1)];
  const int64_t k = b->shape[b->rank - (transpose_b ? 1 : 2)];
  if (k != gemm->k)
    return rp_fail(RP_BAD_ARGUMENT,
                   "matmul: expected [..., m, k] times [..., k, n], got %s times %s (k is %lld "
                   "and %lld)",
                   rp_tensor_shape_text(a), rp_tensor_shape_text(b), (long long)gemm->k,
                   (long long)k);
  if (gemm->m > INT_MAX || gemm->n > INT_MAX || k > INT_MAX)
    return rp_fail(RP_BAD_ARGUMENT, "matmul: expected sizes up to 2147483647, got %s and %s",
                   rp_tensor_shape_text(a), rp_tensor_shape_text(b));
  RpTensor leading_a = *a, leading_b = *b;
  leading_a.rank -= 2;
  leading_b.rank -= 2;
  if (rp_broadcast_shape("matmul", &leading_a, &leading_b, rank, shape) != RP_OK)
    return RP_BAD_ARGUMENT;
  shape[(*rank)++] = gemm->m;
  shape[(*rank)++] = gemm->n;
  return RP_OK;
}

RpTensor *rp_tensor_matmul(RpTensor *a, bool transpose_a, RpTensor *b, bool transpose_b)
{
  RpGemm gemm = {0};
  int rank;
  int64_t shape[RP_MAX_RANK];
  if (product_shape(a, transpose_a, b, transpose_b, &gemm, &rank, shape) != RP_OK)
    return NULL;
  RpTensor *c = rp_tensor_new(a->dtype, rank, shape);
  if (c == NULL)
    return NULL;
  const Operand left = prepare(a, transpose_a), right = prepare(b, transpose_b);
  RpStatus status = RP_OUT_OF_MEMORY;
  if (left.tensor != NULL && right.tensor != NULL) {
    gemm.transpose_a = left.transpose;
    gemm.transpose_b = right.transpose;
    gemm.lda = left.leading;
    gemm.ldb = right.leading;
    gemm.ldc = gemm.n > 0 ? gemm.n : 1;
    status = multiply(&gemm, left.tensor, right.tensor, c);
  }
  rp_tensor_release(left.tensor);
  rp_tensor_release(right.tensor);
  return rp_tensor_unless_failed(status, c);
}
