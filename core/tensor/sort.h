/* Sorting. */
#ifndef RP_SORT_H
#define RP_SORT_H

#include "core/tensor/tensor.h"

/*
** The indices, counted from `first`, that sort x along an axis: int32, with the shape of x. Stable;
** NaN counts as larger than all numbers. NULL if the indices do not fit int32.
*/
RpTensor *rp_tensor_argsort(RpTensor *x, int axis, bool descending, int first);

#endif
