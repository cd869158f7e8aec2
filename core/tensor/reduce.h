/* Reductions of tensors, outside the graph. NULL on failure; the caller owns results. */
#ifndef RP_REDUCE_H
#define RP_REDUCE_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

enum { RP_ALL_AXES = -1 };

/* Products of the sizes before, along and after an axis; RP_ALL_AXES means all axes read as one. */
typedef struct RpSplit {
  int64_t outer, size, inner;
} RpSplit;

RpSplit rp_split_at(int rank, const int64_t *shape, int axis);

/* The same, with the `axes` axes from `axis` on read as one. */
RpSplit rp_split_axes(int rank, const int64_t *shape, int axis, int axes);

/*
** Reduce over `axis` (from 0), or over all elements to a scalar with RP_ALL_AXES.
** If `keep`, the axis remains with size 1. Sums and means of int32 are float64.
** RP_BAD_ARGUMENT for mean, max or min of no elements. For max and min, *index
** receives a new int32 tensor of the indices of the results, unless `index` is
** NULL. Indices count from 0 (in row-major order for RP_ALL_AXES); if several
** elements are equal, the index is that of the first.
*/
RpTensor *rp_tensor_reduce(RpReduction op, RpTensor *x, int axis, bool keep, RpTensor **index);

/* Only the indices of the maxima or minima, counted from `first`. */
RpTensor *rp_tensor_indices(RpReduction op, RpTensor *x, int axis, bool keep, int first);

/* The cumulative sum along an axis, from its end if `reverse`; float64 for int32. */
RpTensor *rp_tensor_cumulate(RpTensor *x, int axis, bool reverse);

/*
** Zeros of a shape, with `values` added along an axis at the indices (from 0) in `index`, a packed
** int32 tensor of the shape of `values`: the gradient of gather.
*/
RpTensor *rp_tensor_scatter(int rank, const int64_t *shape, int axis, const RpTensor *index,
                            RpTensor *values);

/* Sum a gradient over the axes that were broadcast, to the given shape. */
RpTensor *rp_tensor_sum_to(RpTensor *gradient, int rank, const int64_t *shape);

#endif
