/*
** Attention by tiles of query rows; a thread works on one (batch, head) unit at a time:
** s_ij = scale (A_i q_i) . (B_j k_j) + c_ij, a = softmax(s), o_i = C_i^-1 sum_j a_ij D_j v_j
** where c is the sum of the biases and A, B, C, D are rotations by the tables (RoFormer eq. 16; the
** RoPER study for values and output). Rows are rotated while they are packed. A thread has only one
** tile of scores at a time. The backward recomputes the scores and the softmax from queries and
** keys: a saved log-sum-exp of large scores would lack digits.
*/
#ifndef RP_BODY_ATTENTION_H
#define RP_BODY_ATTENTION_H

#include "core/kernels/body/bias.h"
#include "core/kernels/body/gemm.h"
#include "core/kernels/body/heads.h"
#include "core/kernels/body/operand.h"
#include "core/kernels/body/row.h"

enum {
  TILE = 48,
  FEW = 8 /* below this many queries, as in generation, keys and values are read in place */
};

/*
** The working memory of a thread. Rows are padded with zeros to whole vectors; keys
** and values are also stored as columns, [features, keys], for products with their
** transpose. `line` is the stride of rows of scores, padded to avoid powers of two,
** which would cause conflicts in the cache.
*/
typedef struct Scratch {
  int64_t width, value_width, line;
  REAL *k, *v, *q, *o;           /* keys, values; a tile of queries, and of outputs or dq */
  Packed *k_columns, *v_columns; /* NULL if not used */
  Packed *left, *right;          /* operands of one product */
  Packed *rows;                  /* values, or keys in the backward, as a right operand */
  REAL *s;                       /* a tile of scores */
  REAL *across;                  /* the tile transposed, for biases stored by key, or NULL */
  REAL *g, *ds, *dk, *dv;        /* backward: tiles of output and score gradients; sums */
} Scratch;

static bool has_few(const RpAttention *a)
{
  return !ROUNDS_OPERANDS && a->queries < FEW;
}

/* Reserve memory for packed operands. */
static Packed *reserve_packed(REAL *memory, int64_t *used, int64_t count)
{
  return (Packed *)reserve(memory, used, count * (int64_t)sizeof(Packed) / (int64_t)sizeof(REAL));
}

static bool has_across(const RpAttention *a)
{
  bool has = false;
  for (int i = 0; i < a->biases; i++)
    has |= lies_across(&a->bias[i]);
  return has;
}

/* Lay out the scratch in `memory`, which may be NULL; returns its size in elements. */
static int64_t lay_out(const RpAttention *a, bool backward, REAL *memory, Scratch *scratch)
{
  const int64_t width = round_up(a->features, STEP),
                value_width = round_up(a->value_features, STEP);
  const int64_t keys = round_up(a->keys, STEP), line = keys + LANES;
  const bool few = has_few(a) && !backward;
  int64_t used = 0;
  *scratch = (Scratch){.width = width, .value_width = value_width, .line = line};
  scratch->k = reserve(memory, &used, keys * width);
  scratch->v = reserve(memory, &used, keys * value_width);
  scratch->q = reserve(memory, &used, TILE * width);
  const int64_t widest = larger(width, value_width);
  scratch->o = reserve(memory, &used, TILE * widest);
  scratch->s = reserve(memory, &used, TILE * line);
  scratch->left = reserve_packed(
      memory, &used, larger(left_room(TILE, larger(keys, widest)), left_room(keys, TILE)));
  scratch->right = reserve_packed(memory, &used, right_room(TILE, widest));
  scratch->rows = reserve_packed(memory, &used, right_room(keys, widest));
  if (!few)
    scratch->k_columns = reserve_packed(memory, &used, columns_room(width, keys));
  if (!few && has_across(a))
    scratch->across = reserve(memory, &used, line * TILE);
  if (backward) {
    scratch->v_columns = reserve_packed(memory, &used, columns_room(value_width, keys));
    scratch->g = reserve(memory, &used, TILE * value_width);
    scratch->ds = reserve(memory, &used, TILE * line);
    scratch->dk = reserve(memory, &used, a->keys * width);
    scratch->dv = reserve(memory, &used, a->keys * value_width);
  }
  return used;
}

