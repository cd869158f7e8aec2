/* Rotation of pairs of features (RoFormer eq. 15; the element-wise form of eq. 34). */
#ifndef RP_BODY_ROTATE_H
#define RP_BODY_ROTATE_H

/*
** y = R x for one vector at place `time` of batch row `batch`, or R^-1 x where
** `back`. Features that do not turn are copied. x and y may not overlap.
*/
static inline void rotate_vector(const RpTable *table, bool back, int64_t batch, int64_t time,
                                 int64_t features, const REAL *restrict x, REAL *restrict y)
{
  const int64_t pairs = table->pairs;
  const int64_t row = batch * table->batch_stride + time * pairs;
  const REAL *restrict cosine = (const REAL *)table->cosine + row;
  const REAL *restrict sine = (const REAL *)table->sine + row;
  const REAL sign = back ? -1 : 1;
  for (int64_t i = 0; i < table->first; i++)
    y[i] = x[i];
  x += table->first;
  y += table->first;
  if (pairs > 0 && table->interleaved) {
    for (int64_t t = 0; t < pairs; t++) {
      const REAL c = cosine[t], s = sign * sine[t];
      y[2 * t] = x[2 * t] * c - x[2 * t + 1] * s;
      y[2 * t + 1] = x[2 * t + 1] * c + x[2 * t] * s;
    }
  } else if (pairs > 0) {
    for (int64_t t = 0; t < pairs; t++) {
      const REAL c = cosine[t], s = sign * sine[t];
      y[t] = x[t] * c - x[t + pairs] * s;
      y[t + pairs] = x[t + pairs] * c + x[t] * s;
    }
  }
  for (int64_t i = 2 * pairs; i < features - table->first; i++)
    y[i] = x[i];
}

static RpStatus rotate(const RpTable *table, bool back, int64_t batch, int64_t heads, int64_t time,
                       int64_t features, const RpHeads *x, const RpHeads *y)
{
#pragma omp parallel for schedule(static) if (batch * heads * time * features > 1 << 13)
  for (int64_t row = 0; row < batch * heads * time; row++) {
    if (rp_interrupted())
      continue;
    const int64_t t = row % time, h = row / time % heads, b = row / time / heads;
    rotate_vector(table, back, b, t, features,
                  (const REAL *)x->data + b * x->batch + h * x->head + t * x->time,
                  (REAL *)y->data + b * y->batch + h * y->head + t * y->time);
  }
  return rp_interrupt_status();
}

#endif
