/* Elements by the places that int32 tensors name, and by masks; outside the graph. */
#ifndef RP_TENSOR_INDEX_H
#define RP_TENSOR_INDEX_H

#include "core/tensor/tensor.h"

/*
** A packed copy of an int32 index of places first .. first + size - 1, counted from 0; the index
** itself where it is that. NULL with a message of the function `name` for another dtype or place.
*/
RpTensor *rp_tensor_places_from_0(const char *name, RpTensor *index, int first, int64_t size);

/*
** The rows that keys name where `*axes` axes of x from `axis` on are read as one, counted from 0:
** a packed int32 tensor. The keys are `count` int32 tensors of places from 1, which broadcast, one
** for each axis; or one mask, whose axes are those of x from `axis` on: the places where it is not
** 0, [n]. What a key is, its mark decides alone. NULL for other dtypes, places or shapes.
*/
RpTensor *rp_tensor_rows_of(const RpTensor *x, int axis, int count, RpTensor *const *keys,
                            int *axes);

/* x at such rows: the axes of the index in place of those indexed. */
RpTensor *rp_tensor_take(RpTensor *x, int axis, int axes, const RpTensor *index);

/* Zeros of a shape with `values`, as from rp_tensor_take, added at the rows: its gradient. */
RpTensor *rp_tensor_add_at(int rank, const int64_t *shape, int axis, int axes,
                           const RpTensor *index, RpTensor *values);

/*
** Write `values`, broadcast to the shape of what is there, to the rows that keys name as in
** rp_tensor_rows_of; the last of several for one row stays. RP_BAD_ARGUMENT as from both.
*/
RpStatus rp_tensor_put(RpTensor *target, int axis, int count, RpTensor *const *keys,
                       RpTensor *values);

#endif
