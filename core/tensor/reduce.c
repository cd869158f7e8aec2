#include "core/tensor/reduce.h"

#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

static const char *const names[] = {
    [RP_SUM] = "sum", [RP_MEAN] = "mean", [RP_MAX] = "max", [RP_MIN] = "min"};

RpSplit rp_split_axes(int rank, const int64_t *shape, int axis, int axes)
{
  RpSplit split = {1, 1, 1};
  for (int i = 0; i < rank; i++)
    *(i < axis ? &split.outer : i < axis + axes ? &split.size : &split.inner) *= shape[i];
  return split;
}

RpSplit rp_split_at(int rank, const int64_t *shape, int axis)
{
  const bool all = axis == RP_ALL_AXES;
  return rp_split_axes(rank, shape, all ? 0 : axis, all ? rank : 1);
}

static int result_shape(const RpTensor *x, int axis, bool keep, int64_t *shape)
{
  int rank = 0;
  for (int i = 0; i < x->rank; i++) {
    const bool reduced = axis == RP_ALL_AXES || i == axis;
    if (!reduced || keep)
      shape[rank++] = reduced ? 1 : x->shape[i];
  }
  return rank;
}

RpTensor *rp_tensor_reduce(RpReduction op, RpTensor *x, int axis, bool keep, RpTensor **index)
{
  const bool sums = op == RP_SUM || op == RP_MEAN;
  int64_t shape[RP_MAX_RANK];
  const RpSplit at = rp_split_at(x->rank, x->shape, axis);
  if (index != NULL)
    *index = NULL;
  if (at.size == 0 && op != RP_SUM)
    return rp_refuse(RP_BAD_ARGUMENT, "%s: expected at least one element, got shape %s", names[op],
                     rp_tensor_shape_text(x));
  if (at.size > INT32_MAX && index != NULL)
    return rp_refuse(RP_BAD_ARGUMENT, "%s: expected at most 2147483647 elements, got shape %s",
                     names[op], rp_tensor_shape_text(x));
  RpTensor *source =
      sums && x->dtype == RP_INT32 ? rp_tensor_convert(x, RP_FLOAT64) : rp_tensor_contiguous(x);
  if (source == NULL)
    return NULL;
  const int rank = result_shape(x, axis, keep, shape);
  RpTensor *y = rp_tensor_new(source->dtype, rank, shape);
  RpTensor *indices = y != NULL && index != NULL ? rp_tensor_new(RP_INT32, rank, shape) : NULL;
  RpStatus status = y == NULL || (index != NULL && indices == NULL) ? RP_OUT_OF_MEMORY : RP_OK;
  if (status == RP_OK && rp_tensor_count(y) > 0)
    status = rp_kernels(source->dtype)
                 ->reduce(op, at.outer, at.size, at.inner, rp_tensor_data(source),
                          rp_tensor_data(y), indices != NULL ? rp_tensor_data(indices) : NULL);
  rp_tensor_release(source);
  if (status != RP_OK) {
    rp_tensor_release(y);
    rp_tensor_release(indices);
    return NULL;
  }
  if (index != NULL)
    *index = indices;
  y->is_mask = x->is_mask && !sums;
  return y;
}

RpTensor *rp_tensor_indices(RpReduction op, RpTensor *x, int axis, bool keep, int first)
{
  RpTensor *indices = NULL;
  rp_tensor_release(rp_tensor_reduce(op, x, axis, keep, &indices));
  RpTensor *from = indices != NULL ? rp_tensor_full(RP_INT32, 0, NULL, first) : NULL;
  RpTensor *y = from != NULL ? rp_tensor_binary(RP_ADD, indices, from) : NULL;
  rp_tensor_release(indices);
  rp_tensor_release(from);
  return y;
}

RpTensor *rp_tensor_cumulate(RpTensor *x, int axis, bool reverse)
{
  const RpSplit at = rp_split_at(x->rank, x->shape, axis);
  RpTensor *source =
      rp_dtype_is_float(x->dtype) ? rp_tensor_contiguous(x) : rp_tensor_convert(x, RP_FLOAT64);
  RpTensor *y = source != NULL ? rp_tensor_new_like(source) : NULL;
  RpStatus status = y != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  if (status == RP_OK && rp_tensor_count(y) > 0)
    status = rp_kernels(y->dtype)->cumulate(at.outer, at.size, at.inner, reverse,
                                            rp_tensor_data(source), rp_tensor_data(y));
  rp_tensor_release(source);
  return rp_tensor_unless_failed(status, y);
}

RpTensor *rp_tensor_scatter(int rank, const int64_t *shape, int axis, const RpTensor *index,
                            RpTensor *values)
{
  const RpSplit at = rp_split_at(rank, shape, axis);
  RpTensor *packed = rp_tensor_contiguous(values);
  RpTensor *y = packed != NULL ? rp_tensor_full(values->dtype, rank, shape, 0) : NULL;
  if (y != NULL && rp_tensor_count(index) > 0)
    y = rp_tensor_unless_failed(
        rp_kernels(y->dtype)->scatter_add(
            at.outer, at.size, rp_tensor_count(index) / (at.outer * at.inner), at.inner,
            rp_tensor_data(packed), rp_tensor_data(index), rp_tensor_data(y)),
        y);
  rp_tensor_release(packed);
  return y;
}

RpTensor *rp_tensor_sum_to(RpTensor *gradient, int rank, const int64_t *shape)
{
  RpTensor *sum = rp_tensor_retain(gradient);
  while (sum != NULL) {
    int axis = 0;
    const int extra = sum->rank - rank;
    while (axis < sum->rank && axis >= extra && sum->shape[axis] == shape[axis - extra])
      axis++;
    if (axis == sum->rank)
      break;
    RpTensor *less = rp_tensor_reduce(RP_SUM, sum, axis, axis >= extra, NULL);
    rp_tensor_release(sum);
    sum = less;
  }
  return sum;
}
