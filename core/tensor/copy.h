/* Copying, conversion and assignment of elements, and constant tensors. */
#ifndef RP_COPY_H
#define RP_COPY_H

#include "core/tensor/tensor.h"

/* rp_tensor_new, filled with `value` (converted to the dtype). */
RpTensor *rp_tensor_full(RpDtype dtype, int rank, const int64_t *shape, double value);

/*
** A contiguous tensor with the same values: `tensor` itself, with one more
** reference, if it is contiguous, else a copy outside the graph.
*/
RpTensor *rp_tensor_contiguous(RpTensor *tensor);

/*
** A contiguous copy in `dtype`, outside the graph. Conversion to int32 truncates;
** NULL with RP_BAD_ARGUMENT for NaN and for numbers outside the range of int32.
*/
RpTensor *rp_tensor_convert(const RpTensor *tensor, RpDtype dtype);

/*
** RP_OK if the elements may be written in place. RP_BAD_ARGUMENT if the tensor was
** computed by a recorded operation, or if several of its elements share memory.
*/
RpStatus rp_tensor_check_writable(const RpTensor *tensor);

/*
** x converted to `dtype` without rounding: x itself, with one more reference, if it
** has that dtype, or int32 converted to floats. NULL with RP_BAD_ARGUMENT for other
** conversions and for an int32 that float32 cannot represent. Messages begin with
** `name`.
*/
RpTensor *rp_tensor_promote(const char *name, RpTensor *x, RpDtype dtype);

/*
** `values` converted for writing to `target`: promoted to its dtype or, if it is a mask, 1 for each
** element that is not 0. Errors as for rp_tensor_promote.
*/
RpTensor *rp_tensor_values_for(const RpTensor *target, RpTensor *values);

/*
** Write `source`, broadcast to the shape of `target`, into `target` in place.
** RP_BAD_ARGUMENT if it does not broadcast, if rp_tensor_promote refuses it, or if
** rp_tensor_check_writable refuses `target`.
*/
RpStatus rp_tensor_assign(RpTensor *target, RpTensor *source);

/*
** Set every element of the view to `value`; in a mask, every value but 0 becomes 1. RP_BAD_ARGUMENT
** if rp_tensor_check_writable refuses `target`, or if int32 cannot represent the value.
*/
RpStatus rp_tensor_fill(RpTensor *target, double value);

/*
** Copy the elements of `from` to `to`, a tensor of the same shape, converting the
** dtype. Conversion to int32 truncates; RP_BAD_ARGUMENT as for rp_tensor_convert.
*/
RpStatus rp_tensor_copy_elements(const RpTensor *from, RpTensor *to);

#endif
