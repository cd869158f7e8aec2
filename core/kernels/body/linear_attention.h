/*
** Linear attention (Katharopoulos et al. 2020), rotated after the feature map as in
** RoFormer, section 3.3. A thread works on one (batch, head) unit at a time:
**
**   a_i = A_i phi(q_i),  b_j = B_j phi(k_j),  u_j = D_j v_j,  phi(x) = elu(x) + 1
**   S_i = sum_j b_j u_j^T,  z_i = sum_j phi(k_j)  over the keys that query i sees
**   n_i = phi(q_i) . z_i + epsilon,  o_i = C_i^-1 S_i^T a_i / n_i
**
** A thread keeps only one S and z at a time. They are updated once per chunk of
** positions, by matrix products; within a chunk, products a_i . b_j are used instead.
** The backward, with g_i = C_i do_i / n_i and h_i = dL/dn_i = -(do_i . o_i) / n_i,
** recomputes these sums: da_i = S_i g_i, dphi(q_i) = A_i^-1 da_i + h_i z_i. Two more
** sums run from the end, over the queries that see key j: U_j = sum_i a_i g_i^T and
** y_j = sum_i h_i phi(q_i) give db_j = U_j u_j, du_j = U_j^T b_j and
** dphi(k_j) = B_j^-1 db_j + y_j.
*/
#ifndef RP_BODY_LINEAR_ATTENTION_H
#define RP_BODY_LINEAR_ATTENTION_H

#include "core/kernels/body/heads.h"
#include "core/kernels/body/operand.h"
#include "core/kernels/body/row.h"

enum {
  CHUNK = 64,
  LINE = CHUNK + LANES /* not a power of two, which would cause conflicts in the cache */
};

/* Rows of a chunk, padded with zeros to `width`, a multiple of whole vectors. */
typedef struct Block {
  REAL *rows;
  int64_t features, width;
} Block;

/* The working memory of a thread, with the symbols of the formulas above. */
typedef struct Running {
  Block phi_q, phi_k, a, b, u, g;
  REAL *h;
  REAL *products, *columns; /* [CHUNK, LINE]; a block transposed */
  REAL *result, *row;       /* a chunk of results; one row rotated back */
  REAL *state, *flipped;    /* S, S^T or U over the finished chunks; U^T */
  REAL *sum, *part;         /* z or y over finished chunks, and over this chunk's rows so far */
} Running;

static Block reserve_block(REAL *memory, int64_t *used, int64_t features)
{
  const int64_t width = round_up(features, STEP);
  return (Block){reserve(memory, used, CHUNK * width), features, width};
}

/* Lay out *w in `memory`, which may be NULL; returns its size in elements. */
static int64_t lay_out_running(const RpAttention *a, REAL *memory, Running *w)
{
  const int64_t d = a->features, dv = a->value_features;
  int64_t used = 0;
  w->phi_q = reserve_block(memory, &used, d);
  w->phi_k = reserve_block(memory, &used, d);
  w->a = reserve_block(memory, &used, d);
  w->b = reserve_block(memory, &used, d);
  w->u = reserve_block(memory, &used, dv);
  w->g = reserve_block(memory, &used, dv);
  w->h = reserve(memory, &used, CHUNK);
  w->products = reserve(memory, &used, CHUNK * LINE);
  w->columns = reserve(memory, &used, (d > dv ? w->a.width : w->u.width) * CHUNK);
  w->result = reserve_block(memory, &used, d > dv ? d : dv).rows;
  w->row = reserve(memory, &used, d);
  w->state = reserve(memory, &used, w->a.width * w->u.width);
  w->flipped = reserve(memory, &used, w->a.width * w->u.width);
  w->sum = reserve(memory, &used, w->a.width);
  w->part = reserve(memory, &used, w->a.width);
  return used;
}

/* Indices first .. first + count - 1 of a time axis. */
typedef struct Chunk {
  int64_t first, count;
} Chunk;

static Chunk chunk_at(int64_t first, int64_t end)
{
  return (Chunk){first, end - first < CHUNK ? end - first : CHUNK};
}

static Right rows_of(Block x)
{
  return (Right){x.rows, x.width, STEP};
}

/* Number of keys that all queries see; if causal, query i sees i + 1 more. */
static int64_t keys_ahead(const RpAttention *a)
{
  return a->causal ? a->keys - a->queries : a->keys;
}

static inline REAL feature(REAL x)
{
  return x > 0 ? x + 1 : exponential(x);
}

/* The derivative of `feature`, from its value. */
static inline REAL feature_slope(REAL phi)
{
  return phi > 1 ? 1 : phi;
}

