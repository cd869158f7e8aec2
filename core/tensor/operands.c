#include "core/tensor/operands.h"

#include <stdlib.h>

/* Order the axes as those of the result are in memory, so that more of them can be merged. */
static void order_axes(RpLoop *loop)
{
  const int64_t *result = loop->strides[loop->operands - 1];
  for (int last = 1; last < loop->rank; last++)
    for (int axis = last; axis > 0 && llabs(result[axis - 1]) < llabs(result[axis]); axis--) {
      const int64_t size = loop->shape[axis];
      loop->shape[axis] = loop->shape[axis - 1];
      loop->shape[axis - 1] = size;
      for (int i = 0; i < loop->operands; i++) {
        const int64_t stride = loop->strides[i][axis];
        loop->strides[i][axis] = loop->strides[i][axis - 1];
        loop->strides[i][axis - 1] = stride;
      }
    }
}

void rp_loop_operands(RpLoop *loop, void **data, int count, const RpTensor *const *operands)
{
  const RpTensor *result = operands[count - 1];
  loop->operands = count;
  loop->rank = result->rank;
  for (int axis = 0; axis < result->rank; axis++)
    loop->shape[axis] = result->shape[axis];
  for (int i = 0; i < count; i++) {
    const RpTensor *operand = operands[i];
    const int missing = result->rank - operand->rank;
    data[i] = rp_tensor_data(operand);
    for (int axis = 0; axis < result->rank; axis++) {
      const int own = axis - missing;
      loop->strides[i][axis] = own < 0 || operand->shape[own] == 1 ? 0 : operand->strides[own];
    }
  }
  order_axes(loop);
  rp_loop_collapse(loop);
}
