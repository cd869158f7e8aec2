/* Linear layers on packed rows; bias and ReLU are applied while a block of rows is in cache. */
#ifndef RP_BODY_LINEAR_H
#define RP_BODY_LINEAR_H

#include "core/kernels/body/few_rows.h"
#include "core/kernels/body/gemm.h"

static void add_ahead(Ahead *ahead, int part, const REAL *from, int64_t elements)
{
  ahead->part[part].next = from;
  ahead->part[part].end = from + elements;
}

/*
** The product of a block of rows, which also prefetches the operands of the next block.
** Packed operands are multiplied in blocks that fit in cache.
*/
static void multiply_block(int64_t m, int64_t n, int64_t inner, Left a, Right b, bool accumulate,
                           REAL *c, Ahead *ahead)
{
  const int64_t width = ROUNDS_OPERANDS ? HELD_COLUMNS : n;
  const int64_t terms = ROUNDS_OPERANDS ? HELD_TERMS : larger(inner, 1);
  for (int64_t j = 0; j < n; j += width)
    for (int64_t p = 0; p == 0 || p < inner; p += terms) /* without terms, C is 0 */
      multiply_ahead(m, smaller(n - j, width), smaller(inner - p, terms), 1,
                     (Left){a.data + p / DEPTH * a.across, a.down, a.across},
                     (Right){b.data + j / STEP * b.side + p / DEPTH * b.line, b.line, b.side},
                     accumulate || p > 0, c + j, n, whole_product, ahead);
}

/* The number of threads that share y = x W^T. With few rows, reading W takes longest. */
static RpTeam linear_team(int64_t rows, int64_t in, int64_t out)
{
  return rp_team(RP_WORK_FLOPS, 2.0 * (double)(rows + 4) * (double)in * (double)out);
}

/* By register tiles, with the transposed weight in cache. */
static RpStatus tiled_linear(int64_t rows, int64_t in, int64_t out, const REAL *x, const REAL *w,
                             const REAL *bias, bool relu, REAL *y)
{
  enum { ROWS = HELD_ROWS };
  const RpTeam team = linear_team(rows, in, out);
  const int64_t size = columns_room(in, out), left = left_room(ROWS, in);
  Packed *memory = rp_alloc_array(size + team.size * left, sizeof(Packed));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
  const Right columns = pack_columns(in, out, w, in, memory);
#pragma omp parallel num_threads(rp_present(team))
  {
    Packed *room = memory + size + rp_system_thread() * left;
    enter_tiles();
#pragma omp for schedule(static) nowait
    for (int part = 0; part < team.size; part++) {
      const int64_t end = rows * (part + 1) / team.size;
      for (int64_t first = rows * part / team.size; first < end && !rp_interrupted();
           first += ROWS) {
        const int64_t count = end - first < ROWS ? end - first : ROWS;
        const int64_t next = first + count, more = end - next < ROWS ? end - next : ROWS;
        Ahead ahead = {0};
        add_ahead(&ahead, 0, x + next * in, more * in);
        add_ahead(&ahead, 1, y + next * out, more * out);
        multiply_block(count, out, in, pack_left(count, in, (Strided){x + first * in, in, 1}, room),
                       columns, false, y + first * out, &ahead);
        finish_rows((Finish){bias, relu}, 0, count, out, out, y + first * out);
      }
    }
    leave_tiles();
  }
  rp_free(memory);
  return rp_interrupt_status();
}

/* By dot products, for few rows. */
static RpStatus few_rows_linear(int64_t rows, int64_t in, int64_t out, const REAL *x, Weights w,
                                const REAL *bias, bool relu, REAL *y)
{
  const RpTeam team = linear_team(rows, in, out);
  const int64_t groups = (out + ACROSS - 1) / ACROSS, each = few_rows_room(rows, in, w.halves);
  REAL *memory = rp_alloc_array(team.size * each, sizeof(REAL));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int part = 0; part < team.size; part++) {
    const int64_t first = groups * part / team.size * ACROSS;
    const int64_t width = smaller(groups * (part + 1) / team.size * ACROSS, out) - first;
    const Weights own = {w.data + first * w.line, w.line, w.halves};
    if (rp_interrupted())
      continue;
    few_rows(rows, in, out, width, x, own, y + first, memory + part * each);
    finish_rows((Finish){bias, relu}, first, rows, width, out, y + first);
  }
  rp_free(memory);
  return rp_interrupt_status();
}

#if REAL_IS_FLOAT
static RpStatus linear_bfloat16(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                                const void *bias, bool relu, void *y)
{
  return few_rows_linear(rows, in, out, x, (Weights){w, (in + in % 2) * 2, true}, bias, relu, y);
}
#endif

