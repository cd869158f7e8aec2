/* Dropout (Srivastava et al. 2014), scaled by 1 / (1 - p). The backward draws the same numbers. */
#include "core/ops/ops.h"

#include "core/tensor/copy.h"

static RpTensor *apply(RpTensor *x, double p, uint64_t seed)
{
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *y = packed != NULL ? rp_tensor_new_like(packed) : NULL;
  if (y != NULL) {
    RpStatus status = rp_kernels(x->dtype)->dropout(seed, p, rp_tensor_count(x),
                                                    rp_tensor_data(packed), rp_tensor_data(y));
    y = rp_tensor_unless_failed(status, y);
  }
  rp_tensor_release(packed);
  return y;
}

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] = apply(dy, node->numbers[0], (uint64_t)node->integers[0]);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_dropout(RpTensor *x, double p, uint64_t seed)
{
  static const RpNodeType type = {"dropout", backward, NULL};
  if (!(p >= 0 && p < 1) || !rp_dtype_is_float(x->dtype))
    return rp_refuse(RP_BAD_ARGUMENT, "dropout: expected floats and 0 <= p < 1, got %s and p = %g",
                     rp_dtype_name(x->dtype), p);
  RpTensor *y = rp_graph_record(&type, apply(x, p, seed), 1, (RpTensor *[]){x}, 0, NULL);
  if (y != NULL && y->node != NULL) {
    y->node->numbers[0] = p;
    y->node->integers[0] = (int64_t)seed;
  }
  return y;
}
