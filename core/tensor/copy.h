/* Tensors whose elements are those of others: packed, converted, assigned, filled. */
#ifndef RP_COPY_H
#define RP_COPY_H

#include "core/tensor/tensor.h"

/* rp_tensor_new, filled with `value` (converted to the dtype). */
RpTensor *rp_tensor_full(RpDtype dtype, int rank, const int64_t *shape, double value);

/*
** A contiguous tensor with the same values, outside the graph: the tensor
** itself with a reference more where it is contiguous, else a copy.
*/
RpTensor *rp_tensor_contiguous(RpTensor *tensor);

/*
** A packed copy in `dtype`, outside the graph. Floats go to int32 by truncation;
** RP_BAD_ARGUMENT for NaN and for what does not fit.
*/
RpTensor *rp_tensor_convert(const RpTensor *tensor, RpDtype dtype);

/*
** May the elements be written in place? RP_BAD_ARGUMENT when the tensor takes
** part in the graph, or when several of its elements are one in memory.
*/
RpStatus rp_tensor_check_writable(const RpTensor *tensor);

/*
** x in a dtype that keeps all of its numbers: itself where it has that, int32 as
** floats. RP_BAD_ARGUMENT, in the words of the function `name`, for other dtypes,
** and for an int32 that float32 does not hold.
*/
RpTensor *rp_tensor_promote(const char *name, RpTensor *x, RpDtype dtype);

/*
** `values` as they are written to `target`: promoted to its dtype; to a mask, 1 for what is not 0.
** RP_BAD_ARGUMENT as from rp_tensor_promote.
*/
RpTensor *rp_tensor_values_for(const RpTensor *target, RpTensor *values);

/*
** Write `source`, broadcast to the shape of `target`, into `target` in place.
** RP_BAD_ARGUMENT when it does not broadcast, when its dtype is another that
** rp_tensor_promote refuses, or when `target` may not be written.
*/
RpStatus rp_tensor_assign(RpTensor *target, RpTensor *source);

/* Set every element of the view to `value`, of a mask to 0 or 1; as rp_tensor_assign. */
RpStatus rp_tensor_fill(RpTensor *target, double value);

/*
** Copy the elements of `from` to `to`, of the same shape, converting the dtype:
** floats to int32 by truncation, RP_BAD_ARGUMENT for what int32 cannot hold.
*/
RpStatus rp_tensor_copy_elements(const RpTensor *from, RpTensor *to);

#endif
