/* The functions of one float that are more than a line in the rows of operation/. */
#ifndef RP_BODY_SCALAR_H
#define RP_BODY_SCALAR_H

static inline REAL gelu(REAL x)
{
  return REAL_C(0.5) * x * (1 + REAL_ERF(x * REAL_C(0.70710678118654752440)));
}

static inline REAL gelu_slope(REAL x)
{
  const REAL density = REAL_C(0.39894228040143267794) * REAL_EXP(REAL_C(-0.5) * x * x);
  return REAL_C(0.5) * (1 + REAL_ERF(x * REAL_C(0.70710678118654752440))) + x * density;
}

static inline REAL silu_slope(REAL x)
{
  const REAL sigmoid = 1 / (1 + REAL_EXP(-x));
  return sigmoid * (1 + x * (1 - sigmoid));
}

/*
** x as the nearest float of `digits` significant bits, ties to even, with normal
** powers of two from `low` to `high`: subnormal below, infinite above. Adding a
** number whose last bit is worth the last digit kept makes the sum round there.
*/
static inline double round_to_format(double x, int digits, double low, double high)
{
  const uint64_t exponent = 0x7FF0000000000000;
  uint64_t bits;
  double power; /* of two, at most |x| */
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
