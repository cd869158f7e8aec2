/*
** A tile of attention: the scores of some queries and of the keys that they see, or of a block of
** these keys, and the softmax of its rows. Working memory of attention.
*/
#ifndef RP_BODY_ATTENTION_TILE_H
#define RP_BODY_ATTENTION_TILE_H

#include "core/kernels/body/bias.h"
#include "core/kernels/body/gemm.h"
#include "core/kernels/body/heads.h"
#include "core/kernels/body/operand.h"
#include "core/kernels/body/row.h"

/*
** Scores of a tile stay in cache from one product to the next. Each tile reads its keys and values
** again, which more than MOST_KEYS do not find in the L2 cache: then a tile has many queries and a
** block of keys. Otherwise, and for weights and few queries, it has all keys.
*/
enum {
  MOST_KEYS = ROUNDS_OPERANDS ? 512 : 1024,
  TILE_QUERIES = 48,
  BLOCK_KEYS = 256,
  BLOCK_QUERIES = 192,
  FEW = 8 /* below this many queries, as in generation, keys and values are read in place */
};

typedef enum Pass { FORWARD, WEIGHTS, BACKWARD } Pass;

/*
** The working memory of a thread. Rows are padded with zeros to whole vectors; keys
** and values are also stored as columns, [features, keys], for products with their
** transpose. `line` is the stride of rows of scores, padded to avoid powers of two,
** which would cause conflicts in the cache. A tile has at most `queries` and `keys`.
*/
typedef struct Scratch {
  int64_t width, value_width, line, queries, keys;
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
static int64_t lay_out(const RpAttention *a, Pass pass, REAL *memory, Scratch *scratch)
{
  const bool backward = pass == BACKWARD;
  const int64_t width = round_up(a->features, WIDTH_STEP),
                value_width = round_up(a->value_features, WIDTH_STEP);
  const int64_t keys = round_up(a->keys, STEP);
  const bool whole = pass == WEIGHTS || has_few(a) || a->keys <= MOST_KEYS;
  const int64_t most = whole ? larger(a->keys, 1) : BLOCK_KEYS;
  const int64_t height = whole ? TILE_QUERIES : BLOCK_QUERIES;
  const int64_t line = round_up(most, STEP) + LANES;
  const bool few = has_few(a) && !backward;
  int64_t used = 0;
  *scratch = (Scratch){
      .width = width, .value_width = value_width, .line = line, .queries = height, .keys = most};
  scratch->k = reserve(memory, &used, keys * width);
  scratch->v = reserve(memory, &used, keys * value_width);
  scratch->q = reserve(memory, &used, height * width);
  const int64_t widest = larger(width, value_width);
  scratch->o = reserve(memory, &used, height * widest);
  scratch->s = reserve(memory, &used, height * line);
  scratch->left = reserve_packed(
      memory, &used,
      few ? FEW_ROOM : larger(left_room(height, larger(line, widest)), left_room(line, height)));
  scratch->right = reserve_packed(memory, &used, right_room(height, widest));
  scratch->rows = reserve_packed(memory, &used, right_room(keys, widest));
  if (!few)
    scratch->k_columns = reserve_packed(memory, &used, columns_room(width, keys));
  if (!few && has_across(a))
    scratch->across = reserve(memory, &used, line * height);
  if (backward) {
    scratch->v_columns = reserve_packed(memory, &used, columns_room(value_width, keys));
    scratch->g = reserve(memory, &used, height * value_width);
    scratch->ds = reserve(memory, &used, height * line);
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

/* A tile of scores: `count` queries from `first` on, and `columns` keys from `key` on. */
typedef struct Tile {
  int64_t unit, first, count, key, columns;
} Tile;

/* The tile of the queries from `first` on, and of the keys from `key` on that they see. */
static Tile tile_of(const RpAttention *a, int64_t unit, int64_t first, int64_t key,
                    const Scratch *w)
{
  const int64_t count = smaller(a->queries - first, w->queries);
  return (Tile){unit, first, count, key, smaller(visible(a, first + count - 1) - key, w->keys)};
}

/* Number of the tile's keys that query i sees, apart from the mask. */
static inline int64_t seen_of(const RpAttention *a, const Tile *t, int64_t i)
{
  return larger(0, smaller(visible(a, i) - t->key, t->columns));
}

/* The part of a product that a tile needs. */
static Causal needed(const RpAttention *a, const Tile *t, int part)
{
  return a->causal ? (Causal){part, visible(a, t->first) - t->key} : whole_product;
}

/*
** Call `run` for a bias and a tile: for each query, with the keys that it sees; or, if the bias is
** stored by key, for each key, with all queries.
*/
static inline __attribute__((always_inline)) void over_tile(const RpAttention *a,
                                                            const RpBias *bias, BiasRun run,
                                                            bool changes_tile, const Tile *t,
                                                            const Scratch *w, REAL *tile)
{
  const RpBias rows = unit_bias(bias, t->unit / a->heads, t->unit % a->heads);
  const RpBias by_key = mirrored(&rows);
  const int64_t whole = round_up(t->columns, LANES), height = round_up(t->count, LANES);
  const int64_t end = t->first + t->count;
  if (w->across == NULL || !lies_across(bias)) {
    for (int64_t i = t->first; i < end; i++)
      over_row(&rows, run, i, t->key, t->key + seen_of(a, t, i), tile + (i - t->first) * w->line);
    return;
  }
  transpose(height, whole, tile, w->line, w->across, w->queries);
  for (int64_t j = 0; j < t->columns; j++)
    over_row(&by_key, run, t->key + j, t->first, end, w->across + j * w->queries);
  if (changes_tile)
    transpose(whole, height, w->across, w->queries, tile, w->line);
}

static void add_bias_tile(const RpAttention *a, const RpBias *bias, const Tile *t, const Scratch *w,
                          REAL *scores)
{
  over_tile(a, bias, add_run, true, t, w, scores);
}

/* `slopes` are the gradients of the scores, 0 where a query does not see a key. */
static void add_to_bias_tile(const RpAttention *a, const RpBias *bias, const Tile *t,
                             const Scratch *w, REAL *slopes)
{
  over_tile(a, bias, add_to_run, false, t, w, slopes);
}

/* Columns of a right operand from column `first` on, a multiple of STEP. */
static Right columns_from(Right x, int64_t first)
{
  return (Right){x.data + first / STEP * x.side, x.line, x.side};
}

/* Rows of a right operand from row `first` on, a multiple of DEPTH. */
static Right rows_from(Right x, int64_t first)
{
  return (Right){x.data + first / DEPTH * x.line, x.line, x.side};
}

/*
** s = the scores of a tile, minus infinity where the mask hides a key. Entries beyond the causal
** limit of a row are undefined.
*/
static void score_tile(const RpAttention *a, const Tile *t, Rows q, Rows k, Right k_columns,
                       const Scratch *scratch)
{
  const int64_t line = scratch->line;
  if (scratch->k_columns == NULL)
    product(&(RpGemm){.transpose_b = true,
                      .m = t->count,
                      .n = t->columns,
                      .k = a->features,
                      .lda = q.stride,
                      .ldb = k.stride,
                      .ldc = line},
            a->scale, q.data, k.data, scratch->s, no_finish, scratch->left);
  else
    multiply(t->count, round_up(t->columns, WIDTH_STEP), a->features, (REAL)a->scale,
             pack_left(t->count, a->features, (Strided){q.data, q.stride, 1}, scratch->left),
             columns_from(k_columns, t->key), false, scratch->s, line, needed(a, t, OF_C));
  for (int i = 0; i < a->biases; i++)
    add_bias_tile(a, &a->bias[i], t, scratch, scratch->s);
  if (a->mask == NULL)
    return;
  const int64_t *step = a->mask_strides;
  const int32_t *mask = a->mask + t->unit / a->heads * step[0] + t->unit % a->heads * step[1];
  for (int64_t i = 0; i < t->count; i++)
    for (int64_t j = 0; j < t->columns; j++)
      if (mask[(t->first + i) * step[2] + (t->key + j) * step[3]] == 0)
        scratch->s[i * line + j] = -(REAL)INFINITY;
}

/* Zero elements first .. end - 1 of a row of scores by whole vectors, which may exceed the end. */
static inline void zero_from(int64_t first, int64_t end, REAL *row)
{
  for (int64_t j = first; j < end; j += LANES) {
    *(Vector *)(row + j) = (Vector){0};
    __asm__ volatile("" ::: "memory"); /* prevents a slower call of memset */
  }
}

/* Zero elements first .. end - 1 of a row, whose vectors are whole: elements up to the next vector,
   then vectors. */
static inline void zero_rest(int64_t first, int64_t end, REAL *row)
{
  const int64_t whole = round_up(first, LANES);
  for (int64_t j = first; j < whole; j++)
    row[j] = 0;
  zero_from(whole, end, row);
}

/* The largest score of a query so far, and the sum of the exponentials of scores minus it. */
typedef struct Softmax {
  REAL maximum, sum;
} Softmax;

static const Softmax no_scores = {-(REAL)INFINITY, 0};

/* What is subtracted from scores: if all keys are hidden, the exponentials are 0, not
   exp(-inf + inf). */
static inline REAL shift_of(REAL maximum)
{
  return maximum == -(REAL)INFINITY ? 0 : maximum;
}

/*
** Convert a row of the tile to exponentials, which are 0 beyond the causal limit and for a query
** that sees no key. Works on whole vectors, of which the last may exceed the limit. Returns the
** factor of what was computed from earlier tiles.
*/
static REAL exponentiate(const RpAttention *a, const Tile *t, int64_t i, Softmax *row, REAL *s)
{
  const int64_t seen = seen_of(a, t, i), whole = round_up(seen, LANES);
  for (int64_t j = seen; j < whole; j++)
    s[j] = -(REAL)INFINITY;
  const REAL before = row->maximum, own = row_maximum(whole, s);
  const REAL maximum = own > before ? own : before, shift = shift_of(maximum);
  const REAL factor = before == maximum ? 1 : exponential(before - shift);
  row->maximum = maximum;
  row->sum = factor * row->sum + exponential_row(whole, s, shift, s);
  zero_from(seen, t->columns, s);
  return factor;
}

/* Keys or values as columns; empty if `room` is NULL. */
static Right columns_of(int64_t keys, int64_t features, Rows x, Packed *room)
{
  return room != NULL ? pack_columns(features, keys, x.data, x.stride, room) : (Right){NULL, 0, 0};
}

#endif
