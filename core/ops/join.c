/* Concatenation along an axis. */
#include "core/ops/ops.h"
#include "core/tensor/copy.h"

static RpStatus concatenate_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const int axis = (int)node->integers[0];
  int64_t start = 0;
  for (int i = 0; i < node->input_count; i++) {
    const int64_t size = node->edges[i].shape[axis];
    if (rp_node_wants(node, i)) {
      gradients[i] = rp_tensor_narrow(dy, axis, start, size);
      if (gradients[i] == NULL)
        return rp_last_status();
    }
    start += size;
  }
  return RP_OK;
}

static RpStatus joined_shape(int count, RpTensor *const *x, int axis, int64_t *shape)
{
  for (int i = 0; i < x[0]->rank; i++)
    shape[i] = x[0]->shape[i];
  for (int n = 1; n < count; n++) {
    bool fits = x[n]->rank == x[0]->rank && x[n]->dtype == x[0]->dtype;
    for (int i = 0; fits && i < x[n]->rank; i++)
      fits = i == axis || x[n]->shape[i] == shape[i];
    if (!fits)
      return rp_fail(RP_BAD_ARGUMENT,
                     "cat: along axis %d, expected %s tensors like %s, got %s %s as element %d%s",
                     axis + 1, rp_dtype_name(x[0]->dtype), rp_tensor_shape_text(x[0]),
                     rp_dtype_name(x[n]->dtype), rp_tensor_shape_text(x[n]), n + 1,
                     x[n]->dtype == x[0]->dtype ? "" : "; convert one with :to()");
    if (__builtin_add_overflow(shape[axis], x[n]->shape[axis], &shape[axis]))
      return rp_fail(RP_BAD_ARGUMENT, "cat: the size of axis %d would overflow", axis + 1);
  }
  return RP_OK;
}

RpTensor *rp_op_concatenate(int count, RpTensor *const *x, int axis)
{
  static const RpNodeType type = {"cat", concatenate_backward, NULL};
  int64_t shape[RP_MAX_RANK], start = 0;
  if (joined_shape(count, x, axis, shape) != RP_OK)
    return NULL;
  RpTensor *y = rp_tensor_new(x[0]->dtype, x[0]->rank, shape);
  for (int n = 0; y != NULL && n < count; n++)
    y->is_mask = (n == 0 || y->is_mask) && x[n]->is_mask;
  for (int n = 0; y != NULL && n < count; n++) {
    RpTensor *part = rp_tensor_narrow(y, axis, start, x[n]->shape[axis]);
    RpStatus status = part != NULL ? rp_tensor_copy_elements(x[n], part) : RP_OUT_OF_MEMORY;
    rp_tensor_release(part);
    start += x[n]->shape[axis];
    y = rp_tensor_unless_failed(status, y);
  }
  y = rp_graph_record(&type, y, count, x, 0, NULL);
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = axis;
  return y;
}