/* One unit's view of keys, values or their gradients, which a group of heads shares. */
static Rows key_rows(const RpAttention *a, const RpHeads *x, int64_t b, int64_t h)
{
  return unit_rows(x, b, h / a->group);
}

/* Keys or values, packed, or in place if there are few queries and no rotation. */
static Rows pack_keys(const RpAttention *a, const RpTable *table, int64_t batch, int64_t features,
                      int64_t width, Rows x, REAL *packed)
{
  const bool in_place = table->pairs == 0 && x.stride >= features && x.stride <= INT_MAX;
  return has_few(a) && in_place ? x
                                : pack_rows(table, batch, 0, a->keys, features, width, x, packed);
}

/* Number of keys that query i sees, apart from the mask. */
static inline int64_t visible(const RpAttention *a, int64_t i)
{
  return a->causal ? i + 1 + a->keys - a->queries : a->keys;
}

/* The part of a product that the tile of queries beginning at `first` needs. */
static Causal needed(const RpAttention *a, int64_t first, int part)
{
  return a->causal ? (Causal){part, visible(a, first)} : whole_product;
}

/*
** Call `run` for a bias and a tile of the queries first .. first + count - 1: for each query, with
** the keys that it sees; or, if the bias is stored by key, for each key, with all these queries.
*/
static inline __attribute__((always_inline)) void
over_tile(const RpAttention *a, const RpBias *bias, BiasRun run, bool changes_tile, int64_t unit,
          int64_t first, int64_t count, const Scratch *w, REAL *tile)
{
  const RpBias rows = unit_bias(bias, unit / a->heads, unit % a->heads), by_key = mirrored(&rows);
  const int64_t columns = visible(a, first + count - 1), whole = round_up(columns, LANES);
  if (w->across == NULL || !lies_across(bias)) {
    for (int64_t i = first; i < first + count; i++)
      over_row(&rows, run, i, 0, visible(a, i), tile + (i - first) * w->line);
    return;
  }
  transpose(TILE, whole, tile, w->line, w->across, TILE);
  for (int64_t j = 0; j < columns; j++)
    over_row(&by_key, run, j, first, first + count, w->across + j * TILE);
  if (changes_tile)
    transpose(whole, TILE, w->across, TILE, tile, w->line);
}

static void add_bias_tile(const RpAttention *a, const RpBias *bias, int64_t unit, int64_t first,
                          int64_t count, const Scratch *w, REAL *scores)
{
  over_tile(a, bias, add_run, true, unit, first, count, w, scores);
}

/* `slopes` are the gradients of the scores, 0 where a query does not see a key. */
static void add_to_bias_tile(const RpAttention *a, const RpBias *bias, int64_t unit, int64_t first,
                             int64_t count, const Scratch *w, REAL *slopes)
{
  over_tile(a, bias, add_to_run, false, unit, first, count, w, slopes);
}

/*
** s = scores of queries first .. first + count - 1, minus infinity where the mask
** hides a key. Entries beyond the causal limit of a row are undefined. Returns the
** number of columns of the tile.
*/
static int64_t score_tile(const RpAttention *a, int64_t unit, int64_t first, int64_t count, Rows q,
                          Rows k, Right k_columns, const Scratch *scratch)
{
  const int64_t columns = visible(a, first + count - 1), line = scratch->line;
  if (scratch->k_columns == NULL)
    product(false, true, count, columns, a->features, a->scale, q.data, q.stride, k.data, k.stride,
            false, scratch->s, line, scratch->left);
  else
    multiply(count, round_up(columns, STEP), a->features, (REAL)a->scale,
             pack_left(count, a->features, (Strided){q.data, q.stride, 1}, scratch->left),
             k_columns, false, scratch->s, line, needed(a, first, OF_C));
  for (int i = 0; i < a->biases; i++)
    add_bias_tile(a, &a->bias[i], unit, first, count, scratch, scratch->s);
  if (a->mask == NULL)
    return columns;
  const int64_t *step = a->mask_strides;
  const int32_t *mask = a->mask + unit / a->heads * step[0] + unit % a->heads * step[1];
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < columns; j++)
      if (mask[(first + i) * step[2] + j * step[3]] == 0)
        scratch->s[i * line + j] = -(REAL)INFINITY;
  return columns;
}

