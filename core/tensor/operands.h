/* Tensors as operands of a loop over elements (core/kernels/loop.h). */
#ifndef RP_OPERANDS_H
#define RP_OPERANDS_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* Set up a loop over operands that are broadcast to the shape of the last. Set data[i] to the
   address of operand i. */
void rp_loop_operands(RpLoop *loop, void **data, int count, const RpTensor *const *operands);

#endif
