/*
** Vectors carried along a text by the maps H_t = I - beta_t w_t w_t^T of its tokens, for packed
** operands. A query is carried back from its own token to the first one, a sum of values forward:
**
**     p_j = H_{j+1} ... H_i q_i,   s_ij = p_j . k_j,   p_{j-1} = H_j p_j
**     z_j = H_j z_{j-1} + a_ij v_j,   y_i = z_i
**
** Both are linear in q, k and a, and the gradient of each is made of both. A panel of queries is
** stored by features, [features, PANEL], so that a vector of registers holds the same feature of
** LANES queries.
*/
#ifndef RP_BODY_HOUSEHOLDER_H
#define RP_BODY_HOUSEHOLDER_H

#include "core/kernels/body/operand.h"

enum { TOGETHER = 4, PANEL = 2 * TOGETHER * LANES }; /* vectors of a step, queries of a panel */

/* A panel: `rows` queries of a unit, the first of them the token `first`, and its vectors. */
typedef struct Panel {
  const RpHouseholder *h;
  int64_t unit, row, rows, first, keys; /* keys: tokens that its last query sees */
  REAL *vectors;                        /* p or z, [features, PANEL] */
  REAL *line;                           /* room for LANES rows of keys, padded */
} Panel;

static int64_t panels_of(const RpHouseholder *h)
{
  return (h->queries + PANEL - 1) / PANEL;
}

/* Number of elements of `vectors` and `line`. */
static int64_t panel_room(const RpHouseholder *h)
{
  return h->features * PANEL + round_up(h->keys, LANES) * LANES;
}

static Panel panel_of(const RpHouseholder *h, int64_t unit, int64_t index, REAL *room)
{
  const int64_t row = index * PANEL, rows = smaller(PANEL, h->queries - row);
  const int64_t first = h->keys - h->queries + row;
  memset(room, 0, (size_t)(h->features * PANEL) * sizeof *room);
  return (Panel){h, unit, row, rows, first, first + rows, room, room + h->features * PANEL};
}

/* The first vector of the panel with a query that sees token j, and the end of its vectors. */
static inline int64_t begin_of(const Panel *panel, int64_t j)
{
  return j > panel->first ? (j - panel->first) / LANES * LANES : 0;
}

static inline int64_t end_of(const Panel *panel)
{
  return round_up(panel->rows, LANES);
}

/* columns[j, r] = the element of row r and token j of a matrix [units, queries, keys]; 0 for tokens
   after that of the row. */
static void read_columns(const Panel *panel, const REAL *a, REAL *columns)
{
  const int64_t keys = panel->h->keys, line = round_up(panel->keys, LANES);
  for (int64_t r = 0; r < end_of(panel); r += LANES) {
    for (int64_t i = 0; i < LANES; i++) {
      const int64_t seen = r + i < panel->rows ? panel->first + r + i + 1 : 0;
      const REAL *from = a + (panel->unit * panel->h->queries + panel->row + r + i) * keys;
      if (seen > 0)
        memcpy(panel->line + i * line, from, (size_t)seen * sizeof *a);
      memset(panel->line + i * line + seen, 0, (size_t)(line - seen) * sizeof *a);
    }
    transpose(LANES, line, panel->line, line, columns + r, PANEL);
  }
}

/* The inverse of `read_columns`. */
static void write_columns(const Panel *panel, const REAL *columns, REAL *a)
{
  const int64_t keys = panel->h->keys, line = round_up(panel->keys, LANES);
  for (int64_t r = 0; r < end_of(panel); r += LANES) {
    transpose(line, LANES, columns + r, PANEL, panel->line, line);
    for (int64_t i = 0; i < LANES && r + i < panel->rows; i++) {
      const int64_t seen = panel->first + r + i + 1;
      REAL *to = a + (panel->unit * panel->h->queries + panel->row + r + i) * keys;
      memcpy(to, panel->line + i * line, (size_t)seen * sizeof *a);
      memset(to + seen, 0, (size_t)(keys - seen) * sizeof *a);
    }
  }
}

/* Copy the vector of the query at token j, if the panel has one, from or to [units, queries,
   features]; the panel then has zeros if `leaves`. */
