/*
** exp for arguments up to about 0, from which the caller has subtracted the maximum
** or the log-sum-exp. float32: x / ln 2 is rounded to an integer n; the result is 2^n
** times a minimax polynomial of degree 6 in the remainder (relative error 3e-9 before
** rounding). The argument is clamped first. Below -87.3 the result is 0; arguments
** above 88 are not allowed. float64: the C library's exp.
*/
#ifndef RP_BODY_EXPONENTIAL_H
#define RP_BODY_EXPONENTIAL_H

#if REAL_IS_FLOAT
static inline float exponential(float x)
{
  const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
  const float low = -87.33654f;
  const float clamped = x < low ? low : x;
  const float shifted = clamped * 1.44269504f + magic;
  const float n = shifted - magic;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.3814584e-3f;
  p = p * r + 8.3687154e-3f;
  p = p * r + 4.1668388e-2f;
  p = p * r + 1.6666521e-1f;
  p = p * r + 4.9999993e-1f;
  p = p * (r * r) + (r + 1.0f);
  uint32_t bits; /* the low bits of `shifted` are n: move n + 127 to the exponent */
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return x < low ? 0.0f : p * power;
}
#else
static inline double exponential(double x)
{
  return exp(x);
}
#endif

#endif
