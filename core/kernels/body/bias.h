/*
** Numbers for each query and key, read by distance where they are clipped, as Shaw et al. (2018,
** section 3.2) clip them: added to a row of scores, or what flows back to the scores added to them.
*/
#ifndef RP_BODY_BIAS_H
#define RP_BODY_BIAS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/kernels/kernels.h"

/* Are the numbers of one key side by side, and those of one query far apart? */
static bool lies_across(const RpBias *bias)
{
  const int64_t step = bias->query - bias->distance;
  return llabs(bias->key) > 1 && llabs(bias->query) <= 1 && llabs(step) <= 1;
}

/* Add numbers to scores; one number where the step is 0. */
static void add_run(REAL *bias, int64_t step, int64_t keys, REAL *scores)
{
  if (step == 0)
    for (int64_t j = 0; j < keys; j++)
      scores[j] += *bias;
  else if (step == 1)
    for (int64_t j = 0; j < keys; j++)
      scores[j] += bias[j];
  else
    for (int64_t j = 0; j < keys; j++)
      scores[j] += bias[j * step];
}

/* The other way: what flows back to the scores flows back to the bias. */
static void add_to_run(REAL *bias, int64_t step, int64_t keys, REAL *slopes)
{
  REAL sum = 0;
  if (step == 0) {
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < keys; j++)
      sum += slopes[j];
    *bias += sum;
  } else if (step == 1) {
    for (int64_t j = 0; j < keys; j++)
      bias[j] += slopes[j];
  } else {
    for (int64_t j = 0; j < keys; j++)
      bias[j * step] += slopes[j];
  }
}

static inline int64_t clip(int64_t x, int64_t least, int64_t most)
{
  return x < least ? least : x > most ? most : x;
}

/* What is done with a run of numbers and the scores that they are for. */
typedef void (*BiasRun)(REAL *bias, int64_t step, int64_t keys, REAL *row);

/* A run from the number at a place, which is there only where the run has keys. */
static inline __attribute__((always_inline)) void
over_run(const RpBias *bias, BiasRun run, int64_t place, int64_t step, int64_t keys, REAL *row)
{
  if (keys > 0)
    run((REAL *)bias->data + place, step, keys, row);
}

/*
** Query i and the keys from .. end - 1: three runs, of the keys at the least distance or
** before, of those between, and of those at the most or beyond.
*/
static inline __attribute__((always_inline)) void
over_row(const RpBias *bias, BiasRun run, int64_t i, int64_t from, int64_t end, REAL *row)
{
  const int64_t left = clip(i + bias->least, from, end), right = clip(i + bias->most, left, end);
  const int64_t place = i * bias->query;
  over_run(bias, run, place + from * bias->key, bias->key, left - from, row);
  over_run(bias, run, place + left * bias->key + (left - i - bias->least) * bias->distance,
           bias->key + bias->distance, right - left, row + left - from);
  over_run(bias, run, place + right * bias->key + (bias->most - bias->least) * bias->distance,
           bias->key, end - right, row + right - from);
}

/* The numbers of one (batch, head). */
static RpBias unit_bias(const RpBias *bias, int64_t batch, int64_t head)
{
  RpBias unit = *bias;
  unit.data = (REAL *)bias->data + batch * bias->batch + head * bias->head;
  return unit;
}

/* The same numbers with keys in the place of queries: i - j is the distance. */
static RpBias mirrored(const RpBias *bias)
{
  RpBias mirror = *bias;
  mirror.data = (REAL *)bias->data + (bias->most - bias->least) * bias->distance;
  mirror.query = bias->key;
  mirror.key = bias->query;
  mirror.distance = -bias->distance;
  mirror.least = -bias->most;
  mirror.most = -bias->least;
  return mirror;
}

#endif
