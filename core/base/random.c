#include "core/base/random.h"

uint64_t rp_random_split(uint64_t seed, uint64_t part)
{
  uint32_t words[4];
  rp_philox(seed, part ^ 0x9E3779B97F4A7C15u, words);
  return (uint64_t)words[0] << 32 | words[1];
}

/* Lemire, "Fast random integer generation in an interval" (2019), with rejection. */
uint32_t rp_random_below(RpRandom *random, uint32_t bound)
{
  uint32_t words[4];
  uint32_t threshold = -bound % bound;
  for (;;) {
    rp_philox(random->seed, random->counter++, words);
    for (int i = 0; i < 4; i++) {
      uint64_t product = (uint64_t)words[i] * bound;
      if ((uint32_t)product >= threshold)
        return (uint32_t)(product >> 32);
    }
  }
}

uint64_t rp_random_permuted(uint64_t seed, uint64_t count, uint64_t index)
{
  enum { ROUNDS = 6 };
  int half = 1; /* bits */
  while (half < 32 && (count - 1) >> 2 * half != 0)
    half++;
  const uint64_t mask = ((uint64_t)1 << half) - 1;
  do {
    uint64_t left = index >> half, right = index & mask;
    for (uint64_t round = 0; round < ROUNDS; round++) {
      uint32_t words[4];
      rp_philox(seed, round << 32 | right, words);
      const uint64_t next = left ^ (words[0] & mask);
      left = right;
      right = next;
    }
    index = left << half | right;
  } while (index >= count);
  return index;
}
