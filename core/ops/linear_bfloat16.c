/* Linear layers with weights kept as bfloat16, two in an int32 element, for generation. */
#include "core/ops/ops.h"

#include <limits.h>
#include <string.h>

#include "core/tensor/copy.h"

/* The nearest bfloat16, ties to even; NaN remains NaN. */
static uint16_t nearest_bfloat16(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7FFFFFFF) > 0x7F800000)
    return (uint16_t)(bits >> 16 | 0x40);
  return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

RpTensor *rp_pack_bfloat16(RpTensor *x)
{
  if (x->dtype != RP_FLOAT32 || x->rank == 0)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "pack_bfloat16: expected float32 with at least one axis, got %s %s",
                     rp_dtype_name(x->dtype), rp_tensor_shape_text(x));
  const int last = x->rank - 1;
  const int64_t n = x->shape[last], line = n / 2 + n % 2;
  int64_t shape[RP_MAX_RANK];
  memcpy(shape, x->shape, sizeof shape);
  shape[last] = line;
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *y = packed != NULL ? rp_tensor_full(RP_INT32, x->rank, shape, 0) : NULL;
  const int64_t rows = y != NULL && n > 0 ? rp_tensor_count(x) / n : 0;
  for (int64_t r = 0; r < rows; r++) {
    const float *from = (const float *)rp_tensor_data(packed) + r * n;
    uint16_t *to = (uint16_t *)((int32_t *)rp_tensor_data(y) + r * line);
    for (int64_t i = 0; i < n; i++)
      to[i] = nearest_bfloat16(from[i]);
  }
  rp_tensor_release(packed);
  return y;
}

static RpStatus check(const RpTensor *x, const RpTensor *weight, const RpTensor *bias)
{
  const int64_t n = x->rank > 0 ? x->shape[x->rank - 1] : 0;
  if (x->rank < 1 || x->dtype != RP_FLOAT32 || weight->rank != 2 || weight->dtype != RP_INT32 ||
      weight->shape[1] != n / 2 + n % 2)
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear_bfloat16: expected x [..., in], float32, and a weight [out, in] packed "
                   "by pack_bfloat16, got %s %s and %s %s",
                   rp_dtype_name(x->dtype), rp_tensor_shape_text(x), rp_dtype_name(weight->dtype),
                   rp_tensor_shape_text(weight));
  if (bias != NULL &&
      (bias->rank != 1 || bias->shape[0] != weight->shape[0] || bias->dtype != RP_FLOAT32))
    return rp_fail(RP_BAD_ARGUMENT, "linear_bfloat16: expected bias [%lld], float32, got %s %s",
                   (long long)weight->shape[0], rp_dtype_name(bias->dtype),
                   rp_tensor_shape_text(bias));
  if (rp_graph_records(2, (RpTensor *[]){(RpTensor *)x, (RpTensor *)bias}))
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear_bfloat16: expected inputs without gradients, because it "
                   "has none; call it inside roper.no_grad");
  return RP_OK;
}

RpTensor *rp_linear_bfloat16(RpTensor *x, RpTensor *weight, RpTensor *bias, bool relu)
{
  if (check(x, weight, bias) != RP_OK)
    return NULL;
  int64_t shape[RP_MAX_RANK];
  memcpy(shape, x->shape, sizeof shape);
  const int64_t n = shape[x->rank - 1];
  shape[x->rank - 1] = weight->shape[0];
  RpTensor *rows = rp_tensor_contiguous(x), *matrix = rp_tensor_contiguous(weight);
  RpTensor *offset = bias != NULL ? rp_tensor_contiguous(bias) : NULL, *y = NULL;
  if (rows != NULL && matrix != NULL && (bias == NULL || offset != NULL))
    y = rp_tensor_new(RP_FLOAT32, x->rank, shape);
  if (y != NULL && rp_tensor_count(y) > 0)
    y = rp_tensor_unless_failed(
        rp_products(RP_FLOAT32)
            ->linear_bfloat16(rp_tensor_count(y) / weight->shape[0], n, weight->shape[0],
                              rp_tensor_data(rows), rp_tensor_data(matrix),
                              offset != NULL ? rp_tensor_data(offset) : NULL, relu,
                              rp_tensor_data(y)),
        y);
  rp_tensor_release(rows);
  rp_tensor_release(matrix);
  rp_tensor_release(offset);
  return y;
}
