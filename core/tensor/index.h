/* Indexing by int32 tensors and by masks, outside the graph. */
#ifndef RP_TENSOR_INDEX_H
#define RP_TENSOR_INDEX_H

#include "core/tensor/tensor.h"

/*
** A packed copy of an int32 index with values in first .. first + size - 1, counted from 0; the
** index itself if no copy is needed. NULL for another dtype or value; messages begin with `name`.
*/
RpTensor *rp_tensor_places_from_0(const char *name, RpTensor *index, int first, int64_t size);

/*
** Convert keys to row indices from 0, a packed int32 tensor; rows count the `*axes` axes of x from
** `axis` on as one. The keys are `count` int32 tensors with indices from 1, which broadcast, one
** per axis; or one mask, whose axes are those of x from `axis` on, which selects the [n] rows where
** it is not 0. Only is_mask decides which of these a key is. NULL for other dtypes, indices or
** shapes.
*/
RpTensor *rp_tensor_rows_of(const RpTensor *x, int axis, int count, RpTensor *const *keys,
                            int *axes);

/* x at such rows; the axes of the index replace those indexed. */
RpTensor *rp_tensor_take(RpTensor *x, int axis, int axes, const RpTensor *index);

/* Zeros of a shape with `values` added at the rows: the gradient of rp_tensor_take. */
RpTensor *rp_tensor_add_at(int rank, const int64_t *shape, int axis, int axes,
                           const RpTensor *index, RpTensor *values);

/*
** Write `values`, broadcast to the shape of the selection, to the rows that keys select as in
** rp_tensor_rows_of. If a row is selected twice, the last value stays. Errors as for
** rp_tensor_rows_of and rp_tensor_assign.
*/
RpStatus rp_tensor_put(RpTensor *target, int axis, int count, RpTensor *const *keys,
                       RpTensor *values);

#endif
