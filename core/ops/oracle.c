/* Attention from its definition, for tests and lessons. */
#include <math.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/ops/attention.h"
#include "core/tensor/copy.h"

/* One problem in float64, packed. */
typedef struct Oracle {
  const RpAttentionOptions *options;
  RpTensor *q, *k, *v, *mask, *weights, *o;
  RpTensor *bias[RP_MAX_BIASES];
  double *turned; /* room for one vector */
  double scale;
} Oracle;

static double position_at(const RpPositions *positions, int64_t batch, int64_t i)
{
  const RpTensor *list = positions->list;
  if (list == NULL)
    return positions->offset + (double)i;
  const int64_t index[] = {batch, i};
  return list->rank == 1 || list->shape[0] == 1 ? ((const double *)rp_tensor_data(list))[i]
                                                : rp_tensor_get(list, index);
}

/*
** y = R_p x, pair by pair with the angle p theta_t (RoFormer eq. 15). R_0 is the
** identity: a side that is not rotated may be narrower than the pairs reach.
*/
static void rotate(const RpRotary *rotary, int64_t pairs, double p, int64_t features,
                   const double *x, double *y)
{
  for (int64_t i = 0; i < features; i++)
    y[i] = x[i];
  for (int64_t t = 0; p != 0 && t < pairs; t++) {
    const int64_t a = rotary->interleaved ? 2 * t : t, b = rotary->interleaved ? a + 1 : t + pairs;
    const double angle = p * rp_rotary_theta(rotary, pairs, t);
    y[a] = x[a] * cos(angle) - x[b] * sin(angle);
    y[b] = x[b] * cos(angle) + x[a] * sin(angle);
  }
}

/*
** The angle, as a position, by which key j turns as seen from query i: j - i
** where both sides are rotated, j or -i where only one is.
*/
static double relative(unsigned parts, unsigned near, unsigned far, double i, double j)
{
  return ((parts & far) != 0 ? j : 0) - ((parts & near) != 0 ? i : 0);
}

static double *vector(const RpTensor *x, int64_t unit, int64_t i)
{
  return (double *)rp_tensor_data(x) + (unit * x->shape[2] + i) * x->shape[3];
}

static bool sees(const Oracle *oracle, int64_t unit, int64_t i, int64_t j)
{
  const int64_t heads = oracle->q->shape[1], index[] = {unit / heads, unit % heads, i, j};
  if (oracle->options->causal && j > i + oracle->k->shape[2] - oracle->q->shape[2])
    return false;
  return oracle->mask == NULL || rp_tensor_get(oracle->mask, index) != 0;
}

static double dot(int64_t n, const double *a, const double *b)
{
  double sum = 0;
  for (int64_t f = 0; f < n; f++)
    sum += a[f] * b[f];
  return sum;
}

/* a = q_i^T R_{j-i} k_j, with the R that `rotary` asks for. */
static void score(const Oracle *oracle, const RpRotary *rotary, int64_t unit, int64_t i, double *a)
{
  const RpAttentionOptions *options = oracle->options;
  const int64_t batch = unit / oracle->q->shape[1], d = oracle->q->shape[3];
  const double here = position_at(&options->queries, batch, i);
  for (int64_t j = 0; j < oracle->k->shape[2]; j++) {
    const double there = position_at(&options->keys, batch, j);
    const double p = relative(rotary->parts, RP_ROTATE_QUERY, RP_ROTATE_KEY, here, there);
    rotate(rotary, rotary->pairs, p, d, vector(oracle->k, unit, j), oracle->turned);
    a[j] = dot(d, vector(oracle->q, unit, i), oracle->turned);
  }
}

static double bias_at(const Oracle *oracle, int64_t unit, int64_t i, int64_t j)
{
  const int64_t heads = oracle->q->shape[1], index[] = {unit / heads, unit % heads, i, j};
  double sum = 0;
  for (int c = 0; c < oracle->options->biases; c++)
    sum += rp_tensor_get(oracle->bias[c], index);
  return sum;
}

/* Products a become weights: softmax(scale a + c) over the keys that query i sees. */
static void soften(const Oracle *oracle, int64_t unit, int64_t i, double *a)
{
  const int64_t keys = oracle->k->shape[2];
  double maximum = -INFINITY, sum = 0;
  for (int64_t j = 0; j < keys; j++) {
    a[j] =
        sees(oracle, unit, i, j) ? a[j] * oracle->scale + bias_at(oracle, unit, i, j) : -INFINITY;
    maximum = a[j] > maximum ? a[j] : maximum;
  }
  for (int64_t j = 0; j < keys; j++) {
    a[j] = maximum > -INFINITY ? exp(a[j] - maximum) : 0;
    sum += a[j];
  }
  for (int64_t j = 0; j < keys; j++)
    a[j] = sum > 0 ? a[j] / sum : 0;
}

