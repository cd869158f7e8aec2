#include "core/base/random.h"

uint64_t rp_random_split(uint64_t seed, uint64_t part)
{
  uint32_t words[4];
  rp_philox(seed, part ^ 0x9E3779B97F4A7C15u, words);
  return (uint64_t)words[0] << 32 | words[1];
}

/* Lemire, "Fast random integer generation in an interval" (2019): reject the uneven rest. */
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
