/* Functions of one float that are too long for the rows of operation/. */
#ifndef RP_BODY_SCALAR_H
#define RP_BODY_SCALAR_H

#include "core/kernels/body/exponential.h"

/*
** The cumulative normal distribution at x, given e = exp(-x^2 / 2). float32, in a form
** that vectorizes: the tail beyond |x| is e t Q(t), t = 1 / (1 + 0.34 |x|), with a
** minimax polynomial Q of degree 8 (relative error 3e-8 before rounding). float64:
** from the C library's erf.
*/
static inline REAL normal_up_to(REAL x, REAL e)
{
#if REAL_IS_FLOAT
  const float t = 1 / (1 + 0.34f * fabsf(x));
  float q = -0.0265232138f;
  q = q * t + 0.141391635f;
  q = q * t - 0.276895523f;
  q = q * t + 0.206306696f;
  q = q * t - 0.0474343039f;
  q = q * t + 0.116456032f;
  q = q * t + 0.114933148f;
  q = q * t + 0.136146933f;
  q = q * t + 0.135618612f;
  const float beyond = e * t * q;
  return x < 0 ? beyond : 1 - beyond;
#else
  (void)e;
  return 0.5 * (1 + erf(x * 0.70710678118654752440));
#endif
}

static inline REAL gelu(REAL x)
{
  return x * normal_up_to(x, exponential(REAL_C(-0.5) * x * x));
}

static inline REAL gelu_slope(REAL x)
{
  const REAL e = exponential(REAL_C(-0.5) * x * x);
  return normal_up_to(x, e) + x * REAL_C(0.39894228040143267794) * e;
}

/* (1 + tanh(u)) / 2 of gelu_tanh. */
static inline REAL gelu_tanh_gate(REAL x)
{
  const REAL twice = REAL_C(1.5957691216057307117) * x; /* 2 sqrt(2 / pi) x */
  return 1 / (1 + REAL_EXP(-(twice * (1 + REAL_C(0.044715) * x * x))));
}

static inline REAL gelu_tanh_slope(REAL x)
{
  const REAL gate = gelu_tanh_gate(x), rest = gate * (1 - gate);
  const REAL slope = REAL_C(1.5957691216057307117) * (1 + REAL_C(0.134145) * x * x);
  return rest > 0 ? gate + x * rest * slope : gate; /* not 0 * infinity far from 0 */
}

static inline REAL silu_slope(REAL x)
{
  const REAL sigmoid = 1 / (1 + REAL_EXP(-x));
  return sigmoid * (1 + x * (1 - sigmoid));
}

/*
** x rounded to the nearest float of `digits` significant bits, ties to even, in a
** format whose normal numbers have powers of two from `low` to `high`; smaller results
** are subnormal, larger ones infinite. Adding a number whose last bit has the value of
** the last kept bit rounds the sum there.
*/
static inline double round_to_format(double x, int digits, double low, double high)
{
  const uint64_t exponent = 0x7FF0000000000000;
  uint64_t bits;
  double power; /* the largest power of two up to |x| */
  memcpy(&bits, &x, sizeof bits);
  bits &= exponent;
  memcpy(&power, &bits, sizeof power);
  power = power < low ? low : power > high ? high : power;
  const double shift = power * (1.5 * (double)(1ULL << (53 - digits)));
  const double rounded = (fabs(x) + shift) - shift;
  return copysign(rounded >= 2 * high ? (double)INFINITY : rounded, x);
}

static inline REAL round_to_float16(REAL x)
{
  return (REAL)round_to_format((double)x, 11, 0x1p-14, 0x1p15);
}

static inline REAL round_to_bfloat16(REAL x)
{
  return (REAL)round_to_format((double)x, 8, 0x1p-126, 0x1p127);
}

#endif
