/*
** Attention by tiles of query rows, one (batch, head) unit a thread at a time:
** s_ij = scale (A_i q_i) . (B_j k_j), a = softmax(s), o_i = C_i^-1 sum_j a_ij D_j v_j
** where A, B, C, D are rotations by the tables (RoFormer eq. 16; the RoPER study
** for values and output). Rotation happens while rows are packed. Only the tile
** of scores exists, never all of them; the backward computes it again from the
** saved log-sum-exp (Dao et al. 2022, FlashAttention).
*/
#ifndef RP_BODY_ATTENTION_H
#define RP_BODY_ATTENTION_H

#include "core/kernels/body/gemm.h"
#include "core/kernels/body/random.h"
#include "core/kernels/body/rotate.h"
#include "core/kernels/body/rows.h"

enum { TILE = 64 };

/* One unit's view of an operand: where row 0 is and how far apart rows are. */
typedef struct Rows {
  REAL *data;
  int64_t stride;
} Rows;

static Rows unit_rows(const RpHeads *x, int64_t b, int64_t h)
{
  return (Rows){(REAL *)x->data + b * x->batch + h * x->head, x->time};
}

/* Rows first .. first + count - 1, rotated, packed at `buffer`; not copied where that is enough. */
static Rows pack_rows(const RpTable *table, int64_t batch, int64_t first, int64_t count,
                      int64_t features, Rows x, REAL *buffer)
{
  if (table->pairs == 0 && x.stride >= features && x.stride <= INT_MAX)
    return (Rows){x.data + first * x.stride, x.stride};
  for (int64_t i = 0; i < count; i++)
    rotate_vector(table, false, batch, first + i, features, x.data + (first + i) * x.stride,
                  buffer + i * features);
  return (Rows){buffer, features};
}

/* The other way: packed rows, rotated back, to where they belong. */
static void unpack_rows(const RpTable *table, int64_t batch, int64_t first, int64_t count,
                        int64_t features, const REAL *packed, Rows y)
{
  for (int64_t i = 0; i < count; i++)
    rotate_vector(table, true, batch, first + i, features, packed + i * features,
                  y.data + (first + i) * y.stride);
}

/* How many keys query i sees under the causal rule alone. */
static inline int64_t visible(const RpAttention *a, int64_t i)
{
  return a->causal ? i + 1 + a->keys - a->queries : a->keys;
}

/*
** s[count, keys] = scaled scores of queries first .. first + count - 1, minus
** infinity where the mask hides a key. Entries past the causal limit of a row
** are not meaningful. Returns how many columns the tile has.
*/
static int64_t score_tile(const RpAttention *a, int64_t unit, int64_t first, int64_t count, Rows q,
                          Rows k, REAL *s)
{
  const int64_t columns = visible(a, first + count - 1);
  product(false, true, count, columns, a->features, a->scale, q.data, q.stride, k.data, k.stride, 0,
          s, a->keys);
  if (a->mask == NULL)
    return columns;
  const int64_t *step = a->mask_strides;
  const int32_t *mask = a->mask + unit / a->heads * step[0] + unit % a->heads * step[1];
  for (int64_t i = 0; i < count; i++)
    for (int64_t j = 0; j < columns; j++)
      if (mask[(first + i) * step[2] + j * step[3]] == 0)
        s[i * a->keys + j] = -(REAL)INFINITY;
  return columns;
}

/* Turn a row of scores into exponentials, 0 past the causal limit; a row without keys is all 0. */
static REAL exponentiate(const RpAttention *a, int64_t i, int64_t columns, REAL *s, REAL *maximum)
{
  const int64_t seen = visible(a, i);
  memset(s + seen, 0, (size_t)(columns - seen) * sizeof(REAL));
  *maximum = row_maximum(seen, s);
  if (*maximum == -(REAL)INFINITY) /* all hidden: the exponentials are 0, not exp(-inf + inf) */
    *maximum = 0;
  return exponential_row(seen, s, *maximum, s);
}

static int64_t row_number(const RpAttention *a, int64_t unit, int64_t i)
{
  return unit * a->queries + i;
}

