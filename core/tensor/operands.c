#include "core/tensor/operands.h"

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
  rp_loop_collapse(loop);
}