static void enter(const Panel *panel, int64_t j, const REAL *q)
{
  const int64_t r = j - panel->first, d = panel->h->features;
  for (int64_t f = 0; r >= 0 && f < d; f++)
    panel->vectors[f * PANEL + r] = q[(panel->unit * panel->h->queries + panel->row + r) * d + f];
}

static void leave(const Panel *panel, int64_t j, REAL *y)
{
  const int64_t r = j - panel->first, d = panel->h->features;
  for (int64_t f = 0; r >= 0 && f < d; f++) {
    REAL *from = panel->vectors + f * PANEL + r;
    if (y != NULL)
      y[(panel->unit * panel->h->queries + panel->row + r) * d + f] = *from;
    *from = 0;
  }
}

/* s = p . k unless s is NULL and g = p . w, then p -= beta g w, for `n` vectors of registers. */
static inline __attribute__((always_inline)) void descend(const int n, int64_t features, REAL beta,
                                                          const REAL *k, const REAL *w, REAL *p,
                                                          REAL *s, REAL *g)
{
  Vector by_k[TOGETHER] = {0}, by_w[TOGETHER] = {0};
  for (int64_t f = 0; s != NULL && f < features; f++)
    for (int v = 0; v < n; v++) {
      const Vector x = *(const Vector *)(p + f * PANEL + v * LANES);
      by_k[v] += x * k[f];
      by_w[v] += x * w[f];
    }
  for (int64_t f = 0; s == NULL && f < features; f++)
    for (int v = 0; v < n; v++)
      by_w[v] += *(const Vector *)(p + f * PANEL + v * LANES) * w[f];
  for (int v = 0; v < n; v++) {
    if (s != NULL)
      *(Vector *)(s + v * LANES) = by_k[v];
    *(Vector *)(g + v * LANES) = by_w[v];
    by_w[v] *= -beta;
  }
  for (int64_t f = 0; f < features; f++)
    for (int v = 0; v < n; v++)
      *(Vector *)(p + f * PANEL + v * LANES) += by_w[v] * w[f];
}

/* c = z . w unless it is known, then z += a k - beta c w, for `n` vectors of registers. */
static inline __attribute__((always_inline)) void ascend(const int n, const bool known,
                                                         int64_t features, REAL beta, const REAL *k,
                                                         const REAL *w, const REAL *a, REAL *z,
                                                         REAL *c)
{
  Vector by_w[TOGETHER] = {0}, weight[TOGETHER];
  for (int64_t f = 0; !known && f < features; f++)
    for (int v = 0; v < n; v++)
      by_w[v] += *(const Vector *)(z + f * PANEL + v * LANES) * w[f];
  for (int v = 0; v < n; v++) {
    if (known)
      by_w[v] = *(const Vector *)(c + v * LANES);
    else
      *(Vector *)(c + v * LANES) = by_w[v];
    by_w[v] *= -beta;
    weight[v] = *(const Vector *)(a + v * LANES);
  }
  for (int64_t f = 0; f < features; f++)
    for (int v = 0; v < n; v++)
      *(Vector *)(z + f * PANEL + v * LANES) += by_w[v] * w[f] + weight[v] * k[f];
}

static inline const REAL *vector_of(const Panel *panel, const void *x, int64_t j)
{
  return (const REAL *)x + (panel->unit * panel->h->keys + j) * panel->h->features;
}

static inline REAL beta_of(const Panel *panel, int64_t j)
{
  return ((const REAL *)panel->h->beta)[panel->unit * panel->h->keys + j];
}

/* Carry p over token j; s and g: [PANEL]; s may be NULL. */
static void step_back(const Panel *panel, int64_t j, REAL *s, REAL *g)
{
  const int64_t d = panel->h->features;
  const REAL *k = vector_of(panel, panel->h->k, j), *w = vector_of(panel, panel->h->w, j);
  const REAL beta = beta_of(panel, j);
  int64_t r = begin_of(panel, j);
  for (; r + TOGETHER * LANES <= end_of(panel); r += TOGETHER * LANES)
    descend(TOGETHER, d, beta, k, w, panel->vectors + r, s != NULL ? s + r : NULL, g + r);
  for (; r < end_of(panel); r += LANES)
    descend(1, d, beta, k, w, panel->vectors + r, s != NULL ? s + r : NULL, g + r);
}

