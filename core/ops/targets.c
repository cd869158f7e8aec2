#include "core/ops/targets.h"

#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"
#include "core/tensor/reduce.h"

RpStatus rp_targets_count(const char *name, const RpTensor *targets, int64_t n, int32_t ignore,
                          bool mean, int64_t *counted)
{
  const int32_t *id = rp_tensor_data(targets);
  *counted = 0;
  for (int64_t i = 0; i < rp_tensor_count(targets); i++) {
    if (id[i] == ignore)
      continue;
    if (id[i] < 0 || id[i] >= n)
      return rp_fail(RP_BAD_ARGUMENT,
                     "%s: targets: expected classes from 0 to %lld, the number of logits minus 1, "
                     "got %d as element %lld",
                     name, (long long)n - 1, id[i], (long long)i + 1);
    ++*counted;
  }
  if (mean && *counted == 0)
    return rp_fail(RP_BAD_ARGUMENT, "%s: every target is ignored, so there is no mean", name);
  return RP_OK;
}

RpTensor *rp_targets_scale(const RpTensor *dy, int64_t counted)
{
  RpTensor *divisor = rp_tensor_full(dy->dtype, 0, NULL, (double)counted);
  RpTensor *scale = divisor != NULL ? rp_tensor_binary(RP_DIVIDE, dy, divisor) : NULL;
  rp_tensor_release(divisor);
  return scale;
}

RpTensor *rp_targets_mean(RpTensor *losses, int64_t counted)
{
  RpTensor *sum = rp_tensor_reduce(RP_SUM, losses, RP_ALL_AXES, false, NULL);
  RpTensor *mean = sum != NULL ? rp_targets_scale(sum, counted) : NULL;
  rp_tensor_release(sum);
  return mean;
}
