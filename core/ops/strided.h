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
** x viewed with strides that count its elements in row-major order; several
** indices may map to one element, whose gradient is the sum over them. Shares
** storage if x is packed. RP_BAD_ARGUMENT for an index that maps outside x.
*/
RpTensor *rp_op_as_strided(RpTensor *x, const RpStrides *strides);

/*
** If `view` is a result of rp_op_as_strided in the graph: the tensor it views and
** its strides, both borrowed from its node; an operation can then sum gradients
** into that tensor directly. NULL for other tensors.
*/
RpTensor *rp_strided_source(const RpTensor *view, const RpStrides **strides);

/*
** Do different indices along the first `leading` axes, except those of stride 0,
** always map to different elements, for any indices along the other axes?
*/
bool rp_strides_apart(const RpStrides *strides, int leading);

#endif
