/* Elements of a tensor seen through any strides, overlapping ones too. */
#ifndef RP_OP_STRIDED_H
#define RP_OP_STRIDED_H

#include "core/graph/graph.h"

/* Element (i, j, ...) is element offset + i strides[0] + j strides[1] + ... of a packed tensor. */
typedef struct RpStrides {
  int rank;
  int64_t shape[RP_MAX_RANK], strides[RP_MAX_RANK], offset;
} RpStrides;

/*
** x seen through strides that count its elements row by row; several places may
** show one element. Shares storage where x is packed. The gradient of an element
** is the sum over its places. RP_BAD_ARGUMENT for a place outside x.
*/
RpTensor *rp_op_as_strided(RpTensor *x, const RpStrides *strides);

/*
** Where `view` is a result of rp_op_as_strided in the graph: the tensor it shows
** and the strides it is seen through, both borrowed from its node; else NULL.
** An operation can then sum gradients into that tensor directly.
*/
RpTensor *rp_strided_source(const RpTensor *view, const RpStrides **strides);

/*
** Do different places along the first `leading` axes, those of stride 0 apart,
** always show different elements, wherever they are along the others?
*/
bool rp_strides_apart(const RpStrides *strides, int leading);

#endif
