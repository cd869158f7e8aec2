#include "core/tensor/index.h"

#include "core/kernels/kernels.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"
#include "core/tensor/reduce.h"

RpTensor *rp_tensor_places_from_0(const char *name, RpTensor *index, int first, int64_t size)
{
  if (index->dtype != RP_INT32)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "%s: expected an int32 index, got %s; convert it with :to \"int32\"", name,
                     rp_dtype_name(index->dtype));
  RpTensor *packed = first == 0 ? rp_tensor_contiguous(index) : rp_tensor_convert(index, RP_INT32);
  if (packed == NULL)
    return NULL;
  int32_t *value = rp_tensor_data(packed);
  for (int64_t i = 0; i < rp_tensor_count(packed); i++) {
    if (value[i] < first || value[i] >= size + first) {
      rp_fail(RP_BAD_ARGUMENT, "%s: expected indices from %d to %lld, got %d as element %lld%s",
              name, first, (long long)size - 1 + first, value[i], (long long)i + 1,
              first == 1 && value[i] == 0 ? "; indices count from 1; x:ne(0) converts x to a mask"
                                          : "");
      rp_tensor_release(packed);
      return NULL;
    }
    if (first != 0)
      value[i] -= first;
  }
  return packed;
}

/* True if the sizes of the key are those of the axes of x from `axis` on. */
static bool covers(const RpTensor *key, const RpTensor *x, int axis)
{
  bool same = key->rank > 0 && key->rank <= x->rank - axis;
  for (int i = 0; same && i < key->rank; i++)
    same = key->shape[i] == x->shape[axis + i];
  return same;
}

/* The row-major indices, from 0, of the elements of a mask that are not 0. */
static RpTensor *indices_of_mask(RpTensor *mask)
{
  int64_t count = 0, at = 0;
  RpTensor *packed = rp_tensor_contiguous(mask);
  if (packed == NULL)
    return NULL;
  const int32_t *value = rp_tensor_data(packed);
  const int64_t size = rp_tensor_count(mask);
  for (int64_t i = 0; i < size; i++)
    count += value[i] != 0;
  RpTensor *indices = rp_tensor_new(RP_INT32, 1, &count);
  for (int64_t i = 0; indices != NULL && i < size; i++)
    if (value[i] != 0)
      ((int32_t *)rp_tensor_data(indices))[at++] = (int32_t)i;
  rp_tensor_release(packed);
  return indices;
}

/* rows * size + indices; releases both. NULL if `indices` is NULL or they do not broadcast. */
static RpTensor *combine_indices(RpTensor *rows, int64_t size, RpTensor *indices)
{
  int rank;
  int64_t shape[RP_MAX_RANK];
  const bool meet =
      indices != NULL && rp_broadcast_shape("index", rows, indices, &rank, shape) == RP_OK;
  RpTensor *scale = meet ? rp_tensor_full(RP_INT32, 0, NULL, (double)size) : NULL;
  RpTensor *scaled = scale != NULL ? rp_tensor_binary(RP_MULTIPLY, rows, scale) : NULL, *y = NULL;
  if (scaled != NULL)
    y = rp_tensor_binary(RP_ADD, scaled, indices);
  rp_tensor_release(scale);
  rp_tensor_release(scaled);
  rp_tensor_release(rows);
  rp_tensor_release(indices);
  return y;
}

RpTensor *rp_tensor_rows_of(const RpTensor *x, int axis, int count, RpTensor *const *keys,
                            int *axes)
{
  const bool is_mask = keys[0]->is_mask;
  for (int i = 1; i < count; i++)
    if (is_mask || keys[i]->is_mask)
      return rp_refuse(RP_BAD_ARGUMENT,
                       "index: expected a single mask or index tensors, got a mask and others");
  if (is_mask && !covers(keys[0], x, axis))
    return rp_refuse(RP_BAD_ARGUMENT,
                     "index: expected a mask in the shape of axes of %s from axis "
                     "%d on, got %s",
                     rp_tensor_shape_text(x), axis + 1, rp_tensor_shape_text(keys[0]));
  *axes = is_mask ? keys[0]->rank : count;
  if (rp_split_axes(x->rank, x->shape, axis, *axes).size > INT32_MAX)
    return rp_refuse(RP_BAD_ARGUMENT, "index: indices above 2147483647 do not fit int32");
  if (is_mask)
    return indices_of_mask(keys[0]);
  RpTensor *rows = NULL;
  for (int i = 0; i < count; i++) {
    RpTensor *indices = rp_tensor_places_from_0("index", keys[i], 1, x->shape[axis + i]);
    rows = i == 0 ? indices : combine_indices(rows, x->shape[axis + i], indices);
    if (rows == NULL)
      return NULL;
  }
  return rows;
}

