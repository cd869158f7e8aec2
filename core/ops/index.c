/* Reading by index: gather along an axis, and rows of a table (embedding). */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

/* Is every index within 0 .. size - 1? */
static RpStatus check_index(const char *name, const RpTensor *index, int64_t size)
{
  const int32_t *value = rp_tensor_data(index);
  const int64_t count = rp_tensor_count(index);
  for (int64_t i = 0; i < count; i++)
    if (value[i] < 0 || value[i] >= size)
      return rp_fail(RP_BAD_ARGUMENT, "%s: expected indices from 0 to %lld, got %d at place %lld",
                     name, (long long)size - 1, value[i], (long long)i + 1);
  return RP_OK;
}

/* The index packed and checked; NULL on failure. */
static RpTensor *packed_index(const char *name, RpTensor *index, int64_t size)
{
  if (index->dtype != RP_INT32) {
    rp_fail(RP_BAD_ARGUMENT, "%s: expected an int32 index, got %s", name,
            rp_dtype_name(index->dtype));
    return NULL;
  }
  RpTensor *packed = rp_tensor_contiguous(index);
  if (packed != NULL && check_index(name, packed, size) != RP_OK) {
    rp_tensor_release(packed);
    return NULL;
  }
  return packed;
}

static void split(const RpEdge *x, int axis, int64_t *outer, int64_t *inner)
{
  *outer = *inner = 1;
  for (int i = 0; i < x->rank; i++)
    if (i != axis)
      *(i < axis ? outer : inner) *= x->shape[i];
}

static RpStatus gather_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  const int axis = (int)node->integers[0];
  int64_t outer, inner;
  split(input, axis, &outer, &inner);
  RpTensor *packed = rp_tensor_contiguous(dy);
  if (packed != NULL)
    gradients[0] = rp_tensor_full(dy->dtype, input->rank, input->shape, 0);
  RpStatus status = gradients[0] != NULL ? RP_OK : rp_last_status();
  if (status == RP_OK && rp_tensor_count(dy) > 0)
    status = rp_kernels(dy->dtype)->scatter_add(
        outer, input->shape[axis], dy->shape[axis], inner, rp_tensor_data(packed),
        rp_tensor_data(node->saved[0]), rp_tensor_data(gradients[0]));
  rp_tensor_release(packed);
  return status;
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

RpTensor *rp_op_gather(RpTensor *x, int axis, RpTensor *index)
{
  static const RpNodeType type = {"gather", gather_backward, NULL};
  if (check_gather_shapes(x, axis, index) != RP_OK)
    return NULL;
  RpTensor *places = packed_index("gather", index, x->shape[axis]);
  RpTensor *packed = places != NULL ? rp_tensor_contiguous(x) : NULL;
  RpTensor *y = packed != NULL ? rp_tensor_new(x->dtype, index->rank, index->shape) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    RpEdge edge = {.rank = x->rank};
    int64_t outer, inner;
    for (int i = 0; i < x->rank; i++)
      edge.shape[i] = x->shape[i];
    split(&edge, axis, &outer, &inner);
    RpStatus status = rp_kernels(x->dtype)->gather(outer, x->shape[axis], index->shape[axis], inner,
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
  if (table->rank != 2 || index->rank >= RP_MAX_RANK) {
    rp_fail(RP_BAD_ARGUMENT,
            "embedding: expected a table [n, d] and an index of fewer than 8 axes, got %s and %s",
            rp_tensor_shape_text(table), rp_tensor_shape_text(index));
    return NULL;
  }
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i < index->rank; i++)
    shape[i] = index->shape[i];
  shape[index->rank] = table->shape[1];
  RpTensor *places = packed_index("embedding", index, table->shape[0]);
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
