/*
** Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel
** random numbers: as easy as 1, 2, 3", SC 2011). A draw depends only on the seed
** and the counter, not on threads or on the order of calls.
*/
#ifndef RP_RANDOM_H
#define RP_RANDOM_H

#include <stdint.h>

/* The complete state of a generator, as stored in checkpoints. */
typedef struct RpRandom {
  uint64_t seed;
  uint64_t counter; /* index of the next block of four 32-bit words */
} RpRandom;

/* The block of four words at index `counter` of the stream `seed`. */
static inline void rp_philox(uint64_t seed, uint64_t counter, uint32_t words[4])
{
  uint32_t c0 = (uint32_t)counter, c1 = (uint32_t)(counter >> 32), c2 = 0, c3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)0xD2511F53u * c0;
    uint64_t p1 = (uint64_t)0xCD9E8D57u * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/* A uniform number in [0, 1) with 53 random bits, from two words. */
static inline double rp_uniform_from(uint32_t high, uint32_t low)
{
  return (double)((uint64_t)(high >> 5) << 26 | low >> 6) * 0x1p-53;
}

/* A 64-bit seed for part number `part` of a run, unrelated to the seeds of other parts. */
uint64_t rp_random_split(uint64_t seed, uint64_t part);

/* Uniform integer in [0, bound), bound >= 1, without modulo bias. Consumes at least one block. */
uint32_t rp_random_below(RpRandom *random, uint32_t bound);

/*
** The image of `index` under the permutation of 0 .. count - 1 selected by `seed`,
** for draws without replacement that need no memory. A Feistel network (Luby and
** Rackoff 1988) permutes the numbers of the smallest sufficient even number of
** bits; it is repeated until the result is below `count`.
*/
uint64_t rp_random_permuted(uint64_t seed, uint64_t count, uint64_t index);

#endif
