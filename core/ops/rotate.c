/* Rotation; its backward is the inverse rotation. */
#include "core/ops/attention.h"

#include "core/tensor/copy.h"
#include "core/tensor/create.h"

/* Rotate by a given table. */
static RpTensor *rotate_by(RpTensor *x, const RpTable *table, bool back)
{
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *y = packed != NULL ? rp_tensor_new_like(packed) : NULL;
  if (y != NULL) {
    const RpHeads from = rp_heads_of(packed), to = rp_heads_of(y);
    int64_t s[4] = {1, 1, 1, 1}; /* batch, heads, time, features */
    for (int i = 0; i < x->rank; i++)
      s[4 - x->rank + i] = x->shape[i];
    RpStatus status = rp_kernels(x->dtype)->rotate(table, back, s[0], s[1], s[2], s[3], &from, &to);
    y = rp_tensor_unless_failed(status, y);
  }
  rp_tensor_release(packed);
  return y;
}

/* integers: back, pairs, interleaved, batch stride, first; saved: cosine, sine */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTable table = {.pairs = node->integers[1],
                   .interleaved = node->integers[2] != 0,
                   .batch_stride = node->integers[3],
                   .first = node->integers[4]};
  if (table.pairs > 0) {
    table.cosine = rp_tensor_data(node->saved[0]);
    table.sine = rp_tensor_data(node->saved[1]);
  }
  gradients[0] = rotate_by(dy, &table, node->integers[0] == 0);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_rotate(RpTensor *x, const RpRotary *rotary, unsigned part,
                       const RpPositions *positions, bool back)
{
  static const RpNodeType type = {"rotate", backward, NULL};
  if (x->rank < 1 || x->rank > 4 || !rp_dtype_is_float(x->dtype) ||
      x->shape[x->rank - 1] != rotary->dim)
    return rp_refuse(
        RP_BAD_ARGUMENT,
        "rotate: expected floats [batch, heads, time, features] with %lld features, got %s %s",
        (long long)rotary->dim, rp_dtype_name(x->dtype), rp_tensor_shape_text(x));
  RpRotaryTable table;
  const int64_t batch = x->rank > 3 ? x->shape[0] : 1,
                time = x->rank > 1 ? x->shape[x->rank - 2] : 1;
  if (rp_rotary_table(rotary, part, back, x->dtype, positions, batch, time, &table) != RP_OK)
    return NULL;
  RpTensor *y = rp_graph_record(&type, rotate_by(x, &table.table, back), 1, (RpTensor *[]){x}, 2,
                                (RpTensor *[]){table.cosine, table.sine});
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = back;
    y->node->integers[1] = table.table.pairs;
    y->node->integers[2] = rotary->interleaved;
    y->node->integers[3] = table.table.batch_stride;
    y->node->integers[4] = table.table.first;
  }
  rp_rotary_table_release(&table);
  return y;
}

RpTensor *rp_rotary_matrix(const RpRotary *rotary, const RpPositions *positions)
{
  RpTensor *unit = rp_tensor_eye(rotary->dim, RP_FLOAT64), *y = NULL;
  RpTensor *rotated = /* row i is R e_i, a column of R */
      unit != NULL ? rp_op_rotate(unit, rotary, RP_ROTATE_QUERY, positions, false) : NULL;
  if (rotated != NULL)
    y = rp_tensor_permute(rotated, (const int[]){1, 0});
  rp_tensor_release(unit);
  rp_tensor_release(rotated);
  return y;
}