static RpStatus linear(int64_t rows, int64_t in, int64_t out, const void *x_data,
                       const void *w_data, const void *bias_data, bool relu, void *y_data)
{
  /* of a block, which packs the weight: by BLAS, which bias and ReLU follow, and here */
  enum { LEAST_ROWS = 64, MOST_ROWS = 256, MOST_BLOCKED = 2048 };
  const REAL *x = x_data, *w = w_data, *bias = bias_data;
  REAL *y = y_data;
  if (!ROUNDS_OPERANDS && rows <= FEW_ROWS)
    return few_rows_linear(rows, in, out, x,
                           (Weights){(const char *)w, in * (int64_t)sizeof(REAL), false}, bias,
                           relu, y);
  if (ROUNDS_OPERANDS || suits_tiles(rows, out, in * out))
    return tiled_linear(rows, in, out, x, w, bias, relu, y);
  const Finish finish = {bias, relu};
  const RpTeam team = linear_team(rows, in, out);
  const int threads = team.size;
  const bool blocked = suits_blocks(&(RpGemm){.m = rows / threads, .n = out, .k = in});
  const int64_t most = blocked ? MOST_BLOCKED : MOST_ROWS;
  const int64_t turns = larger((rows + threads * most - 1) / (threads * most), 1);
  const int64_t height = larger((rows + threads * turns - 1) / (threads * turns), LEAST_ROWS);
  /* With few rows or a large weight, threads divide the columns; each packs only its part of W. */
  const bool large = in * out > CACHED && rows < out && rows <= 2 * MOST_ROWS;
  const bool by_columns = out >= 256 && (large || rows <= (threads - 1) * height);
  const int64_t tall = by_columns ? rows : height;
  const int64_t down = (rows + tall - 1) / tall;
  const int64_t across = by_columns ? threads : 1;
  Packed *memory = rp_alloc_array(threads * product_room(), sizeof(Packed));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t block = 0; block < down * across; block++) {
    const int64_t first = block / across * tall, left = out * (block % across) / across;
    const int64_t count = rows - first < tall ? rows - first : tall;
    const int64_t width = out * (block % across + 1) / across - left;
    const REAL *from = x + first * in, *weight = w + left * in;
    REAL *corner = y + first * out + left;
    if (rp_interrupted())
      continue;
    const RpGemm g = {
        .transpose_b = true, .m = count, .n = width, .k = in, .lda = in, .ldb = in, .ldc = out};
    product(&g, 1, from, weight, corner, finish_from(finish, left),
            memory + rp_system_thread() * product_room());
  }
  rp_free(memory);
  return rp_interrupt_status();
}

/* The operands of the backward, all packed; y, dx, dw and dbias may be NULL. */
typedef struct LinearGradient {
  int64_t rows, in, out;
  const REAL *x, *w, *y, *dy;
  REAL *dx, *dw, *dbias;
} LinearGradient;

/*
** Compute rows first .. first + count - 1 of dz, stored `line` apart (unless dz is NULL), and their
** sum, by blocks of columns whose sums stay in registers.
*/
static void mask_rows(const LinearGradient *g, int64_t first, int64_t count, REAL *dz, int64_t line,
                      REAL *sum)
{
  const REAL *dy = g->dy + first * g->out, *y = g->y != NULL ? g->y + first * g->out : NULL;
  int64_t left = 0;
  for (; left + WIDE * LANES <= g->out; left += WIDE * LANES) {
    Vector part[WIDE];
    memcpy(part, sum + left, sizeof part);
    for (int64_t r = 0; r < count; r++)
      for (int v = 0; v < WIDE; v++) {
        const int64_t at = r * g->out + left + v * LANES;
        Vector slope = *(const Vector *)(dy + at);
        if (y != NULL)
          slope = (Vector)((Picks)slope & (*(const Vector *)(y + at) > 0));
        if (dz != NULL)
          *(Vector *)(dz + r * line + left + v * LANES) = slope;
        part[v] += slope;
      }
    memcpy(sum + left, part, sizeof part);
  }
  for (int64_t r = 0; r < count; r++)
    for (int64_t i = left; i < g->out; i++) {
      const REAL slope = y == NULL || y[r * g->out + i] > 0 ? dy[r * g->out + i] : 0;
      if (dz != NULL)
        dz[r * line + i] = slope;
      sum[i] += slope;
    }
}

/* to[size] = the sum of the parts of all threads, in the order of threads; parts are `distance`
   apart. */
static void join_parts(int threads, int64_t size, int64_t distance, const REAL *parts, REAL *to)
{
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(size * threads));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t i = 0; i < size; i++) {
    REAL sum = parts[i];
    for (int part = 1; part < threads; part++)
      sum += parts[part * distance + i];
    to[i] = sum;
  }
}

