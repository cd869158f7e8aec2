/*
** Biases of scores: a number for each query and key, or for each clipped distance (Shaw et al.
** 2018, section 3.2). The forward adds a bias to rows of scores; the backward adds the gradients of
** the scores to the gradient of the bias.
*/
#ifndef RP_BODY_BIAS_H
#define RP_BODY_BIAS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/kernels/body/row.h"
#include "core/kernels/kernels.h"

/* True if the bias is stored by key: numbers of one key are adjacent, those of a query are not. */
static bool lies_across(const RpBias *bias)
{
  const int64_t step = bias->query - bias->distance;
  return llabs(bias->key) > 1 && llabs(bias->query) <= 1 && llabs(step) <= 1;
}

/* Add consecutive elements of a bias to scores; if `step` is 0, add one element to all of them. */
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

/* The gradient of add_run: add the gradients of scores to those of the bias. */
static void add_to_run(REAL *bias, int64_t step, int64_t keys, REAL *slopes)
{
  if (step == 0) {
    *bias += row_sum(keys, slopes);
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

/* An operation on elements of a bias, `step` apart, and the scores of as many keys. */
typedef void (*BiasRun)(REAL *bias, int64_t step, int64_t keys, REAL *row);

/* Call `run` with the bias from element `at` on. If there are no keys, this may lie outside it. */
static inline __attribute__((always_inline)) void
over_run(const RpBias *bias, BiasRun run, int64_t at, int64_t step, int64_t keys, REAL *row)
{
  if (keys > 0)
    run((REAL *)bias->data + at, step, keys, row);
}

/*
** Call `run` for query i and keys from .. end - 1, in three parts: keys at distances up to `least`,
** between `least` and `most`, and from `most` on.
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

/* The bias of one (batch, head) unit. */
static RpBias unit_bias(const RpBias *bias, int64_t batch, int64_t head)
{
  RpBias unit = *bias;
  unit.data = (REAL *)bias->data + batch * bias->batch + head * bias->head;
  return unit;
}

/* The same bias with keys and queries swapped, so that the distance is i - j. */
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