static void attention_unit(const RpAttention *a, int64_t unit, const RpHeads *q_heads,
                           const RpHeads *k_heads, const RpHeads *v_heads, const RpHeads *o_heads,
                           REAL *lse, REAL *scratch)
{
  const int64_t b = unit / a->heads, h = unit % a->heads;
  const int64_t d = a->features, dv = a->value_features;
  REAL *s = scratch + a->keys * (d + dv), *buffer = s + TILE * a->keys;
  REAL *o = buffer + TILE * d;
  const Rows k = pack_rows(&a->rotate_key, b, 0, a->keys, d, unit_rows(k_heads, b, h), scratch);
  const Rows v = pack_rows(&a->rotate_value, b, 0, a->keys, dv, unit_rows(v_heads, b, h),
                           scratch + a->keys * d);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q =
        pack_rows(&a->rotate_query, b, first, count, d, unit_rows(q_heads, b, h), buffer);
    const int64_t columns = score_tile(a, unit, first, count, q, k, s);
    REAL inverse[TILE];
    for (int64_t i = 0; i < count; i++) {
      REAL maximum, *row = s + i * a->keys;
      const REAL sum = exponentiate(a, first + i, columns, row, &maximum);
      const int64_t number = row_number(a, unit, first + i);
      inverse[i] = sum == 0 ? 0 : 1 / sum;
      lse[number] = sum == 0 ? -(REAL)INFINITY : maximum + REAL_LOG(sum);
      if (a->dropout > 0)
        dropout_row(a->seed, a->dropout, number * a->keys, columns, row, row);
    }
    product(false, false, count, dv, columns, 1, s, a->keys, v.data, v.stride, 0, o, dv);
    for (int64_t i = 0; i < count; i++)
      for (int64_t f = 0; f < dv; f++)
        o[i * dv + f] *= inverse[i];
    unpack_rows(&a->rotate_output, b, first, count, dv, o, unit_rows(o_heads, b, h));
  }
}

static void weights_unit(const RpAttention *a, int64_t unit, const RpHeads *q_heads,
                         const RpHeads *k_heads, REAL *weights, REAL *scratch)
{
  const int64_t b = unit / a->heads, h = unit % a->heads, d = a->features;
  REAL *buffer = scratch + a->keys * d;
  const Rows k = pack_rows(&a->rotate_key, b, 0, a->keys, d, unit_rows(k_heads, b, h), scratch);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q =
        pack_rows(&a->rotate_query, b, first, count, d, unit_rows(q_heads, b, h), buffer);
    REAL *w = weights + row_number(a, unit, first) * a->keys;
    score_tile(a, unit, first, count, q, k, w);
    for (int64_t i = 0; i < count; i++) {
      REAL maximum, *row = w + i * a->keys;
      const REAL sum = exponentiate(a, first + i, a->keys, row, &maximum);
      for (int64_t j = 0; sum != 0 && j < a->keys; j++)
        row[j] /= sum;
    }
  }
}

