/* Cross-entropy of logits against token ids, fused with the softmax. */
#include "core/ops/ops.h"
#include "core/ops/targets.h"
#include "core/tensor/copy.h"

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *logits = node->saved[0], *targets = node->saved[1];
  const bool each = node->integers[1] != 0;
  RpTensor *scaled = rp_targets_scale(dy, node->integers[2]);
  if (scaled != NULL)
    gradients[0] = rp_tensor_new_like(logits);
  RpStatus status = rp_last_status();
  if (gradients[0] != NULL)
    status = rp_kernels(logits->dtype)
                 ->cross_entropy_gradient(rp_tensor_count(targets), logits->shape[logits->rank - 1],
                                          rp_tensor_data(logits), rp_tensor_data(targets),
                                          (int32_t)node->integers[0], rp_tensor_data(scaled),
                                          each ? 1 : 0, rp_tensor_data(gradients[0]));
  rp_tensor_release(scaled);
  return status;
}

static RpStatus check(const RpTensor *logits, const RpTensor *targets)
{
  bool fits = logits->rank == targets->rank + 1 && logits->shape[targets->rank] > 0;
  for (int i = 0; fits && i < targets->rank; i++)
    fits = logits->shape[i] == targets->shape[i];
  if (!fits || !rp_dtype_is_float(logits->dtype) || targets->dtype != RP_INT32)
    return rp_fail(RP_BAD_ARGUMENT,
                   "cross_entropy: expected float logits [..., n] and int32 targets [...], got %s "
                   "%s and %s %s",
                   rp_dtype_name(logits->dtype), rp_tensor_shape_text(logits),
                   rp_dtype_name(targets->dtype), rp_tensor_shape_text(targets));
  return RP_OK;
}

/* One loss per row, or their mean over the rows that count. */
static RpTensor *losses(RpTensor *logits, RpTensor *targets, int32_t ignore, bool each,
                        int64_t counted)
{
  RpTensor *loss = rp_tensor_new(logits->dtype, targets->rank, targets->shape);
  if (loss == NULL)
    return NULL;
  RpStatus status = rp_kernels(logits->dtype)
                        ->cross_entropy(rp_tensor_count(targets), logits->shape[targets->rank],
                                        rp_tensor_data(logits), rp_tensor_data(targets), ignore,
                                        rp_tensor_data(loss));
  loss = rp_tensor_unless_failed(status, loss);
  if (each || loss == NULL)
    return loss;
  RpTensor *mean = rp_targets_mean(loss, counted);
  rp_tensor_release(loss);
  return mean;
}

RpTensor *rp_op_cross_entropy(RpTensor *logits, RpTensor *targets, int32_t ignore, bool each)
{
  static const RpNodeType type = {"cross_entropy", backward, NULL};
  int64_t counted = 0;
  if (check(logits, targets) != RP_OK)
    return NULL;
  RpTensor *x = rp_tensor_contiguous(logits), *ids = rp_tensor_contiguous(targets), *y = NULL;
  if (x != NULL && ids != NULL &&
      rp_targets_count("cross_entropy", ids, logits->shape[targets->rank], ignore, !each,
                       &counted) == RP_OK)
    y = losses(x, ids, ignore, each, counted);
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){logits}, 2, (RpTensor *[]){x, ids});
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = ignore;
    y->node->integers[1] = each;
    y->node->integers[2] = each ? 1 : counted;
  }
  rp_tensor_release(x);
  rp_tensor_release(ids);
  return y;
}
