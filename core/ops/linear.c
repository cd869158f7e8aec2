/*
** Affine map of the last axis, y = f(x W^T + b), with f the identity or ReLU:
** dz = dy f', dx = dz W, dW = dz^T x, db = sum dz.
*/
#include "core/ops/ops.h"

#include <limits.h>

#include "core/tensor/copy.h"

/* x [..., n] as a packed tensor [rows, n]; the caller releases it. */
static RpTensor *as_rows(RpTensor *x)
{
  const int64_t n = x->shape[x->rank - 1];
  int64_t shape[] = {1, n}, strides[] = {n, 1};
  for (int i = 0; i < x->rank - 1; i++)
    shape[0] *= x->shape[i];
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *rows =
      packed != NULL ? rp_tensor_view(packed, 2, shape, strides, packed->offset) : NULL;
  rp_tensor_release(packed);
  return rows;
}

/* saved: x, weight, and y if ReLU follows */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpTensor *y = node->saved[2];
  RpTensor *const in[] = {as_rows(node->saved[0]), rp_tensor_contiguous(node->saved[1]),
                          as_rows(dy)};
  bool failed = in[0] == NULL || in[1] == NULL || in[2] == NULL;
  void *results[3] = {NULL};
  for (int i = 0; i < 3 && !failed; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] = rp_tensor_new(dy->dtype, node->edges[i].rank, node->edges[i].shape);
    failed = gradients[i] == NULL;
    results[i] = failed ? NULL : rp_tensor_data(gradients[i]);
  }
  RpStatus status = RP_OUT_OF_MEMORY;
  if (!failed)
    status = rp_products(dy->dtype)->linear_gradient(
        in[2]->shape[0], in[1]->shape[1], in[1]->shape[0], rp_tensor_data(in[0]),
        rp_tensor_data(in[1]), y != NULL ? rp_tensor_data(y) : NULL, rp_tensor_data(in[2]),
        results[0], results[1], results[2]);
  for (int i = 0; i < 3; i++)
    rp_tensor_release(in[i]);
  return status;
}

static RpStatus check(const RpTensor *x, const RpTensor *weight, const RpTensor *bias)
{
  if (weight->rank != 2 || x->rank < 1 || x->shape[x->rank - 1] != weight->shape[1])
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear: expected x [..., in] and weight [out, in], got %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(weight));
  if (bias != NULL && (bias->rank != 1 || bias->shape[0] != weight->shape[0]))
    return rp_fail(RP_BAD_ARGUMENT, "linear: expected bias [%lld], got %s",
                   (long long)weight->shape[0], rp_tensor_shape_text(bias));
  int64_t rows = 1;
  for (int i = 0; i < x->rank - 1; i++)
    rows *= x->shape[i];
  if (rows > INT_MAX || weight->shape[0] > INT_MAX || weight->shape[1] > INT_MAX)
    return rp_fail(RP_BAD_ARGUMENT, "linear: expected sizes up to 2147483647, got %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(weight));
  if (!rp_dtype_is_float(x->dtype) || x->dtype != weight->dtype ||
      (bias != NULL && bias->dtype != x->dtype))
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear: expected floats of the same dtype, got x %s, weight %s, bias %s; "
                   "convert with :to()",
                   rp_dtype_name(x->dtype), rp_dtype_name(weight->dtype),
                   bias != NULL ? rp_dtype_name(bias->dtype) : "none");
  return RP_OK;
}

RpTensor *rp_op_linear(RpTensor *x, RpTensor *weight, RpTensor *bias, bool relu)
{
  static const RpNodeType type = {"linear", backward, NULL};
  if (check(x, weight, bias) != RP_OK)
    return NULL;
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i < x->rank; i++)
    shape[i] = x->shape[i];
  shape[x->rank - 1] = weight->shape[0];
  RpTensor *rows = as_rows(x), *packed_weight = rp_tensor_contiguous(weight);
  RpTensor *packed_bias = bias != NULL ? rp_tensor_contiguous(bias) : NULL;
  RpTensor *y = NULL;
  if (rows != NULL && packed_weight != NULL && (bias == NULL || packed_bias != NULL))
    y = rp_tensor_new(x->dtype, x->rank, shape);
  if (y != NULL && rp_tensor_count(y) > 0) {
    RpStatus status = rp_products(y->dtype)->linear(
        rows->shape[0], weight->shape[1], weight->shape[0], rp_tensor_data(rows),
        rp_tensor_data(packed_weight), bias != NULL ? rp_tensor_data(packed_bias) : NULL, relu,
        rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  rp_tensor_release(rows);
  rp_tensor_release(packed_weight);
  rp_tensor_release(packed_bias);
  return rp_graph_record(&type, y, 3, (RpTensor *[]){x, weight, bias}, 3,
                         (RpTensor *[]){x, weight, relu ? y : NULL});
}
