/* Element-wise functions of floats; each derivative stands beside its function. */
#ifndef RP_BODY_ELEMENTWISE_H
#define RP_BODY_ELEMENTWISE_H

static inline REAL gelu(REAL x)
{
  return REAL_C(0.5) * x * (1 + REAL_ERF(x * REAL_C(0.70710678118654752440)));
}

static inline REAL gelu_slope(REAL x)
{
  const REAL density = REAL_C(0.39894228040143267794) * REAL_EXP(REAL_C(-0.5) * x * x);
  return REAL_C(0.5) * (1 + REAL_ERF(x * REAL_C(0.70710678118654752440))) + x * density;
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

/* One line an operation; the switch stands outside the loop so that the compiler sees each alone.
 */
#define EACH(value)                                                                                \
  for (int64_t i = 0; i < n; i++) {                                                                \
    const REAL x = xs[i * sx];                                                                     \
    ys[i * sy] = (value);                                                                          \
  }                                                                                                \
  break

static void unary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const REAL *xs = data[0];
  REAL *ys = data[1];
  const int64_t sx = strides[0], sy = strides[1];
  switch (*(const RpUnary *)context) {
  case RP_NEGATE:
    EACH(-x);
  case RP_ABS:
    EACH(REAL_ABS(x));
  case RP_SIGN:
    EACH(x > 0 ? 1 : x < 0 ? -1 : x);
  case RP_SQUARE:
    EACH(x * x);
  case RP_FLOOR:
    EACH(REAL_FLOOR(x));
  case RP_CEIL:
    EACH(REAL_CEIL(x));
  case RP_ROUND:
    EACH(REAL_RINT(x));
  case RP_SQRT:
    EACH(REAL_SQRT(x));
  case RP_EXP:
    EACH(REAL_EXP(x));
  case RP_LOG:
    EACH(REAL_LOG(x));
  case RP_SIN:
    EACH(REAL_SIN(x));
  case RP_COS:
    EACH(REAL_COS(x));
  case RP_TANH:
    EACH(REAL_TANH(x));
  case RP_SIGMOID:
    EACH(1 / (1 + REAL_EXP(-x)));
  case RP_RELU:
    EACH(x < 0 ? 0 : x);
  case RP_GELU:
    EACH(gelu(x));
  case RP_ROUND_FLOAT16:
    EACH(round_to_float16(x));
  case RP_ROUND_BFLOAT16:
    EACH(round_to_bfloat16(x));
  }
}
#undef EACH

#define EACH(slope)                                                                                \
  for (int64_t i = 0; i < n; i++) {                                                                \
    const REAL x = xs[i * sx], y = ys[i * sy];                                                     \
    (void)x;                                                                                       \
    (void)y;                                                                                       \
    dxs[i * sdx] = dys[i * sdy] * (slope);                                                         \
  }                                                                                                \
  break

static void unary_gradient_row(const void *context, int64_t n, void *const *data,
                               const int64_t *strides)
{
  const REAL *xs = data[0], *ys = data[1], *dys = data[2];
  REAL *dxs = data[3];
  const int64_t sx = strides[0], sy = strides[1], sdy = strides[2], sdx = strides[3];
  switch (*(const RpUnary *)context) {
  case RP_NEGATE:
    EACH(-1);
  case RP_ABS:
    EACH(x > 0 ? 1 : x < 0 ? -1 : 0);
  case RP_SIGN:
  case RP_FLOOR:
  case RP_CEIL:
  case RP_ROUND:
    EACH(0);
  case RP_SQUARE:
    EACH(2 * x);
  case RP_SQRT:
    EACH(REAL_C(0.5) / y);
  case RP_EXP:
    EACH(y);
  case RP_LOG:
    EACH(1 / x);
  case RP_SIN:
    EACH(REAL_COS(x));
  case RP_COS:
    EACH(-REAL_SIN(x));
  case RP_TANH:
    EACH(1 - y * y);
  case RP_SIGMOID:
    EACH(y * (1 - y));
  case RP_RELU:
    EACH(y > 0 ? 1 : 0);
  case RP_GELU:
    EACH(gelu_slope(x));
  case RP_ROUND_FLOAT16:
  case RP_ROUND_BFLOAT16:
    EACH(1);
  }
}
#undef EACH

static RpStatus unary(RpUnary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, unary_row, &op, data, sizes);
}

static RpStatus unary_gradient(RpUnary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, unary_gradient_row, &op, data, sizes);
}

#define EACH(value)                                                                                \
  for (int64_t i = 0; i < n; i++) {                                                                \
    const REAL a = as[i * sa], b = bs[i * sb];                                                     \
    ys[i * sy] = (value);                                                                          \
  }                                                                                                \
  break

static void binary_block(RpBinary op, int64_t n, const REAL *as, int64_t sa, const REAL *bs,
                         int64_t sb, REAL *ys, int64_t sy)
{
  switch (op) {
  case RP_ADD:
    EACH(a + b);
  case RP_SUBTRACT:
    EACH(a - b);
  case RP_MULTIPLY:
    EACH(a * b);
  case RP_DIVIDE:
    EACH(a / b);
  case RP_POWER:
    EACH(REAL_POW(a, b));
  case RP_MAXIMUM:
    EACH(IS_NAN(a) || a > b ? a : b);
  case RP_MINIMUM:
    EACH(IS_NAN(a) || a < b ? a : b);
  }
}
#undef EACH

/* Read an operand through a local copy where it is broadcast, so that rows stay vectorisable. */
enum { BLOCK = 256 };

static const REAL *spread(REAL *buffer, const REAL *x, int64_t *stride)
{
  if (*stride != 0)
    return x;
  for (int i = 0; i < BLOCK; i++)
    buffer[i] = x[0];
  *stride = 1;
  return buffer;
}

static void binary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  REAL spread_a[BLOCK], spread_b[BLOCK];
  const RpBinary op = *(const RpBinary *)context;
  int64_t sa = strides[0], sb = strides[1];
  const REAL *a = spread(spread_a, data[0], &sa);
  const REAL *b = spread(spread_b, data[1], &sb);
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t width = n - first < BLOCK ? n - first : BLOCK;
    binary_block(op, width, a == spread_a ? a : a + first * sa, sa,
                 b == spread_b ? b : b + first * sb, sb, (REAL *)data[2] + first * strides[2],
                 strides[2]);
  }
}

static RpStatus binary(RpBinary op, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {sizeof(REAL), sizeof(REAL), sizeof(REAL)};
  return rp_loop_run(loop, binary_row, &op, data, sizes);
}

#endif