/* Carry z over token j and add its value; a and c: [PANEL]; c is computed unless it is known. */
static inline __attribute__((always_inline)) void step_on(const Panel *panel, int64_t j,
                                                          const bool known, const REAL *a, REAL *c)
{
  const int64_t d = panel->h->features;
  const REAL *k = vector_of(panel, panel->h->k, j), *w = vector_of(panel, panel->h->w, j);
  const REAL beta = beta_of(panel, j);
  int64_t r = begin_of(panel, j);
  for (; r + TOGETHER * LANES <= end_of(panel); r += TOGETHER * LANES)
    ascend(TOGETHER, known, d, beta, k, w, a + r, panel->vectors + r, c + r);
  for (; r < end_of(panel); r += LANES)
    ascend(1, known, d, beta, k, w, a + r, panel->vectors + r, c + r);
}

/* sums[i] = the sum of x_r times feature i of query r, for `n` features, over the queries from r to
   `end`. */
static inline __attribute__((always_inline)) void
sum_rows(const int n, int64_t r, int64_t end, const REAL *x, const REAL *vectors, Vector *sums)
{
  Vector own[TOGETHER] = {0};
  for (; r < end; r += LANES)
    for (int i = 0; i < n; i++)
      own[i] += *(const Vector *)(x + r) * *(const Vector *)(vectors + i * PANEL + r);
  for (int i = 0; i < n; i++)
    sums[i] = own[i];
}

/* to[f] += scale * the sum of x_r times feature f of query r, over the queries that see token j. */
static void add_sums(const Panel *panel, int64_t j, REAL scale, const REAL *x, REAL *to)
{
  const int64_t d = panel->h->features, begin = begin_of(panel, j), end = end_of(panel);
  for (int64_t left = 0; left < d; left += LANES) {
    const int64_t n = smaller(LANES, d - left);
    Vector sums[LANES];
    PackedVector part[LANES];
    const REAL *vectors = panel->vectors + left * PANEL;
    int64_t f = 0;
    for (; f + TOGETHER <= n; f += TOGETHER)
      sum_rows(TOGETHER, begin, end, x, vectors + f * PANEL, sums + f);
    for (; f < n; f++)
      sum_rows(1, begin, end, x, vectors + f * PANEL, sums + f);
    for (int i = 0; i < LANES; i++)
      part[i] = i < n ? (PackedVector)sums[i] : (PackedVector){0};
    transpose_block(part);
    for (int half = LANES / 2; half > 0; half /= 2)
      for (int i = 0; i < half; i++)
        part[i] += part[i + half];
    for (int64_t i = 0; i < n; i++)
      to[left + i] += scale * part[0][i];
  }
}

static RpTeam team_of(const RpHouseholder *h)
{
  return rp_team(RP_WORK_FLOPS,
                 4.0 * (double)(h->units * h->queries * h->keys) * (double)h->features);
}

/* Memory for a panel and `matrices` of columns for each thread; *room is the size of a part. */
static REAL *reserve_panels(const RpHouseholder *h, RpTeam team, int64_t matrices, int64_t *room)
{
  *room = panel_room(h) + matrices * round_up(h->keys, LANES) * PANEL + PANEL;
  return rp_alloc_array(team.size * *room, sizeof(REAL));
}

static RpStatus householder_scores(const RpHouseholder *h, void *s)
{
  const int64_t panels = panels_of(h), columns = round_up(h->keys, LANES) * PANEL;
  const RpTeam team = team_of(h);
  int64_t room;
  REAL *memory = reserve_panels(h, team, 1, &room);
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(rp_present(team))
  for (int64_t work = 0; work < h->units * panels; work++) {
    REAL *own = memory + rp_system_thread() * room;
    REAL *scores = own + panel_room(h), *unused = scores + columns;
    const Panel panel = panel_of(h, work / panels, panels - 1 - work % panels, own);
    for (int64_t j = panel.keys - 1; j >= 0 && !rp_interrupted(); j--) {
      enter(&panel, j, h->q);
      step_back(&panel, j, scores + j * PANEL, unused);
    }
    write_columns(&panel, scores, s);
  }
  rp_free(memory);
  return rp_interrupt_status();
}

