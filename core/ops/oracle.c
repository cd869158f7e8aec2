/* Reference implementation of attention, directly from the definition, for tests and lessons. */
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
  double *rotated; /* room for one vector */
  double scale;
} Oracle;

/* Indices of one query and one key. */
typedef struct Indices {
  const RpAttentionOptions *options;
  int64_t batch, queries, keys, i, j;
} Indices;

/* Coordinate c of the query's or the key's position. */
static double position_of(const Indices *at, unsigned part, int c)
{
  const bool of_query = (part & (RP_ROTATE_QUERY | RP_ROTATE_OUTPUT)) != 0;
  return of_query ? rp_position_at(&at->options->queries, at->batch, at->queries, at->i, c)
                  : rp_position_at(&at->options->keys, at->batch, at->keys, at->j, c);
}

/*
** y = R x, the rotation of key j relative to query i (RoFormer eq. 15 and 16). Pair t
** is rotated by (j - i) theta_t if the parts of both the query and the key are
** rotated, and by -i theta_t or j theta_t if only one is. `near` is the part of the
** query (q or o), `far` that of the key (k or v).
*/
static void rotate(const Indices *at, unsigned near, unsigned far, int64_t features,
                   const double *x, double *y)
{
  const RpRotary *rotary = at->options->rotary;
  for (int64_t i = 0; i < features; i++)
    y[i] = x[i];
  if (rotary == NULL || (rotary->parts & (near | far)) == 0)
    return;
  const int64_t pairs = rp_rotary_pairs(rotary, near);
  const double *theta = rp_rotary_theta(rotary, near);
  const int64_t first = rotary->last ? rotary->dim - 2 * pairs : 0;
  for (int64_t t = 0; t < pairs; t++) {
    const int64_t a = first + (rotary->interleaved ? 2 * t : t);
    const int64_t b = rotary->interleaved ? a + 1 : a + pairs;
    const int c = rp_rotary_coordinate(rotary, t);
    double distance = 0, magnitude = 1;
    if ((rotary->parts & far) != 0) {
      distance += position_of(at, far, c);
      magnitude *= rp_rotary_magnitude(rotary, far, t, position_of(at, far, c));
    }
    if ((rotary->parts & near) != 0) {
      distance -= position_of(at, near, c);
      magnitude *= rp_rotary_magnitude(rotary, near, t, position_of(at, near, c));
    }
    const double cosine = magnitude * cos(distance * theta[t]);
    const double sine = magnitude * sin(distance * theta[t]);
    y[a] = x[a] * cosine - x[b] * sine;
    y[b] = x[b] * cosine + x[a] * sine;
  }
}

static double *vector(const RpTensor *x, int64_t unit, int64_t i)
{
  return (double *)rp_tensor_data(x) + (unit * x->shape[2] + i) * x->shape[3];
}

