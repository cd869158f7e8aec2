/* Element-wise int32: what would leave the range fails instead of wrapping. */
#ifndef RP_BODY_INTEGER_H
#define RP_BODY_INTEGER_H

typedef struct IntegerContext {
  int op;
  atomic_bool *overflow;
} IntegerContext;

static void unary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const IntegerContext *c = context;
  const int32_t *x = data[0];
  int32_t *y = data[1];
  bool overflow = false;
  for (int64_t i = 0; i < n; i++) {
    const int32_t value = x[i * strides[0]];
    int32_t *to = y + i * strides[1];
    switch ((RpUnary)c->op) {
    case RP_NEGATE:
      overflow |= __builtin_sub_overflow(0, value, to);
      break;
    case RP_ABS:
      overflow |= __builtin_mul_overflow(value < 0 ? -1 : 1, value, to);
      break;
    case RP_SQUARE:
      overflow |= __builtin_mul_overflow(value, value, to);
      break;
    case RP_SIGN:
      *to = (value > 0) - (value < 0);
      break;
    default: /* floor, ceil, round, relu: the operation lets no other through */
      *to = c->op == RP_RELU && value < 0 ? 0 : value;
    }
  }
  if (overflow)
    atomic_store(c->overflow, true);
}

static void binary_row(const void *context, int64_t n, void *const *data, const int64_t *strides)
{
  const IntegerContext *c = context;
  const int32_t *a = data[0], *b = data[1];
  int32_t *y = data[2];
  bool overflow = false;
  for (int64_t i = 0; i < n; i++) {
    const int32_t u = a[i * strides[0]], v = b[i * strides[1]];
    int32_t *to = y + i * strides[2];
    switch ((RpBinary)c->op) {
    case RP_ADD:
      overflow |= __builtin_add_overflow(u, v, to);
      break;
    case RP_SUBTRACT:
      overflow |= __builtin_sub_overflow(u, v, to);
      break;
    case RP_MULTIPLY:
      overflow |= __builtin_mul_overflow(u, v, to);
      break;
    case RP_MAXIMUM:
      *to = u > v ? u : v;
      break;
    default: /* minimum: the operation lets no other through */
      *to = u < v ? u : v;
    }
  }
  if (overflow)
    atomic_store(c->overflow, true);
}

static RpStatus run(int op, RpRow row, const RpLoop *loop, void *const *data)
{
  static const size_t sizes[] = {4, 4, 4};
  atomic_bool overflow = false;
  const IntegerContext context = {op, &overflow};
  RpStatus status = rp_loop_run(loop, row, &context, data, sizes);
  return status == RP_OK && overflow ? RP_BAD_ARGUMENT : status;
}

static RpStatus unary(RpUnary op, const RpLoop *loop, void *const *data)
{
  return run((int)op, unary_row, loop, data);
}

static RpStatus binary(RpBinary op, const RpLoop *loop, void *const *data)
{
  return run((int)op, binary_row, loop, data);
}

#endif
