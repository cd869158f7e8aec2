/* Root mean square normalisation over the last axis: layer norm without centring. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

/* saved: x, gain, and 1 / sqrt(mean(x^2) + epsilon) of each row */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *x = node->saved[0], *gain = node->saved[1], *packed = rp_tensor_contiguous(dy);
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  void *out[2] = {NULL};
  for (int i = 0; status == RP_OK && i < 2; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] = rp_tensor_new_like(i == 0 ? x : gain);
    status = gradients[i] != NULL ? RP_OK : rp_last_status();
    out[i] = gradients[i] != NULL ? rp_tensor_data(gradients[i]) : NULL;
  }
  if (status == RP_OK)
    status = rp_kernels(x->dtype)->layer_norm_gradient(
        rows, n, rp_tensor_data(x), rp_tensor_data(gain), NULL, rp_tensor_data(node->saved[2]),
        rp_tensor_data(packed), out[0], out[1], NULL);
  rp_tensor_release(packed);
  return status;
}

static RpStatus check(const RpTensor *x, const RpTensor *gain, double epsilon)
{
  const int64_t n = x->rank > 0 ? x->shape[x->rank - 1] : 0;
  if (n == 0 || gain->rank != 1 || gain->shape[0] != n)
    return rp_fail(RP_BAD_ARGUMENT, "rms_norm: expected x [..., d] and gain [d], got %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(gain));
  if (!rp_dtype_is_float(x->dtype) || gain->dtype != x->dtype)
    return rp_fail(RP_BAD_ARGUMENT,
                   "rms_norm: expected floats of one dtype, got %s and %s; convert with :to()",
                   rp_dtype_name(x->dtype), rp_dtype_name(gain->dtype));
  if (!(epsilon >= 0 && epsilon < 1e300))
    return rp_fail(RP_BAD_ARGUMENT, "rms_norm: epsilon: expected a number >= 0, got %g", epsilon);
  return RP_OK;
}

RpTensor *rp_op_rms_norm(RpTensor *x, RpTensor *gain, double epsilon)
{
  static const RpNodeType type = {"rms_norm", backward, NULL};
  if (check(x, gain, epsilon) != RP_OK)
    return NULL;
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  RpTensor *packed = rp_tensor_contiguous(x), *scale = rp_tensor_contiguous(gain);
  RpTensor *rstd = rp_tensor_new(x->dtype, 1, &rows);
  RpTensor *y = rp_tensor_new(x->dtype, x->rank, x->shape);
  RpStatus status = RP_OUT_OF_MEMORY;
  if (packed != NULL && scale != NULL && rstd != NULL && y != NULL)
    status = rp_kernels(x->dtype)->layer_norm(rows, n, epsilon, rp_tensor_data(packed),
                                              rp_tensor_data(scale), NULL, rp_tensor_data(y), NULL,
                                              rp_tensor_data(rstd));
  y = rp_graph_record(&type, rp_tensor_unless_failed(status, y), 2, (RpTensor *[]){x, gain}, 3,
                      (RpTensor *[]){packed, scale, rstd});
  rp_tensor_release(packed);
  rp_tensor_release(scale);
  rp_tensor_release(rstd);
  return y;
}
