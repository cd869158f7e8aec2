/* A program for the C library: after RoPE, scores depend on the distance only. */
#include <stdio.h>

#include "core/ops/attention.h"
#include "core/ops/ops.h"
#include "core/tensor/create.h"

int main(void)
{
  RpRandom random = {.seed = 1};
  RpRotaryOptions options = {.dim = 8, .base = 10000, .fraction = 1, .value_fraction = 1};
  options.pairing = "half", options.rotate = "qk", options.magnitude = 1;
  const int64_t shape[] = {1, options.dim}, first[] = {0, 0}; /* time, features */
  RpTensor *q = rp_tensor_normal(&random, RP_FLOAT64, 2, shape);
  RpTensor *k = rp_tensor_normal(&random, RP_FLOAT64, 2, shape);
  RpRotary rope;
  if (q == NULL || k == NULL || rp_rotary_init(&rope, &options) != RP_OK)
    return fprintf(stderr, "%s\n", rp_message()), 1;
  for (double p = 3; p < 2000; p += 500) {
    RpTensor *at = rp_op_rotate(q, &rope, RP_ROTATE_QUERY, &(RpPositions){.offset = p}, false);
    RpTensor *before =
        rp_op_rotate(k, &rope, RP_ROTATE_KEY, &(RpPositions){.offset = p - 3}, false);
    RpTensor *score = rp_op_linear(at, before, NULL, false);
    if (score == NULL)
      return fprintf(stderr, "%s\n", rp_message()), 1;
    printf("%4.0f %.9f\n", p, rp_tensor_get(score, first));
    rp_tensor_release(score), rp_tensor_release(before), rp_tensor_release(at);
  }
  rp_rotary_clear(&rope), rp_tensor_release(k), rp_tensor_release(q);
  return 0;
}
