/* Reductions and the cumulative sum. */
#include "core/tensor/reduce.h"

#include "core/ops/ops.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

/* dy with the reduced axis restored as size 1, then broadcast to the input's shape. */
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

/* Scatter dy to the saved indices. */
static RpStatus extremum_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  gradients[0] =
      rp_tensor_scatter(input->rank, input->shape, (int)node->integers[0], node->saved[0], dy);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_reduce(RpReduction op, RpTensor *x, int axis, bool keep)
{
  static const RpNodeType types[] = {[RP_SUM] = {"sum", sum_backward, NULL},
                                     [RP_MEAN] = {"mean", sum_backward, NULL},
                                     [RP_MAX] = {"max", extremum_backward, NULL},
                                     [RP_MIN] = {"min", extremum_backward, NULL}};
  const bool sums = op == RP_SUM || op == RP_MEAN;
  RpTensor *index = NULL;
  const bool needs_index = !sums && rp_graph_records(1, &x);
  RpTensor *y = rp_tensor_reduce(op, x, axis, keep, needs_index ? &index : NULL);
  if (sums && x->dtype == RP_INT32)
    return y;
  y = rp_graph_record(&types[op], y, 1, (RpTensor *[]){x}, needs_index ? 1 : 0,
                      (RpTensor *[]){index});
  rp_tensor_release(index);
  if (y != NULL && y->node != NULL) {
    const int64_t n = axis == RP_ALL_AXES ? rp_tensor_count(x) : x->shape[axis];
    y->node->integers[0] = axis;
    y->node->numbers[0] = op == RP_MEAN ? 1.0 / (double)n : 1;
  }
  return y;
}

RpTensor *rp_op_reduce_axes(RpReduction op, RpTensor *x, const bool *axes, bool keep)
{
  int order[RP_MAX_RANK], first = 0, place = 0, kept = 0;
  int64_t merged[RP_MAX_RANK], shape[RP_MAX_RANK], size = 1;
  while (!axes[first])
    first++;
  for (int i = 0; i < x->rank; i++) { /* move the reduced axes together, to the first */
    if (!axes[i])
      merged[kept++ + (i > first)] = x->shape[i];
    size *= axes[i] ? x->shape[i] : 1;
    shape[i] = axes[i] ? 1 : x->shape[i];
  }
  for (int group = 0; group < 3; group++)
    for (int i = 0; i < x->rank; i++)
      if (group == (axes[i] ? 1 : i < first ? 0 : 2))
        order[place++] = i;
  merged[first] = size;
  RpTensor *moved = rp_op_permute(x, order);
  RpTensor *joined = moved != NULL ? rp_op_reshape(moved, kept + 1, merged) : NULL;
  RpTensor *y = joined != NULL ? rp_op_reduce(op, joined, first, false) : NULL;
  rp_tensor_release(moved);
  rp_tensor_release(joined);
  if (y == NULL || !keep)
    return y;
  RpTensor *whole = rp_op_reshape(y, x->rank, shape);
  rp_tensor_release(y);
  return whole;
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
