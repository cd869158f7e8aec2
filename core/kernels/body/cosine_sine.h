/*
** Cosines and sines of float64 angles, rounded to REAL. An angle x is reduced in float64 to
** r = x - n pi / 2, |r| <= pi / 4 (Cody and Waite: pi / 2 is the sum of three numbers; the products
** of n with the first two are exact). Minimax polynomials give sin r (relative error 4e-9 in
** float32, 4e-18 in float64, before rounding) and cos r (2e-10 and 6e-20).
*/
#ifndef RP_BODY_COSINE_SINE_H
#define RP_BODY_COSINE_SINE_H

#if REAL_IS_FLOAT
#define BITS uint32_t
#else
#define BITS uint64_t
#endif

/* Up to here the reduction is exact; the C library computes the rest. */
#define FARTHEST_ANGLE 0x1p20

/* x, or -x if bit 1 of n is set. */
static inline REAL with_sign(REAL x, BITS n)
{
  BITS bits;
  memcpy(&bits, &x, sizeof bits);
  bits ^= (n & 2) << (8 * sizeof bits - 2);
  memcpy(&x, &bits, sizeof bits);
  return x;
}

/* a if bit 0 of n is clear, else b. */
static inline REAL choose(BITS n, REAL a, REAL b)
{
  const BITS mask = (BITS)0 - (n & 1);
  BITS x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  x ^= (x ^ y) & mask;
  memcpy(&a, &x, sizeof x);
  return a;
}

static inline REAL sine_near_0(REAL r)
{
  const REAL u = r * r;
#if REAL_IS_FLOAT
  REAL p = -1.95152833e-4f;
  p = p * u + 8.33216076e-3f;
  p = p * u - 1.66666546e-1f;
#else
  REAL p = 1.58962307074218384e-10;
  p = p * u - 2.50507477724488529e-8;
  p = p * u + 2.7557313621447274e-6;
  p = p * u - 1.98412698295897157e-4;
  p = p * u + 8.33333333332211881e-3;
  p = p * u - 1.66666666666666307e-1;
#endif
  return r + r * u * p;
}

static inline REAL cosine_near_0(REAL r)
{
  const REAL u = r * r;
#if REAL_IS_FLOAT
  REAL p = 2.44331571e-5f;
  p = p * u - 1.38873163e-3f;
  p = p * u + 4.16666457e-2f;
#else
  REAL p = -1.13585365657878518e-11;
  p = p * u + 2.08757008428382055e-9;
  p = p * u - 2.75573141793031059e-7;
  p = p * u + 2.48015872888517265e-5;
  p = p * u - 1.38888888888730564e-3;
  p = p * u + 4.16666666666665929e-2;
#endif
  return 1 - (u * REAL_C(0.5) - u * u * p);
}

/* One block; n <= ANGLES. Returns true if an angle is beyond FARTHEST_ANGLE or NaN. */
enum { ANGLES = 64 };
static inline bool cosine_sine_block(int64_t n, const double *restrict angle, REAL *restrict cosine,
                                     REAL *restrict sine)
{
  const double magic = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
  REAL rest[ANGLES];
  BITS quarter[ANGLES];
  int far = 0;
#pragma omp simd reduction(| : far)
  for (int64_t i = 0; i < n; i++) {
    const double shifted = angle[i] * 0x1.45f306dc9c883p-1 + magic, turns = shifted - magic;
    uint64_t bits; /* the low bits of `shifted` are n */
    memcpy(&bits, &shifted, sizeof bits);
    quarter[i] = (BITS)bits;
    rest[i] = (REAL)(((angle[i] - turns * 0x1.921fb544p+0) - turns * 0x1.0b4611a6p-34) -
                     turns * 0x1.3198a2e037073p-69);
    far |= !(fabs(angle[i]) <= FARTHEST_ANGLE);
  }
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const REAL s = sine_near_0(rest[i]), c = cosine_near_0(rest[i]);
    sine[i] = with_sign(choose(quarter[i], s, c), quarter[i]);
    cosine[i] = with_sign(choose(quarter[i], c, s), quarter[i] + 1);
  }
  return far != 0;
}

static RpStatus cosine_sine(int64_t count, const double *angles, void *cosines, void *sines)
{
  const RpTeam team = rp_team(RP_WORK_FUNCTIONS, (double)count);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t first = 0; first < count; first += ANGLES) {
    const double *angle = angles + first;
    REAL *cosine = (REAL *)cosines + first, *sine = (REAL *)sines + first;
    const int64_t n = count - first < ANGLES ? count - first : ANGLES;
    if (rp_interrupted() || !cosine_sine_block(n, angle, cosine, sine))
      continue;
    for (int64_t i = 0; i < n; i++) {
      if (fabs(angle[i]) <= FARTHEST_ANGLE)
        continue;
      cosine[i] = (REAL)cos(angle[i]);
      sine[i] = (REAL)sin(angle[i]);
    }
  }
  return rp_interrupt_status();
}

#endif
