/* Matrix products of tensors, outside the graph. */
#ifndef RP_MATMUL_H
#define RP_MATMUL_H

#include "core/tensor/tensor.h"

/*
** a [..., m, k] times b [..., k, n] = [..., m, n]; leading axes broadcast.
** transpose_a and transpose_b first swap the last two axes. Floats of one dtype.
** NULL on failure; the caller owns the result.
*/
RpTensor *rp_tensor_matmul(RpTensor *a, bool transpose_a, RpTensor *b, bool transpose_b);

#endif
