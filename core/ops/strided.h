/* Views of a tensor with arbitrary strides, which may overlap. */
#ifndef RP_OP_STRIDED_H
#define RP_OP_STRIDED_H

#include "core/graph/graph.h"

/* Element (i, j, ...) is element offset + i strides[0] + j strides[1] + ... of a packed tensor. */
typedef struct RpStrides {
  int rank;
  int64_t shape[RP_MAX_RANK], strides[RP_MAX_RANK], offset;
} RpStrides;

/*
** x viewed with strides that refer to its elements in row-major order. If several
** indices map to one element, its gradient is the sum over them. Shares storage if
** x is packed. RP_BAD_ARGUMENT if an index maps outside x.
*/
RpTensor *rp_op_as_strided(RpTensor *x, const RpStrides *strides);

/*
** If `view` is a recorded result of rp_op_as_strided: the tensor that it views, and
** its strides, both borrowed from its node. An operation can then sum gradients
** directly in the shape of that tensor. NULL for other tensors.
*/
RpTensor *rp_strided_source(const RpTensor *view, const RpStrides **strides);

/*
** True if different indices along the first `leading` axes, except those of stride
** 0, always map to different elements, whatever the indices along the other axes.
*/
bool rp_strides_apart(const RpStrides *strides, int leading);

#endif
