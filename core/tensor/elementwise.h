/*
** Element-wise functions of tensors, outside the graph: shapes are broadcast,
** results are new and packed. NULL on failure; the caller owns the result.
*/
#ifndef RP_ELEMENTWISE_H
#define RP_ELEMENTWISE_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* f(x). int32 takes what is a UNARY row, not what is a FLOAT_UNARY one. */
RpTensor *rp_tensor_unary(RpUnary op, const RpTensor *x);

/* dy f'(x), where `kept` is what the row of the operation keeps; NULL where that is nothing. */
RpTensor *rp_tensor_unary_gradient(RpUnary op, const RpTensor *kept, const RpTensor *dy);

/* a op b, broadcast; both of one dtype. int32 takes what is a BINARY row. */
RpTensor *rp_tensor_binary(RpBinary op, const RpTensor *a, const RpTensor *b);

/*
** The gradient of b where `right`, else of a, in the shape of dy. kept: a, b and
** y = a op b, NULL where the row of the operation does not read them for that side.
*/
RpTensor *rp_tensor_binary_gradient(RpBinary op, bool right, RpTensor *const *kept,
                                    const RpTensor *dy);

/* int32 1 where the relation holds, else 0; broadcast. */
RpTensor *rp_tensor_compare(RpCompare op, const RpTensor *a, const RpTensor *b);

/* Are the shapes the same, and all elements equal, of whatever dtypes? NaN equals nothing. */
RpStatus rp_tensor_equal(RpTensor *a, RpTensor *b, bool *equal);

/* a where the int32 condition is not 0, else b; all broadcast. */
RpTensor *rp_tensor_where(const RpTensor *condition, const RpTensor *a, const RpTensor *b);

/* target += source, of one shape and dtype, in place. */
RpStatus rp_tensor_accumulate(RpTensor *target, const RpTensor *source);

#endif
