/* Layer normalisation over the last axis. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *x = node->saved[0], *gain = node->saved[1];
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  RpTensor *packed = rp_tensor_contiguous(dy);
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  for (int i = 0; status == RP_OK && i < 3; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] = rp_tensor_new_like(i == 0 ? x : gain);
    status = gradients[i] != NULL ? RP_OK : rp_last_status();
  }
  void *out[3];
  for (int i = 0; i < 3; i++)
    out[i] = gradients[i] != NULL ? rp_tensor_data(gradients[i]) : NULL;
  if (status == RP_OK)
    status = rp_kernels(x->dtype)->layer_norm_gradient(
        rows, n, rp_tensor_data(x), rp_tensor_data(gain), rp_tensor_data(node->saved[2]),
        rp_tensor_data(node->saved[3]), rp_tensor_data(packed), out[0], out[1], out[2]);
  rp_tensor_release(packed);
  return status;
}

static RpStatus check(const RpTensor *x, const RpTensor *gain, const RpTensor *bias, double epsilon)
{
  const int64_t n = x->rank > 0 ? x->shape[x->rank - 1] : 0;
  if (n == 0 || gain->rank != 1 || bias->rank != 1 || gain->shape[0] != n || bias->shape[0] != n)
    return rp_fail(RP_BAD_ARGUMENT,
                   "layer_norm: expected x [..., d], gain [d] and bias [d], got %s, %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(gain), rp_tensor_shape_text(bias));
  if (!rp_dtype_is_float(x->dtype) || gain->dtype != x->dtype || bias->dtype != x->dtype)
    return rp_fail(
        RP_BAD_ARGUMENT,
        "layer_norm: expected floats of one dtype, got %s, %s and %s; convert with :to()",
        rp_dtype_name(x->dtype), rp_dtype_name(gain->dtype), rp_dtype_name(bias->dtype));
  if (!(epsilon >= 0 && epsilon < 1e300))
    return rp_fail(RP_BAD_ARGUMENT, "layer_norm: epsilon: expected a number >= 0, got %g", epsilon);
  return RP_OK;
}

RpTensor *rp_op_layer_norm(RpTensor *x, RpTensor *gain, RpTensor *bias, double epsilon)
{
  static const RpNodeType type = {"layer_norm", backward, NULL};
  if (check(x, gain, bias, epsilon) != RP_OK)
    return NULL;
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  RpTensor *in[3] = {rp_tensor_contiguous(x), rp_tensor_contiguous(gain),
                     rp_tensor_contiguous(bias)};
  RpTensor *mean = rp_tensor_new(x->dtype, 1, &rows), *rstd = rp_tensor_new(x->dtype, 1, &rows);
  RpTensor *y = rp_tensor_new(x->dtype, x->rank, x->shape);
  const bool ready =
      in[0] != NULL && in[1] != NULL && in[2] != NULL && mean != NULL && rstd != NULL && y != NULL;
  RpStatus status = RP_OUT_OF_MEMORY;
  if (ready)
    status = rp_kernels(x->dtype)->layer_norm(
        rows, n, epsilon, rp_tensor_data(in[0]), rp_tensor_data(in[1]), rp_tensor_data(in[2]),
        rp_tensor_data(y), rp_tensor_data(mean), rp_tensor_data(rstd));
  y = rp_graph_record(&type, rp_tensor_unless_failed(status, y), 3, (RpTensor *[]){x, gain, bias},
                      4, (RpTensor *[]){in[0], in[1], mean, rstd});
  for (int i = 0; i < 3; i++)
    rp_tensor_release(in[i]);
  rp_tensor_release(mean);
  rp_tensor_release(rstd);
  return y;
}
