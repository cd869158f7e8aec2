/* Rotation by positions or by given angles; its backward is the inverse rotation. */
#include "core/ops/attention.h"

#include <string.h>

#include "core/tensor/copy.h"
#include "core/tensor/create.h"

/* True if time comes before heads in memory, in which case results are stored in this order too. */
static bool is_time_major(const RpTensor *x)
{
  return x->rank == 4 && x->strides[1] < x->strides[2];
}

static RpTensor *new_laid_out_as(const RpTensor *x)
{
  return is_time_major(x) ? rp_heads_time_major(x->dtype, x->shape) : rp_tensor_new_like(x);
}

/* The sizes of batch, heads, time and features. */
static void sizes_of(const RpTensor *x, int64_t *sizes)
{
  for (int i = 1; i <= 4; i++)
    sizes[4 - i] = i <= x->rank ? x->shape[x->rank - i] : 1;
}

/* Rotate by a given table. */
static RpTensor *rotate_by(RpTensor *x, const RpTable *table, bool back)
{
  RpTensor *operand = rp_heads_operand(x);
  RpTensor *y = operand != NULL ? new_laid_out_as(operand) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    const RpHeads from = rp_heads_of(operand), to = rp_heads_of(y);
    int64_t s[4];
    sizes_of(x, s);
    RpStatus status = rp_kernels(x->dtype)->rotate(table, back, s[0], s[1], s[2], s[3], &from, &to);
    y = rp_tensor_unless_failed(status, y);
  }
  rp_tensor_release(operand);
  return y;
}

