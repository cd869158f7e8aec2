/*
** Element-wise functions of tensors, outside the graph. Shapes broadcast; results
** are new and contiguous. NULL on failure; the caller owns the result.
*/
#ifndef RP_ELEMENTWISE_H
#define RP_ELEMENTWISE_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* f(x). Functions from UNARY rows also take int32; those from FLOAT_UNARY rows only floats. */
RpTensor *rp_tensor_unary(RpUnary op, const RpTensor *x);

/* dy f'(x). `kept` is the tensor, x or y, that the operation's row keeps; NULL if it keeps none. */
RpTensor *rp_tensor_unary_gradient(RpUnary op, const RpTensor *kept, const RpTensor *dy);

/* a op b, broadcast; both of the same dtype, which may be int32 for BINARY rows. */
RpTensor *rp_tensor_binary(RpBinary op, const RpTensor *a, const RpTensor *b);

/*
** The gradient of b if `right`, else of a, in the shape of dy. `kept` contains a, b
** and y = a op b, or NULL for those that the operation's row does not read.
*/
RpTensor *rp_tensor_binary_gradient(RpBinary op, bool right, RpTensor *const *kept,
                                    const RpTensor *dy);

/* An int32 mask: 1 where the relation holds, else 0; broadcast. */
RpTensor *rp_tensor_compare(RpCompare op, const RpTensor *a, const RpTensor *b);

/* Set *equal if shapes and all elements are equal; dtypes may differ. NaN equals nothing. */
RpStatus rp_tensor_equal(RpTensor *a, RpTensor *b, bool *equal);

/* a where the int32 condition is not 0, else b; all broadcast. */
RpTensor *rp_tensor_where(const RpTensor *condition, const RpTensor *a, const RpTensor *b);

/* target += source, in place; both have the same shape and dtype. */
RpStatus rp_tensor_accumulate(RpTensor *target, const RpTensor *source);

#endif