/*
** By register tiles, in one pass over memory: both products use a block of rows of
** dz while it is in cache. Each thread sums dW and dbias over its own rows; these
** sums are added in the order of threads.
*/
static RpStatus tiled_linear_gradient(const LinearGradient *g)
{
  enum { ROWS = GRADIENT_ROWS };
  const int64_t in = g->in, out = g->out, line = out + LANES;
  const RpTeam team = rp_team(RP_WORK_FLOPS, 4.0 * (double)g->rows * (double)in * (double)out);
  const int threads = team.size;
  const int64_t whole = round_up(ROWS * line + out * in + out, LANES);
  const int64_t left = larger(left_room(ROWS, out), left_room(out, ROWS));
  const int64_t size = right_room(out, in), rooms = left + right_room(ROWS, in);
  REAL *memory = rp_alloc(threads * whole * (int64_t)sizeof(REAL) +
                          (size + threads * rooms) * (int64_t)sizeof(Packed));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
  Packed *packed = (Packed *)(memory + threads * whole);
  const Right weight = pack_right(out, in, g->w, in, packed);
#pragma omp parallel num_threads(rp_present(team))
  {
    enter_tiles();
#pragma omp for schedule(static) nowait
    for (int part = 0; part < threads; part++) {
      REAL *dw = memory + part * whole, *dbias = dw + out * in, *dz = dbias + out;
      Packed *room = packed + size + part * rooms;
      const int64_t end = g->rows * (part + 1) / threads;
      memset(dw, 0, (size_t)(out * in + out) * sizeof(REAL));
      for (int64_t first = g->rows * part / threads; first < end && !rp_interrupted();
           first += ROWS) {
        const int64_t count = end - first < ROWS ? end - first : ROWS;
        const int64_t next = first + count, more = end - next < ROWS ? end - next : ROWS;
        Ahead ahead = {0};
        add_ahead(&ahead, 0, g->dy + next * out, more * out);
        if (g->y != NULL)
          add_ahead(&ahead, 1, g->y + next * out, more * out);
        add_ahead(&ahead, 2, g->x + next * in, more * in);
        if (g->dx != NULL)
          add_ahead(&ahead, 3, g->dx + next * in, more * in);
        mask_rows(g, first, count, dz, line, dbias);
        if (g->dx != NULL)
          multiply_block(count, in, out, pack_left(count, out, (Strided){dz, line, 1}, room),
                         weight, false, g->dx + first * in, &ahead);
        if (g->dw != NULL)
          multiply_block(out, in, count, pack_left(out, count, (Strided){dz, 1, line}, room),
                         pack_right(count, in, g->x + first * in, in, room + left), true, dw,
                         &ahead);
      }
    }
    leave_tiles();
  }
  if (g->dw != NULL)
    join_parts(threads, out * in, whole, memory, g->dw);
  if (g->dbias != NULL)
    join_parts(threads, out, whole, memory + out * in, g->dbias);
  rp_free(memory);
  return rp_interrupt_status();
}

/* C = op(A) B, all packed; 0 if k = 0. */
static RpStatus packed_product(bool transpose_a, int64_t m, int64_t n, int64_t k, const REAL *a,
                               const REAL *b, REAL *c)
{
  static const int64_t offsets[3] = {0};
  if (m * n * k == 0) {
    memset(c, 0, (size_t)(m * n) * sizeof(REAL));
    return RP_OK;
  }
  const RpGemm g = {.transpose_a = transpose_a,
                    .m = m,
                    .n = n,
                    .k = k,
                    .lda = transpose_a ? m : k,
                    .ldb = n,
                    .ldc = n};
  return gemm(&g, 1, offsets, a, b, c);
}

/* For larger layers: compute all of dz first, then each product. */
static RpStatus large_linear_gradient(const LinearGradient *g)
{
  enum { ROWS = 16 };
  const int64_t rows = g->rows, in = g->in, out = g->out;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(rows * out));
  const int threads = team.size;
  const int64_t masked = g->y != NULL ? rows * out : 0;
  REAL *memory = rp_alloc_array(masked + threads * out, sizeof(REAL));
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
  REAL *dbias = memory + masked;
  const REAL *dz = masked > 0 ? memory : g->dy;
  memset(dbias, 0, (size_t)(threads * out) * sizeof(REAL));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int part = 0; part < threads; part++) {
    const int64_t end = rows * (part + 1) / threads;
    for (int64_t first = rows * part / threads; first < end; first += ROWS)
      mask_rows(g, first, end - first < ROWS ? end - first : ROWS,
                masked > 0 ? memory + first * out : NULL, out, dbias + part * out);
  }
  RpStatus status = RP_OK;
  if (g->dbias != NULL)
    join_parts(threads, out, out, dbias, g->dbias);
  if (g->dx != NULL)
    status = packed_product(false, rows, in, out, dz, g->w, g->dx);
  if (g->dw != NULL && status == RP_OK)
    status = packed_product(true, out, in, rows, dz, g->x, g->dw);
  rp_free(memory);
  return status == RP_OK ? rp_interrupt_status() : status;
}

static RpStatus linear_gradient(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                                const void *y, const void *dy, void *dx, void *dw, void *dbias)
{
  const LinearGradient g = {rows, in, out, x, w, y, dy, dx, dw, dbias};
  return in * out <= CACHED && (ROUNDS_OPERANDS || suits_tiles(rows, in, in * out))
             ? tiled_linear_gradient(&g)
             : large_linear_gradient(&g);
}

#endif
