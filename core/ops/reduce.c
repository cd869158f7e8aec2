/* Reductions and the running sum. */
#include "core/tensor/reduce.h"

#include "core/ops/ops.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

/* dy with the reduced axis put back as size 1, then broadcast to the input's shape. */
static RpTensor *spread(const RpNode *node, const RpTensor *dy)
{
  const RpEdge *input = &node->edges[0];
  const int axis = (int)node->integers[0];
  int64_t shape[RP_MAX_RANK], strides[RP_MAX_RANK];
  int own = 0;
  const bool kept = dy->rank == input->rank && dy->rank > 0;
  for (int i = 0; i < input->rank; i++) {
    const bool reduced = axis == RP_ALL_AXES || i == axis;
    shape[i] = reduced ? 1 : dy->shape[kept ? i : own];
    strides[i] = reduced ? 0 : dy->strides[kept ? i : own];
    own += !reduced;
  }
  RpTensor *unit = rp_tensor_view(dy, input->rank, shape, strides, dy->offset);
  RpTensor *whole = unit != NULL ? rp_tensor_broadcast(unit, input->rank, input->shape) : NULL;
  rp_tensor_release(unit);
  return whole;
}

static RpStatus sum_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *whole = spread(node, dy);
  if (whole == NULL)
    return rp_last_status();
  RpTensor *scale = rp_tensor_full(dy->dtype, 0, NULL, node->numbers[0]);
  if (scale != NULL)
    gradients[0] = rp_tensor_binary(RP_MULTIPLY, whole, scale);
  rp_tensor_release(whole);
  rp_tensor_release(scale);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

/* Put dy at the saved places. */
static RpStatus extremum_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  const int axis = (int)node->integers[0];
  int64_t outer = 1, size = 1, inner = 1;
  for (int i = 0; i < input->rank; i++) {
    int64_t *part = axis == RP_ALL_AXES || i == axis ? &size : i < axis ? &outer : &inner;
    *part *= input->shape[i];
  }
  RpTensor *packed = rp_tensor_contiguous(dy);
  if (packed != NULL)
    gradients[0] = rp_tensor_full(dy->dtype, input->rank, input->shape, 0);
  RpStatus status = rp_last_status();
  if (gradients[0] != NULL)
    status = rp_kernels(dy->dtype)->scatter_add(outer, size, 1, inner, rp_tensor_data(packed),
                                                rp_tensor_data(node->saved[0]),
                                                rp_tensor_data(gradients[0]));
  rp_tensor_release(packed);
  return status;
}

RpTensor *rp_op_reduce(RpReduction op, RpTensor *x, int axis, bool keep)
{
  static const RpNodeType types[] = {[RP_SUM] = {"sum", sum_backward, NULL},
                                     [RP_MEAN] = {"mean", sum_backward, NULL},
                                     [RP_MAX] = {"max", extremum_backward, NULL},
                                     [RP_MIN] = {"min", extremum_backward, NULL}};
  const bool sums = op == RP_SUM || op == RP_MEAN;
  RpTensor *index = NULL;
  const bool places = !sums && rp_graph_records(1, &x);
  RpTensor *y = rp_tensor_reduce(op, x, axis, keep, places ? &index : NULL);
  if (sums && x->dtype == RP_INT32)
    return y;
  y = rp_graph_record(&types[op], y, 1, (RpTensor *[]){x}, places ? 1 : 0, (RpTensor *[]){index});
  rp_tensor_release(index);
  if (y != NULL && y->node != NULL) {
    const int64_t n = axis == RP_ALL_AXES ? rp_tensor_count(x) : x->shape[axis];
    y->node->integers[0] = axis;
    y->node->numbers[0] = op == RP_MEAN ? 1.0 / (double)n : 1;
  }
  return y;
}

static RpStatus cumulative_sum_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] = rp_tensor_cumulate(dy, (int)node->integers[0], true);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_cumulative_sum(RpTensor *x, int axis)
{
  static const RpNodeType type = {"cumsum", cumulative_sum_backward, NULL};
  RpTensor *y = rp_tensor_cumulate(x, axis, false);
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 0, NULL);
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = axis;
  return y;
}