static RpStatus householder_sums(const RpHouseholder *h, void *y)
{
  const int64_t panels = panels_of(h), columns = round_up(h->keys, LANES) * PANEL;
  const RpTeam team = team_of(h);
  int64_t room;
  REAL *memory = reserve_panels(h, team, 1, &room);
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(rp_present(team))
  for (int64_t work = 0; work < h->units * panels; work++) {
    REAL *own = memory + rp_system_thread() * room;
    REAL *weights = own + panel_room(h), *unused = weights + columns;
    const Panel panel = panel_of(h, work / panels, panels - 1 - work % panels, own);
    read_columns(&panel, h->a, weights);
    for (int64_t j = 0; j < panel.keys && !rp_interrupted(); j++) {
      step_on(&panel, j, false, weights + j * PANEL, unused);
      leave(&panel, j, y);
    }
  }
  rp_free(memory);
  return rp_interrupt_status();
}

/* The gradients of a panel, added to those of the keys and maps of its unit. */
static void panel_gradient(const RpHouseholder *h, int64_t unit, int64_t index, REAL *room,
                           const RpHouseholderGradient *to)
{
  const int64_t columns = round_up(h->keys, LANES) * PANEL, d = h->features;
  REAL *a = room + panel_room(h), *by_k = a + columns, *c = by_k + columns, *g = c + columns;
  Panel panel = panel_of(h, unit, index, room);
  read_columns(&panel, h->a, a);
  for (int64_t j = 0; j < panel.keys; j++) {
    step_on(&panel, j, false, a + j * PANEL, c + j * PANEL);
    leave(&panel, j, to->q);
  }
  for (int64_t j = panel.keys - 1; j >= 0; j--) {
    enter(&panel, j, h->q);
    add_sums(&panel, j, 1, a + j * PANEL, (REAL *)to->k + (unit * h->keys + j) * d);
    add_sums(&panel, j, -beta_of(&panel, j), c + j * PANEL,
             (REAL *)to->w + (unit * h->keys + j) * d);
    step_back(&panel, j, to->a != NULL ? by_k + j * PANEL : NULL, g + j * PANEL);
  }
  if (to->a != NULL)
    write_columns(&panel, by_k, to->a);
  panel = panel_of(h, unit, index, room);
  for (int64_t j = 0; j < panel.keys; j++) {
    Vector sum = {0};
    for (int64_t r = begin_of(&panel, j); r < end_of(&panel); r += LANES)
      sum += *(const Vector *)(g + j * PANEL + r) * *(const Vector *)(c + j * PANEL + r);
    for (int lane = 0; lane < LANES; lane++)
      ((REAL *)to->beta)[unit * h->keys + j] -= sum[lane];
    add_sums(&panel, j, -beta_of(&panel, j), g + j * PANEL,
             (REAL *)to->w + (unit * h->keys + j) * d);
    step_on(&panel, j, true, a + j * PANEL, c + j * PANEL);
    leave(&panel, j, NULL);
  }
}

static RpStatus householder_gradient(const RpHouseholder *h, const RpHouseholderGradient *to)
{
  const RpTeam team = team_of(h);
  int64_t room;
  const size_t size = (size_t)(h->keys * h->features) * sizeof(REAL);
  REAL *memory = reserve_panels(h, team, 4, &room);
  if (memory == NULL)
    return RP_OUT_OF_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < h->units; unit++) {
    memset((REAL *)to->k + unit * h->keys * h->features, 0, size);
    memset((REAL *)to->w + unit * h->keys * h->features, 0, size);
    memset((REAL *)to->beta + unit * h->keys, 0, (size_t)h->keys * sizeof(REAL));
    for (int64_t index = 0; index < panels_of(h) && !rp_interrupted(); index++)
      panel_gradient(h, unit, index, memory + rp_system_thread() * room, to);
  }
  rp_free(memory);
  return rp_interrupt_status();
}

#endif
