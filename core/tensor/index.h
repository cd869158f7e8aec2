/* Indexing by int32 tensors and by masks, outside the graph. */
#ifndef RP_TENSOR_INDEX_H
#define RP_TENSOR_INDEX_H

#include "core/tensor/tensor.h"

/*
** `index`, int32 with values in first .. first + size - 1, packed and with `first` subtracted; the
** tensor itself if nothing changes. NULL for another dtype or value; messages begin with `name`.
*/
RpTensor *rp_tensor_places_from_0(const char *name, RpTensor *index, int first, int64_t size);

/*
** Convert keys to 0-based row indices, a packed int32 tensor. A row is one index of the `*axes`
** axes of x from `axis` on, read as one axis in row-major order. The keys are `count` int32 tensors
** of 1-based indices, one for each axis, which broadcast; or one mask with the sizes of these axes,
** which selects the rows where it is not 0. Only is_mask distinguishes the two. NULL for other
** dtypes, indices or shapes.
*/
RpTensor *rp_tensor_rows_of(const RpTensor *x, int axis, int count, RpTensor *const *keys,
                            int *axes);

/* The rows of x at `index`, from rp_tensor_rows_of; its axes replace the `axes` indexed axes. */
RpTensor *rp_tensor_take(RpTensor *x, int axis, int axes, const RpTensor *index);

/* Zeros of a shape, with `values` added at these rows: the gradient of rp_tensor_take. */
RpTensor *rp_tensor_add_at(int rank, const int64_t *shape, int axis, int axes,
                           const RpTensor *index, RpTensor *values);

/*
** Write `values`, broadcast to the shape of the selection, to the rows that the keys select (see
** rp_tensor_rows_of). If a row is selected twice, the last value is kept. Errors as for
** rp_tensor_rows_of and rp_tensor_assign.
*/
RpStatus rp_tensor_put(RpTensor *target, int axis, int count, RpTensor *const *keys,
                       RpTensor *values);

#endif