/* Zero elements first .. end - 1 of a row of scores by whole vectors, which may exceed the end. */
static inline void zero_from(int64_t first, int64_t end, REAL *row)
{
  for (int64_t j = first; j < end; j += LANES) {
    *(Vector *)(row + j) = (Vector){0};
    __asm__ volatile("" ::: "memory"); /* prevents a slower call of memset */
  }
}

/*
** Convert a row of scores to exponentials, which are 0 beyond the causal limit and
** for a query that sees no key; return their sum. Works on whole vectors, of which
** the last may exceed the limit.
*/
static REAL exponentiate(const RpAttention *a, int64_t i, int64_t columns, REAL *s)
{
  const int64_t seen = visible(a, i), whole = round_up(seen, LANES);
  for (int64_t j = seen; j < whole; j++)
    s[j] = -(REAL)INFINITY;
  const REAL maximum = row_maximum(whole, s);
  /* if all keys are hidden, the exponentials are 0, not exp(-inf + inf) */
  const REAL sum = exponential_row(whole, s, maximum == -(REAL)INFINITY ? 0 : maximum, s);
  zero_from(seen, columns, s);
  return sum;
}

/* Keys or values as columns; empty if `room` is NULL. */
static Right columns_of(int64_t keys, int64_t features, Rows x, Packed *room)
{
  return room != NULL ? pack_columns(features, keys, x.data, x.stride, room) : (Right){NULL, 0, 0};
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

/* Sum a tile of weights by distance, and multiply each row of sums by its factor. */
static void sum_tile(const RpAttention *a, const RpHeads *o, int64_t unit, int64_t first,
                     int64_t count, const REAL *factors, const Scratch *w)
{
  const RpBias sums = sums_of(a, o);
  const Rows rows = unit_rows(o, unit / a->heads, unit % a->heads);
  for (int64_t i = first; i < first + count; i++)
    memset(rows.data + i * rows.stride + a->value_features, 0, (size_t)a->sums * sizeof(REAL));
  add_to_bias_tile(a, &sums, unit, first, count, w, w->s);
  for (int64_t i = first; i < first + count; i++)
    for (int64_t r = 0; r < a->sums; r++)
      rows.data[i * rows.stride + a->value_features + r] *= factors[i - first];
}

static void attention_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                           const Scratch *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads;
  const int64_t d = a->features, dv = a->value_features;
  const Rows k = pack_keys(a, &a->rotate_key, b, d, w->width, key_rows(a, heads[1], b, h), w->k);
  const Rows v =
      pack_keys(a, &a->rotate_value, b, dv, w->value_width, key_rows(a, heads[2], b, h), w->v);
  const Right k_columns = columns_of(a->keys, d, k, w->k_columns);
  const Right values = pack_right(a->keys, w->value_width, v.data, v.stride, w->rows);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q =
        pack_rows(&a->rotate_query, b, first, count, d, w->width, unit_rows(heads[0], b, h), w->q);
    const int64_t columns = score_tile(a, unit, first, count, q, k, k_columns, w);
    REAL inverse[TILE];
    for (int64_t i = 0; i < count; i++) {
      REAL *row = w->s + i * w->line;
      const REAL sum = exponentiate(a, first + i, columns, row);
      inverse[i] = sum == 0 ? 0 : 1 / sum;
      if (a->dropout > 0)
        dropout_row(a->seed, a->dropout, row_number(a, unit, first + i) * a->keys, columns, row,
                    row);
    }
    if (has_few(a))
      product(false, false, count, dv, columns, 1, w->s, w->line, v.data, v.stride, false, w->o,
              w->value_width, w->left);
    else
      multiply(count, w->value_width, columns, 1,
               pack_left(count, columns, (Strided){w->s, w->line, 1}, w->left), values, false, w->o,
               w->value_width, needed(a, first, OF_A));
    for (int64_t i = 0; i < count; i++)
      for (int64_t f = 0; f < dv; f++)
        w->o[i * w->value_width + f] *= inverse[i];
    unpack_rows(&a->rotate_output, b, first, count, dv, w->value_width, w->o,
                unit_rows(heads[3], b, h));
    if (a->sums > 0)
      sum_tile(a, heads[3], unit, first, count, inverse, w);
  }
}

