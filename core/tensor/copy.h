/* Copying, conversion and assignment of elements, and constant tensors. */
#ifndef RP_COPY_H
#define RP_COPY_H

#include "core/tensor/tensor.h"

/* rp_tensor_new, filled with `value` (converted to the dtype). */
RpTensor *rp_tensor_full(RpDtype dtype, int rank, const int64_t *shape, double value);

/*
** A contiguous tensor with the same values: `tensor` itself with one more
** reference if it is contiguous, else a copy outside the graph.
*/
RpTensor *rp_tensor_contiguous(RpTensor *tensor);

/*
** A contiguous copy in `dtype`, outside the graph. Floats are truncated to
** int32. NULL with RP_BAD_ARGUMENT for NaN and for numbers that int32 cannot hold.
*/
RpTensor *rp_tensor_convert(const RpTensor *tensor, RpDtype dtype);

/*
** RP_OK if the elements may be written in place; RP_BAD_ARGUMENT if the tensor
** is a result in the graph, or if several of its elements share memory.
*/
RpStatus rp_tensor_check_writable(const RpTensor *tensor);

/*
** x in `dtype`, exactly: x itself with one more reference if it has that dtype,
** or int32 converted to floats. NULL with RP_BAD_ARGUMENT for other dtypes and
** for an int32 that float32 cannot represent; messages begin with `name`.
*/
RpTensor *rp_tensor_promote(const char *name, RpTensor *x, RpDtype dtype);

/*
** `values` converted for writing to `target`: promoted to its dtype or, if it is a mask, 1 for each
** element that is not 0. Errors as for rp_tensor_promote.
*/
RpTensor *rp_tensor_values_for(const RpTensor *target, RpTensor *values);

/*
** Write `source`, broadcast to the shape of `target`, into `target` in place.
** RP_BAD_ARGUMENT if it does not broadcast, if rp_tensor_promote refuses its
** dtype, or if `target` may not be written.
*/
RpStatus rp_tensor_assign(RpTensor *target, RpTensor *source);

/*
** Set every element of the view to `value`; elements of a mask, to 0 or 1. RP_BAD_ARGUMENT if
** `target` may not be written, or if it is int32 and the value is not.
*/
RpStatus rp_tensor_fill(RpTensor *target, double value);

/*
** Copy the elements of `from` to `to`, of the same shape, converting the dtype.
** Floats are truncated to int32; RP_BAD_ARGUMENT for numbers it cannot hold.
*/
RpStatus rp_tensor_copy_elements(const RpTensor *from, RpTensor *to);

#endif