/* The gradients of one unit: with da = do' v'^T and D = do . o, ds = a (da - D). */
static void gradient_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                          const REAL *lse, REAL *scratch)
{
  const int64_t b = unit / a->heads, h = unit % a->heads;
  const int64_t d = a->features, dv = a->value_features, keys = a->keys;
  Rows in[8]; /* q, k, v, o, output gradient, dq, dk, dv */
  for (int i = 0; i < 8; i++)
    in[i] = unit_rows(heads[i], b, h);
  REAL *dk = scratch, *dvalue = dk + keys * d, *k_buffer = dvalue + keys * dv;
  REAL *v_buffer = k_buffer + keys * d, *p = v_buffer + keys * dv, *dp = p + TILE * keys;
  REAL *q_buffer = dp + TILE * keys, *g_buffer = q_buffer + TILE * d;
  REAL *dq = g_buffer + TILE * dv;
  memset(dk, 0, (size_t)(keys * (d + dv)) * sizeof(REAL));
  const Rows k = pack_rows(&a->rotate_key, b, 0, keys, d, in[1], k_buffer);
  const Rows v = pack_rows(&a->rotate_value, b, 0, keys, dv, in[2], v_buffer);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += TILE) {
    const int64_t rest = a->queries - first, count = rest < TILE ? rest : TILE;
    const Rows q = pack_rows(&a->rotate_query, b, first, count, d, in[0], q_buffer);
    const Rows g = pack_rows(&a->rotate_output, b, first, count, dv, in[4], g_buffer);
    const int64_t columns = score_tile(a, unit, first, count, q, k, p);
    product(false, true, count, columns, dv, 1, g.data, g.stride, v.data, v.stride, 0, dp, keys);
    for (int64_t i = 0; i < count; i++) {
      const int64_t number = row_number(a, unit, first + i);
      const int64_t seen = visible(a, first + i);
      REAL *weight = p + i * keys, *slope = dp + i * keys;
      const REAL dot = row_dot(dv, in[4].data + (first + i) * in[4].stride,
                               in[3].data + (first + i) * in[3].stride);
      memset(weight + seen, 0, (size_t)(columns - seen) * sizeof(REAL));
      memset(slope + seen, 0, (size_t)(columns - seen) * sizeof(REAL));
      if (lse[number] == -(REAL)INFINITY)
        memset(weight, 0, (size_t)seen * sizeof(REAL));
      else
        exponential_row(seen, weight, lse[number], weight);
      if (a->dropout > 0)
        dropout_row(a->seed, a->dropout, number * keys, seen, slope, slope);
      for (int64_t j = 0; j < seen; j++)
        slope[j] = weight[j] * (slope[j] - dot);
      if (a->dropout > 0)
        dropout_row(a->seed, a->dropout, number * keys, seen, weight, weight);
    }
    product(true, false, columns, dv, count, 1, p, keys, g.data, g.stride, 1, dvalue, dv);
    product(true, false, columns, d, count, a->scale, dp, keys, q.data, q.stride, 1, dk, d);
    product(false, false, count, d, columns, a->scale, dp, keys, k.data, k.stride, 0, dq, d);
    unpack_rows(&a->rotate_query, b, first, count, d, dq, in[5]);
  }
  unpack_rows(&a->rotate_key, b, 0, keys, d, dk, in[6]);
  unpack_rows(&a->rotate_value, b, 0, keys, dv, dvalue, in[7]);
}

/* Of the two products of the forward, which bound every single product of the backward too. */
static double attention_flops(const RpAttention *a)
{
  return 2.0 * (double)(a->batch * a->heads * a->queries) * (double)a->keys *
         (double)(a->features + a->value_features);
}

/*
** One scratch a thread. Unless all is small, the regions below are of all
** threads, also for a single unit: outside a parallel region OpenBLAS would
** thread by itself.
*/
static REAL *attention_scratch(int64_t elements)
{
  return rp_alloc((size_t)omp_get_max_threads() * (size_t)elements * sizeof(REAL));
}

static RpStatus attention(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                          const RpHeads *v, const RpHeads *o, void *lse)
{
  const int64_t d = a->features, dv = a->value_features;
  const int64_t elements = (a->keys + TILE) * (d + dv) + TILE * a->keys;
  REAL *scratch = attention_scratch(elements);
  if (scratch == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) if (!is_small(a->queries, attention_flops(a)))
  for (int64_t unit = 0; unit < a->batch * a->heads; unit++)
    attention_unit(a, unit, q, k, v, o, lse, scratch + (int64_t)omp_get_thread_num() * elements);
  rp_free(scratch);
  return rp_interrupt_status();
}

static RpStatus attention_weights(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                  void *weights)
{
  const int64_t elements = (a->keys + TILE) * a->features;
  REAL *scratch = attention_scratch(elements);
  if (scratch == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) if (!is_small(a->queries, attention_flops(a)))
  for (int64_t unit = 0; unit < a->batch * a->heads; unit++)
    weights_unit(a, unit, q, k, weights, scratch + (int64_t)omp_get_thread_num() * elements);
  rp_free(scratch);
  return rp_interrupt_status();
}

static RpStatus attention_gradient(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                   const RpHeads *v, const RpHeads *o,
                                   const RpHeads *output_gradient, const void *lse,
                                   const RpHeads *dq, const RpHeads *dk, const RpHeads *dv)
{
  const RpHeads *const heads[8] = {q, k, v, o, output_gradient, dq, dk, dv};
  const int64_t width = a->features + a->value_features;
  const int64_t elements = 2 * a->keys * width + TILE * (2 * a->keys + width + a->features);
  REAL *scratch = attention_scratch(elements);
  if (scratch == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) if (!is_small(a->queries, attention_flops(a)))
  for (int64_t unit = 0; unit < a->batch * a->heads; unit++)
    gradient_unit(a, unit, heads, lse, scratch + (int64_t)omp_get_thread_num() * elements);
  rp_free(scratch);
  return rp_interrupt_status();
}

#endif
