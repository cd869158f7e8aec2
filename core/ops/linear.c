/* Affine map of the last axis: y = x W^T + b; dx = dy W, dW = dy^T x, db = sum dy. */
#include "core/ops/ops.h"
#include "core/tensor/matmul.h"
#include "core/tensor/reduce.h"

/* x [..., n] as a packed or blasable [rows, n]; the caller releases it. */
static RpTensor *as_rows(RpTensor *x)
{
  const int64_t n = x->shape[x->rank - 1];
  const int64_t shape[] = {n > 0 ? rp_tensor_count(x) / n : 0, n}, strides[] = {n, 1};
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *rows =
      packed != NULL ? rp_tensor_view(packed, 2, shape, strides, packed->offset) : NULL;
  rp_tensor_release(packed);
  return rows;
}

/* A packed [rows, n] in the shape of an input. */
static RpTensor *reshaped(RpTensor *rows, int rank, const int64_t *shape)
{
  int64_t strides[RP_MAX_RANK], stride = 1;
  if (rows == NULL)
    return NULL;
  for (int i = rank - 1; i >= 0; i--) {
    strides[i] = stride;
    stride *= shape[i];
  }
  RpTensor *view = rp_tensor_view(rows, rank, shape, strides, rows->offset);
  rp_tensor_release(rows);
  return view;
}

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *weight = node->saved[1];
  RpTensor *dy_rows = as_rows(dy), *x_rows = as_rows(node->saved[0]);
  bool failed = dy_rows == NULL || x_rows == NULL;
  if (!failed && rp_node_wants(node, 0)) {
    gradients[0] = reshaped(rp_tensor_matmul(dy_rows, false, weight, false), node->edges[0].rank,
                            node->edges[0].shape);
    failed = gradients[0] == NULL;
  }
  if (!failed && rp_node_wants(node, 1)) {
    gradients[1] = rp_tensor_matmul(dy_rows, true, x_rows, false);
    failed = gradients[1] == NULL;
  }
  if (!failed && rp_node_wants(node, 2)) {
    gradients[2] = rp_tensor_reduce(RP_SUM, dy_rows, 0, false, NULL);
    failed = gradients[2] == NULL;
  }
  rp_tensor_release(dy_rows);
  rp_tensor_release(x_rows);
  return failed ? rp_last_status() : RP_OK;
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
  if (x->dtype != weight->dtype || (bias != NULL && bias->dtype != x->dtype))
    return rp_fail(RP_BAD_ARGUMENT, "linear: expected one dtype, got x %s, weight %s, bias %s",
                   rp_dtype_name(x->dtype), rp_dtype_name(weight->dtype),
                   bias != NULL ? rp_dtype_name(bias->dtype) : "none");
  return RP_OK;
}

RpTensor *rp_op_linear(RpTensor *x, RpTensor *weight, RpTensor *bias)
{
  static const RpNodeType type = {"linear", backward, NULL};
  if (check(x, weight, bias) != RP_OK)
    return NULL;
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i < x->rank; i++)
    shape[i] = x->shape[i];
  shape[x->rank - 1] = weight->shape[0];
  RpTensor *rows = as_rows(x);
  RpTensor *packed_bias = bias != NULL ? rp_tensor_contiguous(bias) : NULL;
  RpTensor *y = NULL;
  if (rows != NULL && (bias == NULL || packed_bias != NULL))
    y = rp_tensor_matmul(rows, false, weight, true);
  if (y != NULL && bias != NULL) {
    RpStatus status = rp_kernels(y->dtype)->add_rows(
        y->shape[0], y->shape[1], rp_tensor_data(packed_bias), rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  rp_tensor_release(rows);
  rp_tensor_release(packed_bias);
  return rp_graph_record(&type, reshaped(y, x->rank, shape), 3, (RpTensor *[]){x, weight, bias}, 2,
                         (RpTensor *[]){x, weight});
}
