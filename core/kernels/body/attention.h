/*
** Attention by tiles of query rows; a thread works on one (batch, head) unit at a time:
** s_ij = scale (A_i q_i) . (B_j k_j) + c_ij, a = softmax(s), o_i = C_i^-1 sum_j a_ij D_j v_j
** where c is the sum of the biases and A, B, C, D are rotations by the tables (RoFormer eq. 16; the
** RoPER study for values and output). Rows are rotated while they are packed. A thread has only
** one tile of scores at a time; rows longer than MOST_KEYS are divided into blocks of keys (Dao et
** al. 2022). The backward recomputes the scores from queries and keys. The forward keeps maximum
** and sum of each query apart: a log-sum-exp of large scores would lack digits.
*/
#ifndef RP_BODY_ATTENTION_H
#define RP_BODY_ATTENTION_H

#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "core/kernels/body/attention_tile.h"

#if defined(__SSE__)
enum { FLUSH_TO_ZERO = 1 << 15 };
static inline unsigned float_mode(void)
{
  return _mm_getcsr();
}

static inline void set_float_mode(unsigned mode)
{
  _mm_setcsr(mode);
}
#elif defined(__aarch64__)
enum { FLUSH_TO_ZERO = 1 << 24 };
static inline unsigned float_mode(void)
{
  uint64_t mode;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  return (unsigned)mode;
}

static inline void set_float_mode(unsigned mode)
{
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#else
enum { FLUSH_TO_ZERO = 0 };
static inline unsigned float_mode(void)
{
  return 0;
}

static inline void set_float_mode(unsigned mode)
{
  (void)mode;
}
#endif

/*
** Results too small for the exponent become 0 in this thread until the returned mode is set again.
** Intel's processors are slow with them: on one, attention with ALiBi over 8,192 tokens took 1.8
** times as long.
*/
static inline unsigned flush_tiny(void)
{
  const unsigned mode = float_mode();
  set_float_mode(mode | FLUSH_TO_ZERO);
  return mode;
}

static int64_t row_number(const RpAttention *a, int64_t unit, int64_t i)
{
  return unit * a->queries + i;
}

/* The sums of weights by distance in an output, in the form of a bias of the weights. */
static RpBias sums_of(const RpAttention *a, const RpHeads *o)
{
  return (RpBias){.data = (REAL *)o->data + a->value_features,
                  .batch = o->batch,
                  .head = o->head,
                  .query = o->time,
                  .distance = 1,
                  .least = a->least,
                  .most = a->least + a->sums - 1};
}

/* Multiply the sums of weights by distance by a factor for each query of a tile. */
static void scale_sums(const RpAttention *a, const RpHeads *o, const Tile *t, const REAL *factors)
{
  const Rows rows = unit_rows(o, t->unit / a->heads, t->unit % a->heads);
  for (int64_t i = 0; i < t->count; i++)
    for (int64_t r = 0; r < a->sums; r++)
      rows.data[(t->first + i) * rows.stride + a->value_features + r] *= factors[i];
}

static void clear_sums(const RpAttention *a, const RpHeads *o, const Tile *t)
{
  const Rows rows = unit_rows(o, t->unit / a->heads, t->unit % a->heads);
  for (int64_t i = t->first; a->sums > 0 && i < t->first + t->count; i++)
    memset(rows.data + i * rows.stride + a->value_features, 0, (size_t)a->sums * sizeof(REAL));
}

/* Add the weights of a tile to the sums by distance, after the factors of earlier tiles. */
static void add_sums(const RpAttention *a, const RpHeads *o, const Tile *t, const REAL *factors,
                     const Scratch *w)
{
  const RpBias sums = sums_of(a, o);
  if (a->sums == 0)
    return;
  if (t->key > 0)
    scale_sums(a, o, t, factors);
  add_to_bias_tile(a, &sums, t, w, w->s);
}

static void scale_outputs(const RpAttention *a, const Tile *t, const REAL *factors,
                          const Scratch *w)
{
  for (int64_t i = 0; i < t->count; i++)
    for (int64_t f = 0; factors[i] != 1 && f < a->value_features; f++)
      w->o[i * w->value_width + f] *= factors[i];
}

static void attention_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                           Softmax *kept, const Scratch *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads;
  const int64_t d = a->features, dv = a->value_features;
  const Rows k = pack_keys(a, &a->rotate_key, b, d, w->width, key_rows(a, heads[1], b, h), w->k);
  const Rows v =
      pack_keys(a, &a->rotate_value, b, dv, w->value_width, key_rows(a, heads[2], b, h), w->v);
  const Right k_columns = columns_of(a->keys, d, k, w->k_columns);
  const Right values = pack_right(a->keys, w->value_width, v.data, v.stride, w->rows);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += w->queries) {
    Softmax softmax[BLOCK_QUERIES];
    REAL factors[BLOCK_QUERIES];
    Tile t = tile_of(a, unit, first, 0, w);
    const Rows q = pack_rows(&a->rotate_query, b, first, t.count, d, w->width,
                             unit_rows(heads[0], b, h), w->q);
    for (int64_t i = 0; i < t.count; i++)
      softmax[i] = no_scores;
    clear_sums(a, heads[3], &t);
    for (; t.columns > 0 || t.key == 0; t = tile_of(a, unit, first, t.key + w->keys, w)) {
      score_tile(a, &t, q, k, k_columns, w);
      for (int64_t i = 0; i < t.count; i++) {
        REAL *row = w->s + i * w->line;
        factors[i] = exponentiate(a, &t, first + i, &softmax[i], row);
        if (a->dropout > 0)
          dropout_row(a->seed, a->dropout, row_number(a, unit, first + i) * a->keys + t.key,
                      t.columns, row, row);
      }
      if (t.key > 0)
        scale_outputs(a, &t, factors, w);
      if (has_few(a))
        product(&(RpGemm){.m = t.count,
                          .n = dv,
                          .k = t.columns,
                          .lda = w->line,
                          .ldb = v.stride,
                          .ldc = w->value_width},
                1, w->s, v.data, w->o, no_finish, w->left);
      else
        multiply(t.count, w->value_width, t.columns, 1,
                 pack_left(t.count, t.columns, (Strided){w->s, w->line, 1}, w->left),
                 rows_from(values, t.key), t.key > 0, w->o, w->value_width, needed(a, &t, OF_A));
      add_sums(a, heads[3], &t, factors, w);
    }
    for (int64_t i = 0; i < t.count; i++)
      factors[i] = softmax[i].sum == 0 ? 0 : 1 / softmax[i].sum;
    if (kept != NULL)
      memcpy(kept + row_number(a, unit, first), softmax, (size_t)t.count * sizeof *kept);
    scale_outputs(a, &t, factors, w);
    scale_sums(a, heads[3], &t, factors);
    unpack_rows(&a->rotate_output, b, first, t.count, dv, w->value_width, w->o,
                unit_rows(heads[3], b, h));
  }
}

