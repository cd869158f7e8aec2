/* Depthwise causal convolution; the gradient of x is the convolution of dy backwards in time. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

/* saved: x and weight, packed */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *x = node->saved[0], *weight = node->saved[1];
  const int64_t *n = x->shape, width = weight->shape[1];
  RpTensor *packed = rp_tensor_contiguous(dy);
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  for (int i = 0; status == RP_OK && i < 2; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] = rp_tensor_count(x) > 0
                       ? rp_tensor_new_like(node->saved[i])
                       : rp_tensor_full(x->dtype, 3 - i, node->edges[i].shape, 0);
    if (gradients[i] == NULL)
      status = rp_last_status();
    else if (rp_tensor_count(x) > 0)
      status = i == 0 ? rp_kernels(x->dtype)->causal_convolution(
                            true, n[0], n[1], n[2], width, rp_tensor_data(packed),
                            rp_tensor_data(weight), rp_tensor_data(gradients[0]))
                      : rp_kernels(x->dtype)->causal_convolution_gradient(
                            n[0], n[1], n[2], width, rp_tensor_data(x), rp_tensor_data(packed),
                            rp_tensor_data(gradients[1]));
  }
  rp_tensor_release(packed);
  return status;
}

RpTensor *rp_op_causal_convolution(RpTensor *x, RpTensor *weight)
{
  static const RpNodeType type = {"causal_convolution", backward, NULL};
  if (x->rank != 3 || weight->rank != 2 || weight->shape[0] != x->shape[2] ||
      weight->shape[1] < 1 || !rp_dtype_is_float(x->dtype) || weight->dtype != x->dtype)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "causal_convolution: expected floats of the same dtype, x [batch, time, "
                     "channels] and weight [channels, width] with a width of at least 1, got %s "
                     "%s and %s %s",
                     rp_dtype_name(x->dtype), rp_tensor_shape_text(x), rp_dtype_name(weight->dtype),
                     rp_tensor_shape_text(weight));
  RpTensor *in[] = {rp_tensor_contiguous(x), rp_tensor_contiguous(weight)};
  RpTensor *y = in[0] != NULL && in[1] != NULL ? rp_tensor_new_like(x) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0)
    y = rp_tensor_unless_failed(
        rp_kernels(x->dtype)->causal_convolution(false, x->shape[0], x->shape[1], x->shape[2],
                                                 weight->shape[1], rp_tensor_data(in[0]),
                                                 rp_tensor_data(in[1]), rp_tensor_data(y)),
        y);
  y = rp_graph_record(&type, y, 2, (RpTensor *[]){x, weight}, 2, in);
  rp_tensor_release(in[0]);
  rp_tensor_release(in[1]);
  return y;
}