/* integers: back, pairs, interleaved, batch stride, first; saved: cosine, sine */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTable table = {.pairs = node->integers[1],
                   .interleaved = node->integers[2] != 0,
                   .batch_stride = node->integers[3],
                   .time_stride = node->integers[1],
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

/* Angles in float64, packed in their own order of heads and time. */
static RpTensor *pack_angles(RpTensor *angle)
{
  RpTensor *view = is_time_major(angle) ? rp_tensor_permute(angle, (const int[]){0, 2, 1, 3})
                                        : rp_tensor_retain(angle);
  RpTensor *packed = NULL;
  if (view != NULL)
    packed = view->dtype == RP_FLOAT64 ? rp_tensor_contiguous(view)
                                       : rp_tensor_convert(view, RP_FLOAT64);
  rp_tensor_release(view);
  return packed;
}

/* Cosines and sines of angles, [2, count], in `dtype`; kept in the storage of the angles. */
static RpTensor *cosines_and_sines(RpTensor *angle, RpDtype dtype)
{
  RpTensor *kept = rp_tensor_derived(angle);
  if (kept != NULL && kept->dtype == dtype)
    return rp_tensor_retain(kept);
  const int64_t shape[] = {2, rp_tensor_count(angle)};
  RpTensor *packed = pack_angles(angle);
  RpTensor *both = packed != NULL ? rp_tensor_new(dtype, 2, shape) : NULL;
  if (both != NULL) {
    char *cosine = rp_tensor_data(both);
    RpStatus status =
        rp_kernels(dtype)->cosine_sine(shape[1], rp_tensor_data(packed), cosine,
                                       cosine + shape[1] * (int64_t)rp_dtype_size(dtype));
    both = rp_tensor_unless_failed(status, both);
  }
  rp_tensor_release(packed);
  if (both != NULL)
    rp_tensor_keep_derived(angle, both);
  return both;
}

/* The table of `both` for angles of these sizes. */
static RpTable table_of(const RpTensor *both, const int64_t *sizes, bool time_major)
{
  const char *cosine = rp_tensor_data(both);
  const int64_t heads = sizes[1], time = sizes[2], pairs = sizes[3];
  return (RpTable){.cosine = cosine,
                   .sine = cosine + both->shape[1] * (int64_t)rp_dtype_size(both->dtype),
                   .batch_stride = sizes[0] > 1 ? heads * time * pairs : 0,
                   .head_stride = heads == 1   ? 0
                                  : time_major ? pairs
                                               : time * pairs,
                   .time_stride = time_major ? heads * pairs : pairs,
                   .pairs = pairs};
}

/* The gradient of the angles in float64; that of x is written to dx unless that is NULL. */
static RpTensor *angle_gradient(const RpNode *node, const RpTable *table, RpTensor *dy,
                                RpTensor *dx)
{
  const RpTensor *y = node->saved[1];
  if (rp_tensor_count(y) == 0)
    return rp_tensor_full(RP_FLOAT64, node->edges[1].rank, node->edges[1].shape, 0);
  RpTensor *dangle = node->integers[6] != 0
                         ? rp_heads_time_major(RP_FLOAT64, node->edges[1].shape)
                         : rp_tensor_new(RP_FLOAT64, node->edges[1].rank, node->edges[1].shape);
  if (dangle == NULL)
    return NULL;
  const RpHeads result = rp_heads_of(y), gradient = rp_heads_of(dy);
  const RpHeads to = dx != NULL ? rp_heads_of(dx) : (RpHeads){0};
  int64_t s[4];
  sizes_of(y, s);
  return rp_tensor_unless_failed(rp_kernels(y->dtype)->rotate_gradient(
                                     table, node->integers[0] != 0, s[0], s[1], s[2], s[3], &result,
                                     &gradient, dx != NULL ? &to : NULL, rp_tensor_data(dangle)),
                                 dangle);
}

/* integers: back, batch, heads, time and pairs of the angles, their dtype, are they time-major;
   saved: cosines and sines, and y if the angles need a gradient */
static RpStatus by_angle_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpTable table = table_of(node->saved[0], node->integers + 1, node->integers[6] != 0);
  if (!rp_node_wants(node, 1)) {
    gradients[0] = rotate_by(dy, &table, node->integers[0] == 0);
    return gradients[0] != NULL ? RP_OK : rp_last_status();
  }
  const RpDtype dtype = (RpDtype)node->integers[5];
  RpTensor *operand = rp_heads_operand(dy), *dangle = NULL;
  if (operand != NULL && rp_node_wants(node, 0))
    gradients[0] = new_laid_out_as(operand);
  if (operand != NULL && (gradients[0] != NULL || !rp_node_wants(node, 0)))
    dangle = angle_gradient(node, &table, operand, gradients[0]);
  rp_tensor_release(operand);
  gradients[1] = dangle == NULL || dtype == RP_FLOAT64 ? dangle : rp_tensor_convert(dangle, dtype);
  if (gradients[1] != dangle)
    rp_tensor_release(dangle);
  return gradients[1] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_rotate_by(RpTensor *x, RpTensor *angle, bool back)
{
  static const RpNodeType type = {"rotate", by_angle_backward, NULL};
  int64_t of_x[4], of_angle[4];
  bool fits = x->rank >= 1 && x->rank <= 4 && angle->rank >= 1 && angle->rank <= x->rank;
  if (fits) {
    sizes_of(x, of_x);
    sizes_of(angle, of_angle);
    for (int i = 0; i < 2; i++)
      fits &= of_angle[i] == of_x[i] || of_angle[i] == 1;
    fits &= of_angle[2] == of_x[2] && of_angle[3] <= of_x[3] / 2;
  }
  if (!fits || !rp_dtype_is_float(x->dtype) || !rp_dtype_is_float(angle->dtype))
    return rp_refuse(RP_BAD_ARGUMENT,
                     "rotate: expected floats x [batch, heads, time, features] and angles [1 or "
                     "batch, 1 or heads, time, pairs] with at most features / 2 pairs, got %s %s "
                     "and %s %s",
                     rp_dtype_name(x->dtype), rp_tensor_shape_text(x), rp_dtype_name(angle->dtype),
                     rp_tensor_shape_text(angle));
  RpTensor *both = cosines_and_sines(angle, x->dtype), *y = NULL;
  if (both != NULL) {
    const RpTable table = table_of(both, of_angle, is_time_major(angle));
    RpTensor *const inputs[] = {x, angle};
    y = rotate_by(x, &table, back);
    y = rp_graph_record(&type, y, 2, inputs, 2,
                        (RpTensor *[]){both, rp_graph_records(1, inputs + 1) ? y : NULL});
  }
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = back;
    memcpy(y->node->integers + 1, of_angle, sizeof of_angle);
    y->node->integers[5] = angle->dtype;
    y->node->integers[6] = is_time_major(angle);
  }
  rp_tensor_release(both);
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