/* Scores a of features become weights: over the sum of the scores that nothing rotates. */
static void divide(const Oracle *oracle, int64_t unit, int64_t i, double *a)
{
  double sum = oracle->options->epsilon;
  for (int64_t j = 0; j < oracle->k->shape[2]; j++)
    if (sees(oracle, unit, i, j))
      sum += dot(oracle->q->shape[3], vector(oracle->q, unit, i), vector(oracle->k, unit, j));
  for (int64_t j = 0; j < oracle->k->shape[2]; j++)
    a[j] = sees(oracle, unit, i, j) ? a[j] / sum : 0;
}

/* One query: its weights, then its output. */
static void attend(const Oracle *oracle, int64_t unit, int64_t i)
{
  const RpAttentionOptions *options = oracle->options;
  const RpRotary none = {0}, *rotary = options->rotary != NULL ? options->rotary : &none;
  const int64_t batch = unit / oracle->q->shape[1], dv = oracle->v->shape[3];
  const double here = position_at(&options->queries, batch, i);
  double *a = vector(oracle->weights, unit, i), *o = vector(oracle->o, unit, i);
  score(oracle, rotary, unit, i, a);
  if (options->linear)
    divide(oracle, unit, i, a);
  else
    soften(oracle, unit, i, a);
  for (int64_t f = 0; f < dv; f++)
    o[f] = 0;
  for (int64_t j = 0; j < oracle->k->shape[2]; j++) {
    const double there = position_at(&options->keys, batch, j);
    const double p = relative(rotary->parts, RP_ROTATE_OUTPUT, RP_ROTATE_VALUE, here, there);
    if (a[j] == 0)
      continue;
    rotate(rotary, rotary->value_pairs, p, dv, vector(oracle->v, unit, j), oracle->turned);
    for (int64_t f = 0; f < dv; f++)
      o[f] += a[j] * oracle->turned[f];
  }
}

/* x becomes elu(x) + 1. */
static void map_features(RpTensor *x)
{
  double *value = rp_tensor_data(x);
  for (int64_t i = 0; i < rp_tensor_count(x); i++)
    value[i] = value[i] > 0 ? value[i] + 1 : exp(value[i]);
}

/* Everything the sums read and write; the caller releases what is there on failure too. */
static RpStatus prepare(Oracle *oracle, RpTensor *q, RpTensor *k, RpTensor *v)
{
  const RpAttentionOptions *options = oracle->options;
  const int64_t weights[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  const int64_t output[] = {q->shape[0], q->shape[1], q->shape[2], v->shape[3]};
  const int64_t width = q->shape[3] > v->shape[3] ? q->shape[3] : v->shape[3];
  oracle->scale = options->scale != 0 ? options->scale : 1 / sqrt((double)q->shape[3]);
  oracle->q = rp_tensor_convert(q, RP_FLOAT64);
  oracle->k = rp_tensor_convert(k, RP_FLOAT64);
  oracle->v = rp_tensor_convert(v, RP_FLOAT64);
  oracle->weights = rp_tensor_new(RP_FLOAT64, 4, weights);
  oracle->o = rp_tensor_new(RP_FLOAT64, 4, output);
  oracle->turned = rp_alloc((size_t)width * sizeof(double));
  if (options->mask != NULL)
    oracle->mask = rp_tensor_broadcast(options->mask, 4, weights);
  bool ready = true;
  for (int i = 0; i < options->biases; i++) {
    oracle->bias[i] = rp_tensor_broadcast(options->bias[i], 4, weights);
    ready &= oracle->bias[i] != NULL;
  }
  ready &= oracle->q != NULL && oracle->k != NULL && oracle->v != NULL && oracle->weights != NULL &&
           oracle->o != NULL && oracle->turned != NULL &&
           (options->mask == NULL || oracle->mask != NULL);
  if (ready && options->linear) {
    map_features(oracle->q);
    map_features(oracle->k);
  }
  return ready ? RP_OK : rp_last_status();
}

RpTensor *rp_oracle_attention(RpTensor *q, RpTensor *k, RpTensor *v,
                              const RpAttentionOptions *options, RpTensor **weights)
{
  Oracle oracle = {.options = options};
  if (rp_attention_check(q, k, v, options) != RP_OK)
    return NULL;
  RpStatus status = prepare(&oracle, q, k, v);
  const int64_t queries = q->shape[2], rows = q->shape[0] * q->shape[1] * queries;
  for (int64_t row = 0; status == RP_OK && row < rows; row++) {
    attend(&oracle, row / queries, row % queries);
    status = rp_interrupt_status();
  }
  rp_tensor_release(oracle.q);
  rp_tensor_release(oracle.k);
  rp_tensor_release(oracle.v);
  rp_tensor_release(oracle.mask);
  for (int i = 0; i < options->biases; i++)
    rp_tensor_release(oracle.bias[i]);
  rp_free(oracle.turned);
  if (weights != NULL && status == RP_OK)
    *weights = oracle.weights;
  else
    rp_tensor_release(oracle.weights);
  return rp_tensor_unless_failed(status, oracle.o);
}
