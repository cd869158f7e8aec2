/* Softmax and its logarithm along an axis. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

/* A view of x with `axis` and the last axis swapped, because kernels work along the last. */
static RpTensor *axis_last(const RpTensor *x, int axis)
{
  int order[RP_MAX_RANK];
  for (int i = 0; i < x->rank; i++)
    order[i] = i == axis ? x->rank - 1 : i == x->rank - 1 ? axis : i;
  return rp_tensor_permute(x, order);
}

/* The same as a packed tensor. */
static RpTensor *packed_axis_last(const RpTensor *x, int axis)
{
  RpTensor *view = axis_last(x, axis);
  RpTensor *packed = view != NULL ? rp_tensor_contiguous(view) : NULL;
  rp_tensor_release(view);
  return packed;
}

/* `packed` with its axes in the original order; releases `packed`. */
static RpTensor *restore(RpTensor *packed, int axis)
{
  RpTensor *y = packed != NULL ? axis_last(packed, axis) : NULL;
  rp_tensor_release(packed);
  return y;
}

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const int axis = (int)node->integers[0];
  RpTensor *y = packed_axis_last(node->saved[0], axis), *packed_dy = packed_axis_last(dy, axis);
  RpTensor *dx = y != NULL && packed_dy != NULL ? rp_tensor_new_like(y) : NULL;
  if (dx != NULL) {
    const int64_t n = y->shape[y->rank - 1];
    RpStatus status = rp_kernels(y->dtype)->softmax_gradient(
        node->integers[1] != 0, n > 0 ? rp_tensor_count(y) / n : 0, n, rp_tensor_data(y),
        rp_tensor_data(packed_dy), rp_tensor_data(dx));
    gradients[0] = restore(rp_tensor_unless_failed(status, dx), axis);
  }
  rp_tensor_release(y);
  rp_tensor_release(packed_dy);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_softmax(RpTensor *x, int axis, bool logarithm)
{
  static const RpNodeType type = {"softmax", backward, NULL};
  if (!rp_dtype_is_float(x->dtype) || x->rank == 0)
    return rp_refuse(RP_BAD_ARGUMENT, "softmax: expected floats of at least one axis, got %s %s",
                     rp_dtype_name(x->dtype), rp_tensor_shape_text(x));
  RpTensor *packed = packed_axis_last(x, axis);
  RpTensor *y = packed != NULL ? rp_tensor_new_like(packed) : NULL;
  if (y != NULL) {
    const int64_t n = y->shape[y->rank - 1];
    RpStatus status = rp_kernels(x->dtype)->softmax(logarithm, n > 0 ? rp_tensor_count(y) / n : 0,
                                                    n, rp_tensor_data(packed), rp_tensor_data(y));
    y = restore(rp_tensor_unless_failed(status, y), axis);
  }
  rp_tensor_release(packed);
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 1, (RpTensor *[]){y});
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = axis;
    y->node->integers[1] = logarithm;
  }
  return y;
}