static void weights_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                         REAL *weights, const Scratch *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads, d = a->features;
  const Rows k = pack_keys(a, &a->rotate_key, b, d, w->width, key_rows(a, heads[1], b, h), w->k);
  const Right k_columns = columns_of(a->keys, d, k, w->k_columns);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += w->queries) {
    Tile t = tile_of(a, unit, first, 0, w);
    const Rows q = pack_rows(&a->rotate_query, b, first, t.count, d, w->width,
                             unit_rows(heads[0], b, h), w->q);
    score_tile(a, &t, q, k, k_columns, w);
    t.columns = a->keys;
    for (int64_t i = 0; i < t.count; i++) {
      REAL *row = w->s + i * w->line;
      REAL *to = weights + row_number(a, unit, first + i) * a->keys;
      Softmax softmax = no_scores;
      exponentiate(a, &t, first + i, &softmax, row);
      for (int64_t j = 0; j < a->keys; j++)
        to[j] = softmax.sum == 0 ? 0 : row[j] / softmax.sum;
    }
  }
}

/*
** Convert a tile of scores in s to weights, and the products do' v'^T in ds to gradients of the
** scores: ds = a (da - D), D = do . o.
*/
static void differentiate_tile(const RpAttention *a, const Tile *t, const Softmax *softmax, Rows o,
                               Rows g, const Scratch *w)
{
  for (int64_t i = 0; i < t->count; i++) {
    const int64_t query = t->first + i, seen = seen_of(a, t, query);
    const int64_t row = row_number(a, t->unit, query), number = row * a->keys + t->key;
    REAL *weight = w->s + i * w->line, *slope = w->ds + i * w->line;
    prefetch_row(o, query + AHEAD, a->value_features);
    const REAL dot =
        row_dot(a->value_features + a->sums, g.data + query * g.stride, o.data + query * o.stride);
    const REAL shift = shift_of(softmax[row].maximum);
    const REAL inverse = softmax[row].sum == 0 ? 0 : 1 / softmax[row].sum;
    if (a->dropout > 0)
      dropout_row(a->seed, a->dropout, number, seen, slope, slope);
    for (int64_t j = 0; j < seen; j++) {
      weight[j] = exponential(weight[j] - shift) * inverse;
      slope[j] = weight[j] * (slope[j] - dot);
    }
    zero_rest(seen, t->columns, weight);
    zero_rest(seen, t->columns, slope);
    if (a->dropout > 0)
      dropout_row(a->seed, a->dropout, number, seen, weight, weight);
  }
}

