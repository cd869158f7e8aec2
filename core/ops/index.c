/* Reading by index: gather along an axis, and rows of a table (embedding). */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"
#include "core/tensor/reduce.h"

/* The index packed, checked and counted from 0 instead of `first`; NULL on failure. */
static RpTensor *packed_index(const char *name, RpTensor *index, int first, int64_t size)
{
  if (index->dtype != RP_INT32)
    return rp_refuse(RP_BAD_ARGUMENT, "%s: expected an int32 index, got %s", name,
                     rp_dtype_name(index->dtype));
  RpTensor *packed = first == 0 ? rp_tensor_contiguous(index) : rp_tensor_convert(index, RP_INT32);
  if (packed == NULL)
    return NULL;
  int32_t *value = rp_tensor_data(packed);
  for (int64_t i = 0; i < rp_tensor_count(packed); i++) {
    if (value[i] < first || value[i] >= size + first) {
      rp_fail(RP_BAD_ARGUMENT, "%s: expected indices from %d to %lld, got %d at place %lld", name,
              first, (long long)size - 1 + first, value[i], (long long)i + 1);
      rp_tensor_release(packed);
      return NULL;
    }
    if (first != 0)
      value[i] -= first;
  }
  return packed;
}

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
  return rp_fail(RP_BAD_ARGUMENT, "gather: expected an index like %s but for axis %d, got %s",
                 rp_tensor_shape_text(x), axis + 1, rp_tensor_shape_text(index));
}

RpTensor *rp_op_gather(RpTensor *x, int axis, RpTensor *index, int first)
{
  static const RpNodeType type = {"gather", gather_backward, NULL};
  if (check_gather_shapes(x, axis, index) != RP_OK)
    return NULL;
  RpTensor *places = packed_index("gather", index, first, x->shape[axis]);
  RpTensor *packed = places != NULL ? rp_tensor_contiguous(x) : NULL;
  RpTensor *y = packed != NULL ? rp_tensor_new(x->dtype, index->rank, index->shape) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    const RpSplit at = rp_split_at(x->rank, x->shape, axis);
    RpStatus status = rp_kernels(x->dtype)->gather(at.outer, at.size, index->shape[axis], at.inner,
                                                   rp_tensor_data(packed), rp_tensor_data(places),
                                                   rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 1, (RpTensor *[]){places});
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = axis;
  rp_tensor_release(packed);
  rp_tensor_release(places);
  return y;
}

static RpStatus embedding_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *table = &node->edges[0];
  RpTensor *index = node->saved[0], *packed = rp_tensor_contiguous(dy);
  if (packed != NULL)
    gradients[0] = rp_tensor_full(dy->dtype, 2, table->shape, 0);
  RpStatus status = rp_last_status();
  if (gradients[0] != NULL)
    status = rp_kernels(dy->dtype)->add_to_rows(rp_tensor_count(index), table->shape[1],
                                                rp_tensor_data(packed), rp_tensor_data(index),
                                                rp_tensor_data(gradients[0]));
  rp_tensor_release(packed);
  return status;
}

RpTensor *rp_op_embedding(RpTensor *table, RpTensor *index)
{
  static const RpNodeType type = {"embedding", embedding_backward, NULL};
  if (table->rank != 2 || index->rank >= RP_MAX_RANK)
    return rp_refuse(
        RP_BAD_ARGUMENT,
        "embedding: expected a table [n, d] and an index of fewer than 8 axes, got %s and %s",
        rp_tensor_shape_text(table), rp_tensor_shape_text(index));
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i < index->rank; i++)
    shape[i] = index->shape[i];
  shape[index->rank] = table->shape[1];
  RpTensor *places = packed_index("embedding", index, 0, table->shape[0]);
  RpTensor *packed = places != NULL ? rp_tensor_contiguous(table) : NULL;
  RpTensor *y = packed != NULL ? rp_tensor_new(table->dtype, index->rank + 1, shape) : NULL;
  if (y != NULL) {
    RpStatus status =
        rp_kernels(table->dtype)
            ->take_rows(rp_tensor_count(places), table->shape[1], rp_tensor_data(packed),
                        rp_tensor_data(places), rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){table}, 1, (RpTensor *[]){places});
  rp_tensor_release(packed);
  rp_tensor_release(places);
  return y;
}
