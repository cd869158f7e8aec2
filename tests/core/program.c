/* A program for the C library: the output of RoPER depends on distances only, and attention agrees
   with its reference implementation. The keys are three positions before the queries. */
#include <stdio.h>

#include "core/ops/attention.h"
#include "core/tensor/create.h"

int main(void)
{
  RpRandom random = {.seed = 1};
  RpRotaryOptions options = {.dim = 8, .base = 10000, .fraction = 1, .value_fraction = 1};
  options.pairing = "half", options.rotate = "qkvo", options.magnitude = 1;
  const int64_t shape[] = {1, 1, 2, options.dim}; /* batch, heads, time, features */
  const int64_t first[] = {0, 0, 0, 0};
  RpTensor *q = rp_tensor_normal(&random, RP_FLOAT64, 4, shape);
  RpTensor *k = rp_tensor_normal(&random, RP_FLOAT64, 4, shape);
  RpRotary roper;
  if (q == NULL || k == NULL || rp_rotary_init(&roper, &options) != RP_OK)
    return fprintf(stderr, "%s\n", rp_message()), 1;
  for (double p = 3; p < 2000; p += 500) {
    const RpAttentionOptions at = {
        .rotary = &roper, .queries = {.offset = p}, .keys = {.offset = p - 3}};
    RpTensor *fast = rp_op_attention(q, k, k, &at);
    RpTensor *reference = rp_oracle_attention(q, k, k, &at, NULL);
    if (fast == NULL || reference == NULL)
      return fprintf(stderr, "%s\n", rp_message()), 1;
    printf("%4.0f %.9f %.9f\n", p, rp_tensor_get(fast, first), rp_tensor_get(reference, first));
    rp_tensor_release(reference), rp_tensor_release(fast);
  }
  rp_rotary_clear(&roper), rp_tensor_release(k), rp_tensor_release(q);
  return 0;
}
