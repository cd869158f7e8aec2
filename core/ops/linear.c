/*
** Affine map of the last axis, y = f(x W^T + b), with f the identity or ReLU:
** dz = dy f', dx = dz W, dW = dz^T x, db = sum dz.
*/
#include "core/ops/ops.h"
#include "core/tensor/matmul.h"

/* x [..., n] as a packed or blasable [rows, n]; the caller releases it. */
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

/*
** The gradient [rows, out] before the activation: dy itself, or dy where y > 0;
** and its sum over rows where the bias wants one. NULL on failure.
*/
static RpTensor *before_activation(RpNode *node, RpTensor *dy, RpTensor **dbias)
{
  RpTensor *y = node->saved[2], *rows = as_rows(dy);
  const int64_t count = rows != NULL ? rows->shape[0] : 0, out = node->saved[1]->shape[0];
  RpTensor *dz = rows != NULL && y != NULL ? rp_tensor_new_like(rows) : NULL;
  bool failed = rows == NULL || (y != NULL && dz == NULL);
  if (!failed && rp_node_wants(node, 2)) {
    *dbias = rp_tensor_new(dy->dtype, 1, &out);
    failed = *dbias == NULL;
  }
  if (!failed && (dz != NULL || *dbias != NULL))
    failed = rp_kernels(dy->dtype)->linear_gradient(
                 count, out, y != NULL ? rp_tensor_data(y) : NULL, rp_tensor_data(rows),
                 dz != NULL ? rp_tensor_data(dz) : NULL,
                 *dbias != NULL ? rp_tensor_data(*dbias) : NULL) != RP_OK;
  if (failed) {
    rp_tensor_release(rows);
    rp_tensor_release(dz);
    return NULL;
  }
  if (dz == NULL)
    return rows;
  rp_tensor_release(rows);
  return dz;
}

/* saved: x, weight, and y where ReLU follows */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *weight = node->saved[1];
  RpTensor *dz = before_activation(node, dy, &gradients[2]), *x_rows = as_rows(node->saved[0]);
  bool failed = dz == NULL || x_rows == NULL;
  if (!failed && rp_node_wants(node, 0)) {
    gradients[0] = reshaped(rp_tensor_matmul(dz, false, weight, false), node->edges[0].rank,
                            node->edges[0].shape);
    failed = gradients[0] == NULL;
  }
  if (!failed && rp_node_wants(node, 1)) {
    gradients[1] = rp_tensor_matmul(dz, true, x_rows, false);
    failed = gradients[1] == NULL;
  }
  rp_tensor_release(dz);
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
  if (!rp_dtype_is_float(x->dtype) || x->dtype != weight->dtype ||
      (bias != NULL && bias->dtype != x->dtype))
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear: expected floats of one dtype, got x %s, weight %s, bias %s",
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
    RpStatus status = rp_kernels(y->dtype)->linear(
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
