/* Tensors as operands of a kernel's loop. */
#ifndef RP_OPERANDS_H
#define RP_OPERANDS_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* Set up a loop over operands broadcast to the shape of the last; data[i] points to operand i. */
void rp_loop_operands(RpLoop *loop, void **data, int count, const RpTensor *const *operands);

#endif