/*
** heads: q, k, v, o, output gradient, dq, dk, dv. The units of a group follow each other in one
** thread, which sums their gradients of keys and values.
*/
static void gradient_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                          const Softmax *softmax, const RpBias *dbias, const Scratch *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads, line = w->line;
  const int64_t d = a->features, dv = a->value_features, keys = a->keys;
  const RpBias sums = sums_of(a, heads[4]);
  Rows in[8];
  for (int i = 0; i < 8; i++)
    in[i] = i == 1 || i == 2 || i > 5 ? key_rows(a, heads[i], b, h) : unit_rows(heads[i], b, h);
  if (h % a->group == 0) {
    memset(w->dk, 0, (size_t)(keys * w->width) * sizeof(REAL));
    memset(w->dv, 0, (size_t)(keys * w->value_width) * sizeof(REAL));
  }
  const Rows k = pack_rows(&a->rotate_key, b, 0, keys, d, w->width, in[1], w->k);
  const Rows v = pack_rows(&a->rotate_value, b, 0, keys, dv, w->value_width, in[2], w->v);
  const Right k_columns = columns_of(keys, d, k, w->k_columns);
  const Right v_columns = columns_of(keys, dv, v, w->v_columns);
  const Right k_rows = pack_right(keys, w->width, k.data, k.stride, w->rows);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += w->queries) {
    Tile t = tile_of(a, unit, first, 0, w);
    const Rows q = pack_rows(&a->rotate_query, b, first, t.count, d, w->width, in[0], w->q);
    const Rows g = pack_rows(&a->rotate_output, b, first, t.count, dv, w->value_width, in[4], w->g);
    for (; t.columns > 0 || t.key == 0; t = tile_of(a, unit, first, t.key + w->keys, w)) {
      score_tile(a, &t, q, k, k_columns, w);
      multiply(t.count, round_up(t.columns, WIDTH_STEP), dv, 1,
               pack_left(t.count, dv, (Strided){g.data, g.stride, 1}, w->left),
               columns_from(v_columns, t.key), false, w->ds, line, needed(a, &t, OF_C));
      if (a->sums > 0)
        add_bias_tile(a, &sums, &t, w, w->ds);
      differentiate_tile(a, &t, softmax, in[3], in[4], w);
      for (int i = 0; i < a->biases; i++)
        if (dbias[i].data != NULL)
          add_to_bias_tile(a, &dbias[i], &t, w, w->ds);
      multiply(t.columns, w->value_width, t.count, 1,
               pack_left(t.columns, t.count, (Strided){w->s, 1, line}, w->left),
               pack_right(t.count, w->value_width, g.data, g.stride, w->right), true,
               w->dv + t.key * w->value_width, w->value_width, needed(a, &t, OF_TRANSPOSED_A));
      multiply(t.columns, w->width, t.count, (REAL)a->scale,
               pack_left(t.columns, t.count, (Strided){w->ds, 1, line}, w->left),
               pack_right(t.count, w->width, q.data, q.stride, w->right), true,
               w->dk + t.key * w->width, w->width, needed(a, &t, OF_TRANSPOSED_A));
      multiply(t.count, w->width, t.columns, (REAL)a->scale,
               pack_left(t.count, t.columns, (Strided){w->ds, line, 1}, w->left),
               rows_from(k_rows, t.key), t.key > 0, w->o, w->width, needed(a, &t, OF_A));
    }
    unpack_rows(&a->rotate_query, b, first, t.count, d, w->width, w->o, in[5]);
  }
  if (h % a->group != a->group - 1)
    return;
  unpack_rows(&a->rotate_key, b, 0, keys, d, w->width, w->dk, in[6]);
  unpack_rows(&a->rotate_value, b, 0, keys, dv, w->value_width, w->dv, in[7]);
}

