/* Tensors as the operands of one loop of a kernel. */
#ifndef RP_OPERANDS_H
#define RP_OPERANDS_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* Line up operands, all broadcast to the shape of the last; data[i] is where operand i begins. */
void rp_loop_operands(RpLoop *loop, void **data, int count, const RpTensor *const *operands);

#endif