/* The (batch, head) unit of keys and values for a unit of queries. */
static int64_t key_unit(const Oracle *oracle, int64_t unit)
{
  const int64_t heads = oracle->q->shape[1], shared = oracle->k->shape[1];
  return unit / heads * shared + unit % heads / (heads / shared);
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

/* a = q_i^T R_{j-i} k_j for all keys j, with the scheme's R. */
static void score(const Oracle *oracle, Indices at, int64_t unit, double *a)
{
  const int64_t d = oracle->q->shape[3], keys = key_unit(oracle, unit);
  for (at.j = 0; at.j < at.keys; at.j++) {
    rotate(&at, RP_ROTATE_QUERY, RP_ROTATE_KEY, d, vector(oracle->k, keys, at.j), oracle->rotated);
    a[at.j] = dot(d, vector(oracle->q, unit, at.i), oracle->rotated);
  }
}

static double bias_at(const Oracle *oracle, int64_t unit, int64_t i, int64_t j)
{
  const int64_t heads = oracle->q->shape[1];
  double sum = 0;
  for (int c = 0; c < oracle->options->biases; c++) {
    const RpTensor *bias = oracle->bias[c];
    int64_t index[] = {unit / heads, unit % heads, i, j, j - i - oracle->options->first[c]};
    if (bias->rank == 5 && index[4] >= bias->shape[4])
      index[4] = bias->shape[4] - 1;
    if (index[4] < 0)
      index[4] = 0;
    sum += rp_tensor_get(bias, index);
  }
  return sum;
}

/* Convert products a to weights: softmax(scale a + c) over the keys that query i sees. */
static void to_softmax_weights(const Oracle *oracle, int64_t unit, int64_t i, double *a)
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

/* Convert scores a of linear attention to weights: divide them by the sum of unrotated scores. */
static void to_linear_weights(const Oracle *oracle, int64_t unit, int64_t i, double *a)
{
  double sum = oracle->options->epsilon;
  for (int64_t j = 0; j < oracle->k->shape[2]; j++)
    if (sees(oracle, unit, i, j))
      sum += dot(oracle->q->shape[3], vector(oracle->q, unit, i), vector(oracle->k, unit, j));
  for (int64_t j = 0; j < oracle->k->shape[2]; j++)
    a[j] = sees(oracle, unit, i, j) ? a[j] / sum : 0;
}

/* Compute the weights and the output of one query. */
static void attend(const Oracle *oracle, int64_t unit, int64_t i)
{
  const int64_t dv = oracle->v->shape[3], keys = key_unit(oracle, unit);
  Indices at = {
      oracle->options, unit / oracle->q->shape[1], oracle->q->shape[2], oracle->k->shape[2], i, 0};
  double *a = vector(oracle->weights, unit, i), *o = vector(oracle->o, unit, i);
  score(oracle, at, unit, a);
  if (oracle->options->linear)
    to_linear_weights(oracle, unit, i, a);
  else
    to_softmax_weights(oracle, unit, i, a);
  for (int64_t f = 0; f < dv; f++)
    o[f] = 0;
  for (at.j = 0; at.j < at.keys; at.j++) {
    if (a[at.j] == 0)
      continue;
    rotate(&at, RP_ROTATE_OUTPUT, RP_ROTATE_VALUE, dv, vector(oracle->v, keys, at.j),
           oracle->rotated);
    for (int64_t f = 0; f < dv; f++)
      o[f] += a[at.j] * oracle->rotated[f];
  }
}

/* x = elu(x) + 1, in place. */
static void map_features(RpTensor *x)
{
  double *value = rp_tensor_data(x);
  for (int64_t i = 0; i < rp_tensor_count(x); i++)
    value[i] = value[i] > 0 ? value[i] + 1 : exp(value[i]);
}

/* Create the tensors of the oracle; the caller releases them, also after a failure. */
static RpStatus prepare(Oracle *oracle, RpTensor *q, RpTensor *k, RpTensor *v)
{
  const RpAttentionOptions *options = oracle->options;
  int64_t weights[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2], 0};
  const int64_t output[] = {q->shape[0], q->shape[1], q->shape[2], v->shape[3]};
  const int64_t width = q->shape[3] > v->shape[3] ? q->shape[3] : v->shape[3];
  oracle->scale = options->scale != 0 ? options->scale : 1 / sqrt((double)q->shape[3]);
  oracle->q = rp_tensor_convert(q, RP_FLOAT64);
  oracle->k = rp_tensor_convert(k, RP_FLOAT64);
  oracle->v = rp_tensor_convert(v, RP_FLOAT64);
  oracle->weights = rp_tensor_new(RP_FLOAT64, 4, weights);
  oracle->o = rp_tensor_new(RP_FLOAT64, 4, output);
  oracle->rotated = rp_alloc_array(width, sizeof(double));
  if (options->mask != NULL)
    oracle->mask = rp_tensor_broadcast(options->mask, 4, weights);
  bool ready = true;
  for (int i = 0; i < options->biases; i++) {
    const int rank = options->bias[i]->rank == 5 ? 5 : 4;
    weights[4] = rank == 5 ? options->bias[i]->shape[4] : 0;
    oracle->bias[i] = rp_tensor_broadcast(options->bias[i], rank, weights);
    ready &= oracle->bias[i] != NULL;
  }
  ready &= oracle->q != NULL && oracle->k != NULL && oracle->v != NULL && oracle->weights != NULL &&
           oracle->o != NULL && oracle->rotated != NULL &&
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
  rp_free(oracle.rotated);
  if (weights != NULL && status == RP_OK)
    *weights = oracle.weights;
  else
    rp_tensor_release(oracle.weights);
  return rp_tensor_unless_failed(status, oracle.o);
}
