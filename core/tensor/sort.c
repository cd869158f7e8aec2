#include "core/tensor/sort.h"

#include "core/kernels/kernels.h"
#include "core/tensor/copy.h"
#include "core/tensor/reduce.h"

RpTensor *rp_tensor_argsort(RpTensor *x, int axis, bool descending, int first)
{
  const RpSplit at = rp_split_at(x->rank, x->shape, axis);
  if (at.size > INT32_MAX - 1)
    return rp_refuse(RP_BAD_ARGUMENT, "argsort: expected an axis of at most 2147483646 elements");
  RpTensor *source = rp_tensor_contiguous(x);
  RpTensor *indices = source != NULL ? rp_tensor_new(RP_INT32, x->rank, x->shape) : NULL;
  if (indices != NULL && rp_tensor_count(indices) > 0)
    indices = rp_tensor_unless_failed(
        rp_kernels(x->dtype)->argsort(at.outer, at.size, at.inner, descending, first,
                                      rp_tensor_data(source), rp_tensor_data(indices)),
        indices);
  rp_tensor_release(source);
  return indices;
}