/* The number of threads that share a pass. With few queries, reading keys and values takes longer
   than the products. */
static RpTeam team_of(const RpAttention *a, Pass pass)
{
  const double products = pass == FORWARD ? 1 : pass == WEIGHTS ? 0.5 : 2.5;
  return rp_team(RP_WORK_FLOPS, 2.0 * products * (double)(a->batch * a->heads) *
                                    (double)(a->queries + 4) * (double)a->keys *
                                    (double)(a->features + a->value_features));
}

/* Numbers of batch rows and of heads that one thread must compute, because they add to the same
   gradient of a bias, or of keys and values. */
typedef struct Share {
  int64_t batch, heads;
} Share;

static Share share_of(const RpAttention *a, bool backward, const RpBias *dbias)
{
  Share share = {1, backward ? a->group : 1};
  for (int i = 0; dbias != NULL && i < a->biases; i++) {
    if (dbias[i].data != NULL && dbias[i].batch == 0 && a->batch > 1)
      share.batch = a->batch;
    if (dbias[i].data != NULL && dbias[i].head == 0 && a->heads > 1)
      share.heads = a->heads;
  }
  return share;
}

/* Operands other than heads: the weights that WEIGHTS computes, and the softmax of each query,
   which the forward keeps unless it is NULL. */
typedef struct Results {
  REAL *weights;
  Softmax *softmax;
  const RpBias *dbias;
} Results;

static void run_share(const RpAttention *a, Pass pass, int64_t s, Share share,
                      const RpHeads *const *heads, const Results *to, const Scratch *w)
{
  const int64_t across = a->heads / share.heads;
  for (int64_t part = 0; part < share.batch * share.heads; part++) {
    const int64_t b = s / across * share.batch + part / share.heads;
    const int64_t h = s % across * share.heads + part % share.heads, unit = b * a->heads + h;
    if (pass == FORWARD)
      attention_unit(a, unit, heads, to->softmax, w);
    else if (pass == WEIGHTS)
      weights_unit(a, unit, heads, to->weights, w);
    else
      gradient_unit(a, unit, heads, to->softmax, to->dbias, w);
  }
}

/* Run all units, with working memory for each thread. */
static RpStatus run_units(const RpAttention *a, Pass pass, const RpHeads *const *heads,
                          const Results *to)
{
  Scratch sizes;
  const int64_t elements = lay_out(a, pass, NULL, &sizes);
  const Share share = share_of(a, pass == BACKWARD, to->dbias);
  const int64_t shares = a->batch / share.batch * (a->heads / share.heads);
  const RpTeam team = team_of(a, pass);
  REAL *memory = rp_alloc_array(team.size * elements, sizeof(REAL));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel num_threads(rp_present(team))
  {
    Scratch scratch;
    lay_out(a, pass, memory + rp_system_thread() * elements, &scratch);
    enter_tiles();
    const unsigned mode = flush_tiny();
#pragma omp for schedule(static) nowait
    for (int64_t s = 0; s < shares; s++)
      run_share(a, pass, s, share, heads, to, &scratch);
    set_float_mode(mode);
    leave_tiles();
  }
  rp_free(memory);
  return rp_interrupt_status();
}

static RpStatus attention(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                          const RpHeads *v, const RpHeads *o, void *softmax)
{
  return run_units(a, FORWARD, (const RpHeads *const[]){q, k, v, o},
                   &(Results){.softmax = softmax});
}

static RpStatus attention_weights(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                  void *weights)
{
  return run_units(a, WEIGHTS, (const RpHeads *const[]){q, k}, &(Results){.weights = weights});
}

static RpStatus attention_gradient(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                   const RpHeads *v, const RpHeads *o, void *softmax,
                                   const RpHeads *output_gradient, const RpHeads *dq,
                                   const RpHeads *dk, const RpHeads *dv, const RpBias *dbias)
{
  const RpHeads *const heads[] = {q, k, v, o, output_gradient, dq, dk, dv};
  return run_units(a, BACKWARD, heads, &(Results){.softmax = softmax, .dbias = dbias});
}

#endif
