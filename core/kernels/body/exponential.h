/*
** exp for rows. float32: round x / ln 2 to an integer n, a polynomial of degree
** 6 on the rest, times 2^n; within 2 units in the last place. The argument is
** clamped before the exponent is made, and below -87.3 the result is 0.
** float64: the library's.
*/
#ifndef RP_BODY_EXPONENTIAL_H
#define RP_BODY_EXPONENTIAL_H

#if REAL_IS_FLOAT
static inline float exponential(float x)
{
  const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to an integer */
  const float low = -87.33654f, high = 88.72283f;
  const float clamped = x < low ? low : x > high ? high : x;
  const float shifted = clamped * 1.44269504f + magic;
  const float n = shifted - magic;
  const float r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  /* 2^n in two factors, so that n = 128 does not overflow before the product. */
  int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  const int32_t exponent = bits - 0x4B400000;
  const int32_t half = exponent >> 1;
  const int32_t first = (half + 127) << 23, second = (exponent - half + 127) << 23;
  float a, b;
  memcpy(&a, &first, sizeof a);
  memcpy(&b, &second, sizeof b);
  return x < low ? 0.0f : p * a * b;
}

#else
static inline double exponential(double x)
{
  return exp(x);
}
#endif

#endif