static void weights_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                         REAL *weights, const Scratch *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads, d = a->features;
  const Rows k = pack_keys(a, &a->rotate_key, b, d, w->width, key_rows(a, heads[1], b, h), w->k);
  const Right k_columns = columns_of(a->keys, d, k, w->k_columns);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q =
        pack_rows(&a->rotate_query, b, first, count, d, w->width, unit_rows(heads[0], b, h), w->q);
    score_tile(a, unit, first, count, q, k, k_columns, w);
    for (int64_t i = 0; i < count; i++) {
      REAL *row = w->s + i * w->line;
      REAL *to = weights + row_number(a, unit, first + i) * a->keys;
      const REAL sum = exponentiate(a, first + i, a->keys, row);
      for (int64_t j = 0; j < a->keys; j++)
        to[j] = sum == 0 ? 0 : row[j] / sum;
    }
  }
}

/*
** Convert a tile of scores in s to weights, and the products do' v'^T in ds to gradients of the
** scores: ds = a (da - D), D = do . o.
*/
static void differentiate_tile(const RpAttention *a, int64_t unit, int64_t first, int64_t count,
                               int64_t columns, Rows o, Rows g, const Scratch *w)
{
  for (int64_t i = 0; i < count; i++) {
    const int64_t number = row_number(a, unit, first + i), seen = visible(a, first + i);
    REAL *weight = w->s + i * w->line, *slope = w->ds + i * w->line;
    prefetch_row(o, first + i + AHEAD, a->value_features);
    const REAL dot = row_dot(a->value_features + a->sums, g.data + (first + i) * g.stride,
                             o.data + (first + i) * o.stride);
    const REAL sum = exponentiate(a, first + i, columns, weight), inverse = sum == 0 ? 0 : 1 / sum;
    if (a->dropout > 0)
      dropout_row(a->seed, a->dropout, number * a->keys, seen, slope, slope);
    for (int64_t j = 0; j < round_up(seen, LANES); j++) {
      weight[j] *= inverse;
      slope[j] = weight[j] * (slope[j] - dot);
    }
    if (a->dropout > 0)
      dropout_row(a->seed, a->dropout, number * a->keys, seen, weight, weight);
    zero_from(seen, columns, slope);
  }
}

/*
** heads: q, k, v, o, output gradient, dq, dk, dv. The units of a group follow each other in one
** thread, which sums their gradients of keys and values.
*/
static void gradient_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                          const RpBias *dbias, const Scratch *w)
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
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q = pack_rows(&a->rotate_query, b, first, count, d, w->width, in[0], w->q);
    const Rows g = pack_rows(&a->rotate_output, b, first, count, dv, w->value_width, in[4], w->g);
    const int64_t columns = score_tile(a, unit, first, count, q, k, k_columns, w);
    multiply(count, round_up(columns, STEP), dv, 1,
             pack_left(count, dv, (Strided){g.data, g.stride, 1}, w->left), v_columns, false, w->ds,
             line, needed(a, first, OF_C));
    if (a->sums > 0)
      add_bias_tile(a, &sums, unit, first, count, w, w->ds);
    differentiate_tile(a, unit, first, count, columns, in[3], in[4], w);
    for (int i = 0; i < a->biases; i++)
      if (dbias[i].data != NULL)
        add_to_bias_tile(a, &dbias[i], unit, first, count, w, w->ds);
    multiply(columns, w->value_width, count, 1,
             pack_left(columns, count, (Strided){w->s, 1, line}, w->left),
             pack_right(count, w->value_width, g.data, g.stride, w->right), true, w->dv,
             w->value_width, needed(a, first, OF_TRANSPOSED_A));
    multiply(columns, w->width, count, (REAL)a->scale,
             pack_left(columns, count, (Strided){w->ds, 1, line}, w->left),
             pack_right(count, w->width, q.data, q.stride, w->right), true, w->dk, w->width,
             needed(a, first, OF_TRANSPOSED_A));
    multiply(count, w->width, columns, (REAL)a->scale,
             pack_left(count, columns, (Strided){w->ds, line, 1}, w->left), k_rows, false, w->o,
             w->width, needed(a, first, OF_A));
    unpack_rows(&a->rotate_query, b, first, count, d, w->width, w->o, in[5]);
  }
  if (h % a->group != a->group - 1)
    return;
  unpack_rows(&a->rotate_key, b, 0, keys, d, w->width, w->dk, in[6]);
  unpack_rows(&a->rotate_value, b, 0, keys, dv, w->value_width, w->dv, in[7]);
}

