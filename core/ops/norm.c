/* Layer normalization over the last axis, and RMS normalization, which has no means and no bias. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

/* saved: x, gain, 1 / the deviation of each row, and the mean of each row or NULL */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *x = node->saved[0], *gain = node->saved[1], *mean = node->saved[3];
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  RpTensor *packed = rp_tensor_contiguous(dy);
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  void *out[3] = {NULL};
  for (int i = 0; status == RP_OK && i < node->input_count; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] = rp_tensor_new_like(i == 0 ? x : gain);
    status = gradients[i] != NULL ? RP_OK : rp_last_status();
    out[i] = gradients[i] != NULL ? rp_tensor_data(gradients[i]) : NULL;
  }
  if (status == RP_OK)
    status = rp_kernels(x->dtype)->layer_norm_gradient(
        rows, n, rp_tensor_data(x), rp_tensor_data(gain),
        mean != NULL ? rp_tensor_data(mean) : NULL, rp_tensor_data(node->saved[2]),
        rp_tensor_data(packed), out[0], out[1], out[2]);
  rp_tensor_release(packed);
  return status;
}

static RpStatus check_input(const char *function, const RpTensor *x, double epsilon)
{
  if (!rp_dtype_is_float(x->dtype) || x->rank == 0 || x->shape[x->rank - 1] == 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "%s: x: expected floats [..., d] with d of at least 1, got %s %s", function,
                   rp_dtype_name(x->dtype), rp_tensor_shape_text(x));
  if (!(epsilon >= 0 && epsilon < 1e300))
    return rp_fail(RP_BAD_ARGUMENT, "%s: epsilon: expected a number >= 0, got %g", function,
                   epsilon);
  return RP_OK;
}

static RpStatus check_parameter(const char *function, const char *name, const RpTensor *parameter,
                                const RpTensor *x)
{
  const int64_t n = x->shape[x->rank - 1];
  if (parameter->rank == 1 && parameter->shape[0] == n && parameter->dtype == x->dtype)
    return RP_OK;
  return rp_fail(RP_BAD_ARGUMENT, "%s: %s: expected %s [%lld] for x of shape %s, got %s %s",
                 function, name, rp_dtype_name(x->dtype), (long long)n, rp_tensor_shape_text(x),
                 rp_dtype_name(parameter->dtype), rp_tensor_shape_text(parameter));
}

/* Without a bias, the mean is not subtracted. */
static RpTensor *norm(const RpNodeType *type, RpTensor *x, RpTensor *gain, RpTensor *bias,
                      double epsilon)
{
  if (check_input(type->name, x, epsilon) != RP_OK ||
      check_parameter(type->name, "gain", gain, x) != RP_OK ||
      (bias != NULL && check_parameter(type->name, "bias", bias, x) != RP_OK))
    return NULL;
  const int64_t n = gain->shape[0], rows = rp_tensor_count(x) / n;
  const int inputs = bias != NULL ? 3 : 2;
  RpTensor *in[3] = {rp_tensor_contiguous(x), rp_tensor_contiguous(gain),
                     bias != NULL ? rp_tensor_contiguous(bias) : NULL};
  RpTensor *rstd = rp_tensor_new(x->dtype, 1, &rows);
  RpTensor *mean = bias != NULL ? rp_tensor_new(x->dtype, 1, &rows) : NULL;
  RpTensor *y = rp_tensor_new(x->dtype, x->rank, x->shape);
  bool ready = rstd != NULL && y != NULL && (bias == NULL || mean != NULL);
  void *data[3] = {NULL};
  for (int i = 0; i < inputs; i++) {
    ready = ready && in[i] != NULL;
    data[i] = in[i] != NULL ? rp_tensor_data(in[i]) : NULL;
  }
  RpStatus status = RP_OUT_OF_MEMORY;
  if (ready)
    status = rp_kernels(x->dtype)->layer_norm(
        rows, n, epsilon, data[0], data[1], data[2], rp_tensor_data(y),
        mean != NULL ? rp_tensor_data(mean) : NULL, rp_tensor_data(rstd));
  y = rp_graph_record(type, rp_tensor_unless_failed(status, y), inputs,
                      (RpTensor *[]){x, gain, bias}, 4, (RpTensor *[]){in[0], in[1], rstd, mean});
  for (int i = 0; i < 3; i++)
    rp_tensor_release(in[i]);
  rp_tensor_release(mean);
  rp_tensor_release(rstd);
  return y;
}

RpTensor *rp_op_layer_norm(RpTensor *x, RpTensor *gain, RpTensor *bias, double epsilon)
{
  static const RpNodeType type = {"layer_norm", backward, NULL};
  return norm(&type, x, gain, bias, epsilon);
}

RpTensor *rp_op_rms_norm(RpTensor *x, RpTensor *gain, double epsilon)
{
  static const RpNodeType type = {"rms_norm", backward, NULL};
  return norm(&type, x, gain, NULL, epsilon);
}