/* phi = phi(x), rotated = R phi, for a chunk of x. */
static void map_rows(const RpTable *table, int64_t batch, Chunk chunk, Rows x, Block phi,
                     Block rotated)
{
  for (int64_t i = 0; i < chunk.count; i++) {
    const int64_t place = chunk.first + i;
    const REAL *from = x.data + place * x.stride;
    REAL *to = phi.rows + i * phi.width;
    prefetch_row(x, place + AHEAD, phi.features);
    for (int64_t f = 0; f < phi.features; f++)
      to[f] = feature(from[f]);
    for (int64_t f = phi.features; f < phi.width; f++)
      to[f] = 0;
    rotate_vector(table, false, batch, place, phi.width, to, rotated.rows + i * phi.width);
  }
}

static void load_queries(const RpAttention *a, int64_t batch, Chunk chunk, Rows q, const Running *w)
{
  map_rows(&a->rotate_query, batch, chunk, q, w->phi_q, w->a);
}

static void load_keys(const RpAttention *a, int64_t batch, Chunk chunk, Rows k, Rows v,
                      const Running *w)
{
  map_rows(&a->rotate_key, batch, chunk, k, w->phi_k, w->b);
  pack_rows(&a->rotate_value, batch, chunk.first, chunk.count, w->u.features, w->u.width, v,
            w->u.rows);
}

/* g and h from outputs, their gradients and n. */
static void load_gradients(const RpAttention *a, int64_t batch, Chunk chunk, Rows o, Rows dy,
                           const REAL *n, const Running *w)
{
  pack_rows(&a->rotate_output, batch, chunk.first, chunk.count, w->g.features, w->g.width, dy,
            w->g.rows);
  for (int64_t i = 0; i < chunk.count; i++) {
    const int64_t place = chunk.first + i;
    const REAL inverse = 1 / n[place];
    w->h[i] =
        -inverse * row_dot(w->g.features, o.data + place * o.stride, dy.data + place * dy.stride);
    for (int64_t f = 0; f < w->g.features; f++)
      w->g.rows[i * w->g.width + f] *= inverse;
  }
}

static void clear_sums(const Running *w)
{
  memset(w->state, 0, (size_t)(w->a.width * w->u.width) * sizeof(REAL));
  memset(w->sum, 0, (size_t)w->a.width * sizeof(REAL));
}

static void clear_part(const Running *w)
{
  memset(w->part, 0, (size_t)w->a.width * sizeof(REAL));
}

static inline void add_row(int64_t n, REAL factor, const REAL *x, REAL *y)
{
  for (int64_t f = 0; f < n; f++)
    y[f] += factor * x[f];
}

/* Finish a chunk: state += left^T right, sum += sum_i factor_i phi_i (factors 1 if NULL). */
static void pass_chunk(int64_t count, Block left, Block right, Block phi, const REAL *factors,
                       const Running *w)
{
  multiply(left.features, right.width, count, 1, (Left){left.rows, 1, left.width}, rows_of(right),
           true, w->state, right.width, whole_product);
  clear_part(w);
  for (int64_t i = 0; i < count; i++)
    add_row(phi.width, factors != NULL ? factors[i] : 1, phi.rows + i * phi.width, w->part);
  add_row(phi.width, 1, w->part, w->sum);
}

/* Within a chunk: products_ij = query_i . key_j where query i sees key j, else 0. */
static void causal_products(int64_t count, Block query, Block key, const Running *w)
{
  const Right columns = pack_columns(key.width, count, key.rows, key.width, w->columns);
  multiply(count, round_up(count, STEP), query.features, 1, (Left){query.rows, query.width, 1},
           columns, false, w->products, LINE, (Causal){OF_C, 1});
  for (int64_t i = 0; i < count; i++)
    memset(w->products + i * LINE + i + 1, 0, (size_t)(count - i - 1) * sizeof(REAL));
}

/* result_i = state^T query_i, plus sum_{j <= i} (query_i . key_j) x_j if `within` */
static void sum_from_start(int64_t count, bool within, Block query, Block key, Block x,
                           const Running *w)
{
  multiply(count, x.width, query.features, 1, (Left){query.rows, query.width, 1},
           (Right){w->state, x.width, STEP}, false, w->result, x.width, whole_product);
  if (!within)
    return;
  causal_products(count, query, key, w);
  multiply(count, x.width, count, 1, (Left){w->products, LINE, 1}, rows_of(x), true, w->result,
           x.width, (Causal){OF_A, 1});
}

