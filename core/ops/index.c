/* Indexing: gather, index tensors and masks, and rows of a table (embedding). */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"
#include "core/tensor/index.h"
#include "core/tensor/reduce.h"

static RpStatus gather_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  gradients[0] =
      rp_tensor_scatter(input->rank, input->shape, (int)node->integers[0], node->saved[0], dy);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

static RpStatus check_gather_shapes(const RpTensor *x, int axis, const RpTensor *index)
{
  bool fits = index->rank == x->rank;
  for (int i = 0; fits && i < x->rank; i++)
    fits = i == axis || index->shape[i] == x->shape[i];
  if (fits)
    return RP_OK;
  return rp_fail(RP_BAD_ARGUMENT, "gather: expected an index of shape %s except on axis %d, got %s",
                 rp_tensor_shape_text(x), axis + 1, rp_tensor_shape_text(index));
}

RpTensor *rp_op_gather(RpTensor *x, int axis, RpTensor *index, int first)
{
  static const RpNodeType type = {"gather", gather_backward, NULL};
  if (check_gather_shapes(x, axis, index) != RP_OK)
    return NULL;
  RpTensor *indices = rp_tensor_places_from_0("gather", index, first, x->shape[axis]);
  RpTensor *packed = indices != NULL ? rp_tensor_contiguous(x) : NULL;
  RpTensor *y = packed != NULL ? rp_tensor_new(x->dtype, index->rank, index->shape) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    const RpSplit at = rp_split_at(x->rank, x->shape, axis);
    RpStatus status = rp_kernels(x->dtype)->gather(at.outer, at.size, index->shape[axis], at.inner,
                                                   rp_tensor_data(packed), rp_tensor_data(indices),
                                                   rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  if (y != NULL)
    y->is_mask = x->is_mask;
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 1, (RpTensor *[]){indices});
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = axis;
  rp_tensor_release(packed);
  rp_tensor_release(indices);
  return y;
}

static RpStatus take_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  gradients[0] = rp_tensor_add_at(input->rank, input->shape, (int)node->integers[0],
                                  (int)node->integers[1], node->saved[0], dy);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

/* The rows of x at `rows`; releases `rows`. NULL if `rows` is NULL. */
static RpTensor *take(const RpNodeType *type, RpTensor *x, int axis, int axes, RpTensor *rows)
{
  RpTensor *y = rows != NULL ? rp_tensor_take(x, axis, axes, rows) : NULL;
  y = rp_graph_record(type, y, 1, (RpTensor *[]){x}, 1, (RpTensor *[]){rows});
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = axis;
    y->node->integers[1] = axes;
  }
  rp_tensor_release(rows);
  return y;
}

RpTensor *rp_op_index(RpTensor *x, int axis, int count, RpTensor *const *keys)
{
  static const RpNodeType type = {"index", take_backward, NULL};
  int axes;
  RpTensor *rows = rp_tensor_rows_of(x, axis, count, keys, &axes);
  return rows != NULL ? take(&type, x, axis, axes, rows) : NULL;
}

RpTensor *rp_op_index_select(RpTensor *x, int axis, RpTensor *index)
{
  static const RpNodeType type = {"index_select", take_backward, NULL};
  return take(&type, x, axis, 1, rp_tensor_places_from_0(type.name, index, 1, x->shape[axis]));
}

RpTensor *rp_op_embedding(RpTensor *table, RpTensor *index)
{
  static const RpNodeType type = {"embedding", take_backward, NULL};
  if (table->rank != 2 || index->rank >= RP_MAX_RANK)
    return rp_refuse(
        RP_BAD_ARGUMENT,
        "embedding: expected a table [n, d] and an index of fewer than 8 axes, got %s and %s",
        rp_tensor_shape_text(table), rp_tensor_shape_text(index));
  return take(&type, table, 0, 1, rp_tensor_places_from_0(type.name, index, 0, table->shape[0]));
}