/* Operations of both products of the forward. No product of the backward takes more. */
static double attention_flops(const RpAttention *a)
{
  return 2.0 * (double)(a->batch * a->heads * a->queries) * (double)a->keys *
         (double)(a->features + a->value_features);
}

typedef enum Pass { FORWARD, WEIGHTS, BACKWARD } Pass;

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

static void run_share(const RpAttention *a, Pass pass, int64_t s, Share share,
                      const RpHeads *const *heads, REAL *weights, const RpBias *dbias,
                      const Scratch *w)
{
  const int64_t across = a->heads / share.heads;
  for (int64_t part = 0; part < share.batch * share.heads; part++) {
    const int64_t b = s / across * share.batch + part / share.heads;
    const int64_t h = s % across * share.heads + part % share.heads, unit = b * a->heads + h;
    if (pass == FORWARD)
      attention_unit(a, unit, heads, w);
    else if (pass == WEIGHTS)
      weights_unit(a, unit, heads, weights, w);
    else
      gradient_unit(a, unit, heads, dbias, w);
  }
}

/*
** Run all units, with working memory for each thread. Unless the work is small, the
** parallel region has all threads even for a single unit: outside a parallel region,
** OpenBLAS would start threads of its own.
*/
static RpStatus run_units(const RpAttention *a, Pass pass, const RpHeads *const *heads,
                          REAL *weights, const RpBias *dbias)
{
  Scratch sizes;
  const bool backward = pass == BACKWARD;
  const int64_t elements = lay_out(a, backward, NULL, &sizes);
  const Share share = share_of(a, backward, dbias);
  const int64_t shares = a->batch / share.batch * (a->heads / share.heads);
  REAL *memory = rp_alloc((size_t)omp_get_max_threads() * (size_t)elements * sizeof(REAL));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel if (!is_small(a->queries, attention_flops(a)))
  {
    Scratch scratch;
    lay_out(a, backward, memory + omp_get_thread_num() * elements, &scratch);
    enter_tiles();
#pragma omp for schedule(static)
    for (int64_t s = 0; s < shares; s++)
      run_share(a, pass, s, share, heads, weights, dbias, &scratch);
    leave_tiles();
  }
  rp_free(memory);
  return rp_interrupt_status();
}

static RpStatus attention(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                          const RpHeads *v, const RpHeads *o)
{
  return run_units(a, FORWARD, (const RpHeads *const[]){q, k, v, o}, NULL, NULL);
}

static RpStatus attention_weights(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                  void *weights)
{
  return run_units(a, WEIGHTS, (const RpHeads *const[]){q, k}, weights, NULL);
}

static RpStatus attention_gradient(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                   const RpHeads *v, const RpHeads *o,
                                   const RpHeads *output_gradient, const RpHeads *dq,
                                   const RpHeads *dk, const RpHeads *dv, const RpBias *dbias)
{
  const RpHeads *const heads[] = {q, k, v, o, output_gradient, dq, dk, dv};
  return run_units(a, BACKWARD, heads, NULL, dbias);
}

#endif
