/* Optimizer steps, in one pass over memory. */
#ifndef RP_BODY_OPTIMIZE_H
#define RP_BODY_OPTIMIZE_H

/* Kingma and Ba 2015, algorithm 1; decoupled decay: Loshchilov and Hutter 2019. */
static RpStatus adam(const RpAdam *a, int64_t n, void *w_data, const void *gradient, void *mean,
                     void *variance)
{
  REAL *w = w_data, *m = mean, *v = variance;
  const REAL *g = gradient;
  const REAL beta1 = (REAL)a->beta1, beta2 = (REAL)a->beta2, l2 = (REAL)a->l2;
  const REAL rest1 = (REAL)(1 - a->beta1), rest2 = (REAL)(1 - a->beta2);
  const REAL scale = (REAL)a->gradient_scale, epsilon = (REAL)a->epsilon;
  const REAL step = (REAL)(a->rate / a->correction1), shrink = (REAL)(1 - a->rate * a->decay);
  const REAL root = (REAL)(1 / sqrt(a->correction2));
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)n);
#pragma omp parallel for simd schedule(static) num_threads(rp_present(team))
  for (int64_t i = 0; i < n; i++) {
    const REAL d = g[i] * scale + l2 * w[i];
    m[i] = beta1 * m[i] + rest1 * d;
    v[i] = beta2 * v[i] + rest2 * d * d;
    w[i] = w[i] * shrink - step * m[i] / (REAL_SQRT(v[i]) * root + epsilon);
  }
  return RP_OK;
}

/* velocity = momentum velocity + gradient; velocity may be NULL if momentum is 0. */
static RpStatus sgd(const RpSgd *s, int64_t n, void *w_data, const void *gradient, void *velocity)
{
  REAL *w = w_data, *v = velocity;
  const REAL *g = gradient;
  const REAL rate = (REAL)s->rate, momentum = (REAL)s->momentum, l2 = (REAL)s->l2;
  const REAL scale = (REAL)s->gradient_scale;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)n);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t i = 0; i < n; i++) {
    REAL d = g[i] * scale + l2 * w[i];
    if (v != NULL) {
      v[i] = momentum * v[i] + d;
      d = s->nesterov ? d + momentum * v[i] : v[i];
    }
    w[i] -= rate * d;
  }
  return RP_OK;
}

static double sum_of_squares(int64_t n, const void *x_data, double scale)
{
  enum { PIECE = 1 << 14, GROUP = 64 };
  const REAL *x = x_data;
  double total = 0;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)n);
  for (int64_t first = 0; first < n; first += (int64_t)PIECE * GROUP) {
    double partial[GROUP] = {0};
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
    for (int p = 0; p < GROUP; p++) {
      const int64_t begin = first + (int64_t)p * PIECE;
      const int64_t end = begin + PIECE < n ? begin + PIECE : n;
      double sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int64_t i = begin; i < end; i++)
        sum += ((double)x[i] * scale) * ((double)x[i] * scale);
      partial[p] = sum;
    }
    for (int p = 0; p < GROUP; p++)
      total += partial[p];
  }
  return total;
}

#endif