/* result_j = state^T key_j, plus sum_{i >= j} (query_i . key_j) x_i if `within` */
static void sum_from_end(int64_t count, bool within, Block query, Block key, Block x, Right state,
                         const Running *w)
{
  multiply(count, x.width, key.features, 1, (Left){key.rows, key.width, 1}, state, false, w->result,
           x.width, whole_product);
  if (!within)
    return;
  causal_products(count, query, key, w);
  multiply(count, x.width, count, 1, (Left){w->products, 1, LINE}, rows_of(x), true, w->result,
           x.width, (Causal){OF_TRANSPOSED_A, 1});
}

/* dx at index `place`, from result row i: (R^-1 result_i + factor (sum + part)) phi'(x) */
static void finish_row(const RpTable *table, int64_t batch, int64_t place, int64_t i, Block phi,
                       REAL factor, Rows dx, const Running *w)
{
  const REAL *value = phi.rows + i * phi.width;
  REAL *to = dx.data + place * dx.stride;
  rotate_vector(table, true, batch, place, phi.features, w->result + i * phi.width, w->row);
  for (int64_t f = 0; f < phi.features; f++)
    to[f] = (w->row[f] + factor * (w->sum[f] + w->part[f])) * feature_slope(value[f]);
}

static void output_chunk(const RpAttention *a, int64_t batch, Chunk chunk, Rows o, REAL *n,
                         const Running *w)
{
  const Block phi = w->phi_q;
  sum_from_start(chunk.count, a->causal, w->a, w->b, w->u, w);
  clear_part(w);
  for (int64_t i = 0; i < chunk.count; i++) {
    const REAL *query = phi.rows + i * phi.width;
    if (a->causal)
      add_row(phi.width, 1, w->phi_k.rows + i * phi.width, w->part);
    n[chunk.first + i] =
        row_dot(phi.width, query, w->sum) + row_dot(phi.width, query, w->part) + (REAL)a->epsilon;
    const REAL inverse = 1 / n[chunk.first + i];
    for (int64_t f = 0; f < w->u.features; f++)
      w->result[i * w->u.width + f] *= inverse;
  }
  unpack_rows(&a->rotate_output, batch, chunk.first, chunk.count, w->u.features, w->u.width,
              w->result, o);
}

/* Compute the sums over the keys that all queries see. x: queries, keys, values, ... */
static void pass_keys_ahead(const RpAttention *a, int64_t batch, const Rows *x, Block left,
                            Block right, const Running *w)
{
  const int64_t ahead = keys_ahead(a);
  clear_sums(w);
  for (int64_t first = 0; first < ahead && !rp_interrupted(); first += CHUNK) {
    const Chunk keys = chunk_at(first, ahead);
    load_keys(a, batch, keys, x[1], x[2], w);
    pass_chunk(keys.count, left, right, w->phi_k, NULL, w);
  }
}

/* heads: q, k, v, o */
static void linear_attention_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                                  REAL *n, const Running *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads, ahead = keys_ahead(a);
  Rows x[4];
  for (int i = 0; i < 4; i++)
    x[i] = unit_rows(heads[i], b, h);
  pass_keys_ahead(a, b, x, w->b, w->u, w);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += CHUNK) {
    const Chunk chunk = chunk_at(first, a->queries);
    load_queries(a, b, chunk, x[0], w);
    if (a->causal)
      load_keys(a, b, (Chunk){ahead + first, chunk.count}, x[1], x[2], w);
    output_chunk(a, b, chunk, x[3], n + unit * a->queries, w);
    if (a->causal)
      pass_chunk(chunk.count, w->b, w->u, w->phi_k, NULL, w);
  }
}

/* Compute dq, from the first chunk on. x: q, k, v, o, output gradient, dq, dk, dv */
static void query_gradients(const RpAttention *a, int64_t b, const Rows *x, const REAL *n,
                            const Running *w)
{
  const int64_t ahead = keys_ahead(a);
  pass_keys_ahead(a, b, x, w->u, w->b, w);
  for (int64_t first = 0; first < a->queries && !rp_interrupted(); first += CHUNK) {
    const Chunk chunk = chunk_at(first, a->queries);
    load_queries(a, b, chunk, x[0], w);
    load_gradients(a, b, chunk, x[3], x[4], n, w);
    if (a->causal)
      load_keys(a, b, (Chunk){ahead + first, chunk.count}, x[1], x[2], w);
    sum_from_start(chunk.count, a->causal, w->g, w->u, w->b, w);
    clear_part(w);
    for (int64_t i = 0; i < chunk.count; i++) {
      if (a->causal)
        add_row(w->phi_k.width, 1, w->phi_k.rows + i * w->phi_k.width, w->part);
      finish_row(&a->rotate_query, b, first + i, i, w->phi_q, w->h[i], x[5], w);
    }
    if (a->causal)
      pass_chunk(chunk.count, w->u, w->b, w->phi_k, NULL, w);
  }
}