/* Set *shape to `from` with the indexed axes replaced by those of `index`. Returns the rank, or -1
   for too many axes. */
static int shape_at(int rank, const int64_t *from, int axis, int axes, const RpTensor *index,
                    int64_t *shape)
{
  if (rank - axes + index->rank > RP_MAX_RANK) {
    rp_fail(RP_BAD_ARGUMENT, "index: expected a result of at most %d axes, got %d", RP_MAX_RANK,
            rank - axes + index->rank);
    return -1;
  }
  int at = 0;
  for (int i = 0; i < axis; i++)
    shape[at++] = from[i];
  for (int i = 0; i < index->rank; i++)
    shape[at++] = index->shape[i];
  for (int i = axis + axes; i < rank; i++)
    shape[at++] = from[i];
  return at;
}

RpTensor *rp_tensor_take(RpTensor *x, int axis, int axes, const RpTensor *index)
{
  int64_t shape[RP_MAX_RANK];
  const int rank = shape_at(x->rank, x->shape, axis, axes, index, shape);
  RpTensor *packed = rank >= 0 ? rp_tensor_contiguous(x) : NULL;
  RpTensor *y = packed != NULL ? rp_tensor_new(x->dtype, rank, shape) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    const RpSplit at = rp_split_axes(x->rank, x->shape, axis, axes);
    y = rp_tensor_unless_failed(
        rp_kernels(x->dtype)->take_rows(at.outer, at.size, rp_tensor_count(index), at.inner,
                                        rp_tensor_data(packed), rp_tensor_data(index),
                                        rp_tensor_data(y)),
        y);
  }
  if (y != NULL)
    y->is_mask = x->is_mask;
  rp_tensor_release(packed);
  return y;
}

RpTensor *rp_tensor_add_at(int rank, const int64_t *shape, int axis, int axes,
                           const RpTensor *index, RpTensor *values)
{
  RpTensor *packed = rp_tensor_contiguous(values);
  RpTensor *y = packed != NULL ? rp_tensor_full(values->dtype, rank, shape, 0) : NULL;
  if (y != NULL && rp_tensor_count(values) > 0) {
    const RpSplit at = rp_split_axes(rank, shape, axis, axes);
    y = rp_tensor_unless_failed(
        rp_kernels(y->dtype)->add_to_rows(at.outer, at.size, rp_tensor_count(index), at.inner,
                                          rp_tensor_data(packed), rp_tensor_data(index),
                                          rp_tensor_data(y)),
        y);
  }
  rp_tensor_release(packed);
  return y;
}

/* `values`, broadcast to a shape and packed; a copy if they share storage with the target. */
static RpTensor *spread_values(const RpTensor *values, const RpTensor *target, int rank,
                               const int64_t *shape)
{
  RpTensor *whole = rp_tensor_broadcast(values, rank, shape);
  if (whole == NULL)
    return NULL;
  RpTensor *packed = whole->storage == target->storage ? rp_tensor_convert(whole, whole->dtype)
                                                       : rp_tensor_contiguous(whole);
  rp_tensor_release(whole);
  return packed;
}

RpStatus rp_tensor_put(RpTensor *target, int axis, int count, RpTensor *const *keys,
                       RpTensor *values)
{
  int64_t shape[RP_MAX_RANK];
  int axes;
  if (rp_tensor_check_writable(target) != RP_OK)
    return rp_last_status();
  RpTensor *index = rp_tensor_rows_of(target, axis, count, keys, &axes);
  RpTensor *given = index != NULL ? rp_tensor_values_for(target, values) : NULL;
  const int rank =
      given != NULL ? shape_at(target->rank, target->shape, axis, axes, index, shape) : -1;
  RpTensor *whole = rank >= 0 ? spread_values(given, target, rank, shape) : NULL;
  RpTensor *packed = whole != NULL ? rp_tensor_contiguous(target) : NULL;
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  if (packed != NULL && rp_tensor_count(whole) > 0) {
    const RpSplit at = rp_split_axes(target->rank, target->shape, axis, axes);
    target->storage->version++;
    status = rp_kernels(target->dtype)
                 ->put_rows(at.outer, at.size, rp_tensor_count(index), at.inner,
                            rp_tensor_data(whole), rp_tensor_data(index), rp_tensor_data(packed));
    if (status == RP_OK && packed != target)
      status = rp_tensor_copy_elements(packed, target);
  }
  rp_tensor_release(index);
  rp_tensor_release(given);
  rp_tensor_release(whole);
  rp_tensor_release(packed);
  return status;
}
