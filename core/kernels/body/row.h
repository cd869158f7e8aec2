/* Functions on one row: maximum, sum, dot product, exponentials, rotation, dropout. */
#ifndef RP_BODY_ROW_H
#define RP_BODY_ROW_H

#include "core/kernels/body/exponential.h"
#include "core/kernels/body/vector.h"

/* The maximum of a row; NaN is ignored. */
static REAL row_maximum(int64_t n, const REAL *x)
{
  REAL maximum = -(REAL)INFINITY;
#pragma omp simd reduction(max : maximum)
  for (int64_t i = 0; i < n; i++)
    maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

/* a[i] b[i] for the lanes from i on, or a[i] if b is NULL. */
static inline Vector lane_products(const REAL *a, const REAL *b, int64_t i)
{
  Vector x = *(const Vector *)(a + i);
  if (b != NULL)
    x *= *(const Vector *)(b + i);
  return x;
}

/* The sum of a[i] b[i], or of a[i]. gcc adds the lanes of a reduction one by one. */
static inline __attribute__((always_inline)) REAL sum_products(int64_t n, const REAL *a,
                                                               const REAL *b)
{
  enum { SUMS = 4 }; /* independent, because an addition takes some cycles */
  Vector sum[SUMS] = {0};
  REAL rest = 0;
  int64_t i = 0;
  for (; i + SUMS * LANES <= n; i += SUMS * LANES)
    for (int s = 0; s < SUMS; s++)
      sum[s] += lane_products(a, b, i + s * LANES);
  for (; i + LANES <= n; i += LANES)
    sum[0] += lane_products(a, b, i);
  for (; i < n; i++)
    rest += b != NULL ? a[i] * b[i] : a[i];
  return lane_sum((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}

static REAL row_sum(int64_t n, const REAL *x)
{
  return sum_products(n, x, NULL);
}

static REAL row_dot(int64_t n, const REAL *a, const REAL *b)
{
  return sum_products(n, a, b);
}

/* y = exp(x - shift) for LANES elements. */
static inline Vector exponential_lanes(const REAL *x, REAL shift)
{
  REAL y[LANES];
#pragma omp simd
  for (int i = 0; i < LANES; i++)
    y[i] = exponential(x[i] - shift);
  Vector lanes;
  memcpy(&lanes, y, sizeof lanes);
  return lanes;
}

/* y = exp(x - shift); returns the sum of y. x and y may be the same. */
static REAL exponential_row(int64_t n, const REAL *x, REAL shift, REAL *y)
{
  Vector sum = {0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    const Vector lanes = exponential_lanes(x + i, shift);
    *(Vector *)(y + i) = lanes;
    sum += lanes;
  }
  if (i < n) {
    REAL last[LANES];
    for (int lane = 0; lane < LANES; lane++)
      last[lane] = i + lane < n ? x[i + lane] : -(REAL)INFINITY;
    const Vector lanes = exponential_lanes(last, shift);
    memcpy(y + i, &lanes, (size_t)(n - i) * sizeof *y);
    sum += lanes;
  }
  return lane_sum(sum);
}

/* Many heads have 16 features, and thus 8 pairs of them. */
enum { EIGHT = 8 };
typedef REAL Eight
    __attribute__((vector_size(EIGHT * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

/*
** Rotation of pairs of features (RoFormer eq. 15, in the element-wise form of eq. 34):
** y = R x for one vector at index `time` of batch row `batch`, or R^-1 x if `back`.
** Features that are not rotated are copied. x and y must not overlap.
*/
static inline void rotate_vector(const RpTable *table, bool back, int64_t batch, int64_t time,
                                 int64_t features, const REAL *restrict x, REAL *restrict y)
{
  const int64_t pairs = table->pairs;
  const int64_t row = batch * table->batch_stride + time * table->time_stride;
  const REAL *restrict cosine = (const REAL *)table->cosine + row;
  const REAL *restrict sine = (const REAL *)table->sine + row;
  const REAL sign = back ? -1 : 1;
  const int64_t first = table->first, turned = first + 2 * pairs;
  if (first > 0)
    memcpy(y, x, (size_t)first * sizeof *y);
  if (pairs > 0 && table->interleaved) {
    for (int64_t t = 0; t < pairs; t++) {
      const REAL c = cosine[t], s = sign * sine[t], a = x[first + 2 * t], b = x[first + 2 * t + 1];
      y[first + 2 * t] = a * c - b * s;
      y[first + 2 * t + 1] = b * c + a * s;
    }
  } else if (pairs > 0) {
    int64_t t = 0;
    for (; t + EIGHT <= pairs; t += EIGHT) {
      const Eight c = *(const Eight *)(cosine + t), s = sign * *(const Eight *)(sine + t);
      const Eight a = *(const Eight *)(x + first + t), b = *(const Eight *)(x + first + t + pairs);
      *(Eight *)(y + first + t) = a * c - b * s;
      *(Eight *)(y + first + t + pairs) = b * c + a * s;
    }
    for (; t < pairs; t++) {
      const REAL c = cosine[t], s = sign * sine[t], a = x[first + t], b = x[first + t + pairs];
      y[first + t] = a * c - b * s;
      y[first + t + pairs] = b * c + a * s;
    }
  }
  if (turned < features)
    memcpy(y + turned, x + turned, (size_t)(features - turned) * sizeof *y);
}

/* Elements first .. first + n - 1 of a mask: y = x / (1 - p), or 0 with probability p. */
static void dropout_row(uint64_t seed, double p, int64_t first, int64_t n, const REAL *x, REAL *y)
{
  const REAL keep = (REAL)(1 / (1 - p));
  const uint64_t threshold = (uint64_t)(p * 0x1p32);
  uint32_t words[4] = {0};
  for (int64_t i = 0; i < n; i++) {
    const uint64_t at = (uint64_t)(first + i);
    if (i == 0 || at % 4 == 0)
      rp_philox(seed, at / 4, words);
    y[i] = words[at % 4] < threshold ? 0 : x[i] * keep;
  }
}

#endif