/* Compute dk and dv of the keys in w; `within` if w's queries are those of the same indices. */
static void key_gradient_chunk(const RpAttention *a, int64_t b, Chunk keys, bool within,
                               const Rows *x, const Running *w)
{
  sum_from_end(keys.count, within, w->a, w->b, w->g, (Right){w->state, w->g.width, STEP}, w);
  unpack_rows(&a->rotate_value, b, keys.first, keys.count, w->g.features, w->g.width, w->result,
              x[7]);
  const Right flipped = pack_columns(w->g.width, w->a.width, w->state, w->g.width, w->flipped);
  sum_from_end(keys.count, within, w->g, w->u, w->a, flipped, w);
  clear_part(w);
  for (int64_t j = keys.count - 1; j >= 0; j--) {
    if (within)
      add_row(w->phi_q.width, w->h[j], w->phi_q.rows + j * w->phi_q.width, w->part);
    finish_row(&a->rotate_key, b, keys.first + j, j, w->phi_k, 1, x[6], w);
  }
}

/* Compute dk and dv, from the last chunk back. */
static void key_gradients(const RpAttention *a, int64_t b, const Rows *x, const REAL *n,
                          const Running *w)
{
  const int64_t ahead = keys_ahead(a);
  clear_sums(w);
  for (int64_t left = (a->queries + CHUNK - 1) / CHUNK; left > 0 && !rp_interrupted(); left--) {
    const Chunk chunk = chunk_at((left - 1) * CHUNK, a->queries);
    const Chunk keys = {ahead + chunk.first, chunk.count};
    load_queries(a, b, chunk, x[0], w);
    load_gradients(a, b, chunk, x[3], x[4], n, w);
    if (a->causal) {
      load_keys(a, b, keys, x[1], x[2], w);
      key_gradient_chunk(a, b, keys, true, x, w);
    }
    pass_chunk(chunk.count, w->a, w->g, w->phi_q, w->h, w);
  }
  for (int64_t first = 0; first < ahead && !rp_interrupted(); first += CHUNK) {
    const Chunk keys = chunk_at(first, ahead);
    load_keys(a, b, keys, x[1], x[2], w);
    key_gradient_chunk(a, b, keys, false, x, w);
  }
}

static void linear_gradient_unit(const RpAttention *a, int64_t unit, const RpHeads *const *heads,
                                 const REAL *n, const Running *w)
{
  const int64_t b = unit / a->heads, h = unit % a->heads;
  Rows x[8];
  for (int i = 0; i < 8; i++)
    x[i] = unit_rows(heads[i], b, h);
  query_gradients(a, b, x, n + unit * a->queries, w);
  key_gradients(a, b, x, n + unit * a->queries, w);
}

/* Run all units, with working memory for each thread. */
static RpStatus run_linear_units(const RpAttention *a, bool backward, const RpHeads *const *heads,
                                 REAL *n)
{
  Running sizes;
  const int64_t elements = lay_out_running(a, NULL, &sizes), units = a->batch * a->heads;
  const double flops =
      4.0 * (double)(units * a->keys) * (double)a->features * (double)a->value_features;
  const RpTeam team = rp_team(RP_WORK_FLOPS, flops);
  REAL *memory = rp_alloc_array(team.size * elements, sizeof(REAL));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < units; unit++) {
    Running running;
    lay_out_running(a, memory + rp_system_thread() * elements, &running);
    if (backward)
      linear_gradient_unit(a, unit, heads, n, &running);
    else
      linear_attention_unit(a, unit, heads, n, &running);
  }
  rp_free(memory);
  return rp_interrupt_status();
}

static RpStatus linear_attention(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                 const RpHeads *v, const RpHeads *o, void *n)
{
  return run_linear_units(a, false, (const RpHeads *const[]){q, k, v, o}, n);
}

static RpStatus linear_attention_gradient(const RpAttention *a, const RpHeads *q, const RpHeads *k,
                                          const RpHeads *v, const RpHeads *o,
                                          const RpHeads *output_gradient, const void *n,
                                          const RpHeads *dq, const RpHeads *dk, const RpHeads *dv)
{
  const RpHeads *const heads[] = {q, k, v, o, output_gradient, dq, dk, dv};
  return run_linear_units(a, true, heads, (REAL *)n); /* the backward only reads it */
}

#endif
