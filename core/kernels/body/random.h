/* Random numbers: element i depends only on seed, counter and i. */
#ifndef RP_BODY_RANDOM_H
#define RP_BODY_RANDOM_H

#include "core/kernels/body/row.h"

enum { RANDOM_PIECE = 4096 }; /* elements between two checks of the interrupt flag; even */

/* Two uniform numbers of 53 bits from a block of four words. */
static void uniform_pair(const uint32_t words[4], REAL pair[2])
{
  for (int i = 0; i < 2; i++) {
    const REAL value = (REAL)rp_uniform_from(words[2 * i], words[2 * i + 1]);
    pair[i] = value < 1 ? value : 1 - REAL_EPSILON / 2; /* in float32, a number can round up to 1 */
  }
}

/* Box and Muller 1958, in float64: two normals from two uniforms. */
static void normal_pair(const uint32_t words[4], REAL pair[2])
{
  const double radius = sqrt(-2 * log1p(-rp_uniform_from(words[0], words[1])));
  const double angle = 6.283185307179586477 * rp_uniform_from(words[2], words[3]);
  pair[0] = (REAL)(radius * cos(angle));
  pair[1] = (REAL)(radius * sin(angle));
}

/* Fill y with pairs: block i of the generator gives elements 2 i and 2 i + 1. */
static inline RpStatus fill_pairs(RpRandom random, int64_t n, REAL *y,
                                  void (*make_pair)(const uint32_t words[4], REAL pair[2]))
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)n);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t first = 0; first < n; first += RANDOM_PIECE) {
    if (rp_interrupted())
      continue;
    for (int64_t i = first; i < n && i < first + RANDOM_PIECE; i += 2) {
      uint32_t words[4];
      REAL pair[2];
      rp_philox(random.seed, random.counter + (uint64_t)i / 2, words);
      make_pair(words, pair);
      y[i] = pair[0];
      if (i + 1 < n)
        y[i + 1] = pair[1];
    }
  }
  return rp_interrupt_status();
}

static RpStatus uniform(RpRandom random, int64_t n, void *y)
{
  return fill_pairs(random, n, y, uniform_pair);
}

static RpStatus normal(RpRandom random, int64_t n, void *y)
{
  return fill_pairs(random, n, y, normal_pair);
}

static RpStatus dropout(uint64_t seed, double p, int64_t n, const void *x, void *y)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)n);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t first = 0; first < n; first += RANDOM_PIECE) {
    if (!rp_interrupted())
      dropout_row(seed, p, first, n - first < RANDOM_PIECE ? n - first : RANDOM_PIECE,
                  (const REAL *)x + first, (REAL *)y + first);
  }
  return rp_interrupt_status();
}

#endif
