/* Reductions of tensors, outside the graph. NULL on failure; the caller owns results. */
#ifndef RP_REDUCE_H
#define RP_REDUCE_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

enum { RP_ALL_AXES = -1 };

/* The sizes before, along and after an axis, each as one; RP_ALL_AXES is one axis of everything. */
typedef struct RpSplit {
  int64_t outer, size, inner;
} RpSplit;

RpSplit rp_split_at(int rank, const int64_t *shape, int axis);

/* The same of `axes` axes from `axis` on, read as one. */
RpSplit rp_split_axes(int rank, const int64_t *shape, int axis, int axes);

/*
** Reduce over `axis` (0-based), or over everything to a scalar with
** RP_ALL_AXES; the axis stays with size 1 where `keep`. Sums and means of int32
** are float64. Maxima and minima take float and int32, and fail on no elements;
** where `index` is not NULL it receives a new int32 tensor of the places (from
** 0, first of equals; over everything, in row-major order).
*/
RpTensor *rp_tensor_reduce(RpReduction op, RpTensor *x, int axis, bool keep, RpTensor **index);

/* The places of maxima or minima alone, counted from `first`. */
RpTensor *rp_tensor_places(RpReduction op, RpTensor *x, int axis, bool keep, int first);

/* The running sum along an axis, from its end where `reverse`; of int32 as float64. */
RpTensor *rp_tensor_cumulate(RpTensor *x, int axis, bool reverse);

/*
** Zeros of a shape, with `values` added at the places along an axis that the packed int32 tensor
** `index` of their shape says, from 0: the gradient of reading there.
*/
RpTensor *rp_tensor_scatter(int rank, const int64_t *shape, int axis, const RpTensor *index,
                            RpTensor *values);

/* Sum a gradient over the axes that were broadcast, back to the shape given. */
RpTensor *rp_tensor_sum_to(RpTensor *gradient, int rank, const int64_t *shape);

#endif
