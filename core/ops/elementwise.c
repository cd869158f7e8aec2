/* Element-wise functions: unary, binary, where, and conversion of the dtype. */
#include "core/tensor/elementwise.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"
#include "core/tensor/reduce.h"

static RpStatus status_of(const RpTensor *tensor)
{
  return tensor != NULL ? RP_OK : rp_last_status();
}

static RpStatus unary_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] =
      rp_tensor_unary_gradient((RpUnary)node->integers[0], node->saved[0], node->saved[1], dy);
  return status_of(gradients[0]);
}

RpTensor *rp_op_unary(RpUnary op, RpTensor *x)
{
  static const RpNodeType types[] = {
      [RP_NEGATE] = {"neg", unary_backward, NULL},
      [RP_ABS] = {"abs", unary_backward, NULL},
      [RP_SIGN] = {"sign", unary_backward, NULL},
      [RP_SQUARE] = {"square", unary_backward, NULL},
      [RP_FLOOR] = {"floor", unary_backward, NULL},
      [RP_CEIL] = {"ceil", unary_backward, NULL},
      [RP_ROUND] = {"round", unary_backward, NULL},
      [RP_SQRT] = {"sqrt", unary_backward, NULL},
      [RP_EXP] = {"exp", unary_backward, NULL},
      [RP_LOG] = {"log", unary_backward, NULL},
      [RP_SIN] = {"sin", unary_backward, NULL},
      [RP_COS] = {"cos", unary_backward, NULL},
      [RP_TANH] = {"tanh", unary_backward, NULL},
      [RP_SIGMOID] = {"sigmoid", unary_backward, NULL},
      [RP_RELU] = {"relu", unary_backward, NULL},
      [RP_GELU] = {"gelu", unary_backward, NULL},
      [RP_ROUND_FLOAT16] = {"round_to", unary_backward, NULL},
      [RP_ROUND_BFLOAT16] = {"round_to", unary_backward, NULL},
  };
  RpTensor *y = rp_tensor_unary(op, x);
  y = rp_graph_record(&types[op], y, 1, (RpTensor *[]){x}, 2, (RpTensor *[]){x, y});
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = op;
  return y;
}

/* Release `whole` and return it summed to the shape of input i. */
static RpTensor *to_input(const RpNode *node, int i, RpTensor *whole)
{
  if (whole == NULL)
    return NULL;
  RpTensor *sum = rp_tensor_sum_to(whole, node->edges[i].rank, node->edges[i].shape);
  rp_tensor_release(whole);
  return sum;
}

/* a op b, giving up the reference to a; NULL passes through. */
static RpTensor *then(RpBinary op, RpTensor *a, const RpTensor *b)
{
  RpTensor *y = a != NULL ? rp_tensor_binary(op, a, b) : NULL;
  rp_tensor_release(a);
  return y;
}

/* x where `condition` holds, else 0; gives both references up, NULL passes through. */
static RpTensor *only_where(RpTensor *condition, RpTensor *x)
{
  const bool ready = condition != NULL && x != NULL;
  RpTensor *zero = ready ? rp_tensor_full(x->dtype, 0, NULL, 0) : NULL;
  RpTensor *y = zero != NULL ? rp_tensor_where(condition, x, zero) : NULL;
  rp_tensor_release(condition);
  rp_tensor_release(x);
  rp_tensor_release(zero);
  return y;
}

static RpTensor *compare_zero(RpCompare relation, const RpTensor *x)
{
  RpTensor *zero = rp_tensor_full(x->dtype, 0, NULL, 0);
  RpTensor *y = zero != NULL ? rp_tensor_compare(relation, x, zero) : NULL;
  rp_tensor_release(zero);
  return y;
}

/* d a^b / da = b a^(b - 1), times dy; 0 where b is, at a = 0 too. */
static RpTensor *base_gradient(const RpTensor *a, const RpTensor *b, const RpTensor *dy)
{
  RpTensor *one = rp_tensor_full(b->dtype, 0, NULL, 1);
  RpTensor *less = one != NULL ? rp_tensor_binary(RP_SUBTRACT, b, one) : NULL;
  RpTensor *power = less != NULL ? rp_tensor_binary(RP_POWER, a, less) : NULL;
  rp_tensor_release(one);
  rp_tensor_release(less);
  return only_where(compare_zero(RP_NE, b), then(RP_MULTIPLY, then(RP_MULTIPLY, power, b), dy));
}

/* d a^b / db = y log a, times dy; 0 at a = 0 where y is finite, its limit for b > 0. */
static RpTensor *exponent_gradient(const RpTensor *a, const RpTensor *b, const RpTensor *y,
                                   const RpTensor *dy)
{
  RpTensor *below = compare_zero(RP_LT, b);
  RpTensor *counts = below != NULL ? then(RP_MAXIMUM, compare_zero(RP_NE, a), below) : NULL;
  rp_tensor_release(below);
  return only_where(counts,
                    then(RP_MULTIPLY, then(RP_MULTIPLY, rp_tensor_unary(RP_LOG, a), y), dy));
}

/* d (a op b) / da, times dy, before the sum over broadcast axes. */
static RpTensor *left_gradient(RpBinary op, const RpTensor *a, const RpTensor *b, const RpTensor *y,
                               RpTensor *dy)
{
  switch (op) {
  case RP_MULTIPLY:
    return rp_tensor_binary(RP_MULTIPLY, dy, b);
  case RP_DIVIDE:
    return rp_tensor_binary(RP_DIVIDE, dy, b);
  case RP_POWER:
    return base_gradient(a, b, dy);
  case RP_MAXIMUM:
  case RP_MINIMUM: /* a tie counts for a */
    return only_where(rp_tensor_compare(RP_EQ, a, y), rp_tensor_retain(dy));
  default:
    return rp_tensor_retain(dy);
  }
}

/* d (a op b) / db, times dy, before the sum over broadcast axes. */
static RpTensor *right_gradient(RpBinary op, const RpTensor *a, const RpTensor *b,
                                const RpTensor *y, RpTensor *dy)
{
  switch (op) {
  case RP_SUBTRACT:
    return rp_tensor_unary(RP_NEGATE, dy);
  case RP_MULTIPLY:
    return rp_tensor_binary(RP_MULTIPLY, dy, a);
  case RP_DIVIDE: { /* - y / b */
    RpTensor *slope = then(RP_DIVIDE, rp_tensor_unary(RP_NEGATE, y), b);
    return then(RP_MULTIPLY, slope, dy);
  }
  case RP_POWER:
    return exponent_gradient(a, b, y, dy);
  case RP_MAXIMUM:
  case RP_MINIMUM:
    return only_where(rp_tensor_compare(RP_NE, a, y), rp_tensor_retain(dy));
  default:
    return rp_tensor_retain(dy);
  }
}

static RpStatus binary_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpBinary op = (RpBinary)node->integers[0];
  RpTensor *a = node->saved[0], *b = node->saved[1], *y = node->saved[2];
  if (rp_node_wants(node, 0)) {
    gradients[0] = to_input(node, 0, left_gradient(op, a, b, y, dy));
    if (gradients[0] == NULL)
      return rp_last_status();
  }
  if (rp_node_wants(node, 1)) {
    gradients[1] = to_input(node, 1, right_gradient(op, a, b, y, dy));
    if (gradients[1] == NULL)
      return rp_last_status();
  }
  return RP_OK;
}

RpTensor *rp_op_binary(RpBinary op, RpTensor *a, RpTensor *b)
{
  static const RpNodeType types[] = {
      [RP_ADD] = {"add", binary_backward, NULL},
      [RP_SUBTRACT] = {"sub", binary_backward, NULL},
      [RP_MULTIPLY] = {"mul", binary_backward, NULL},
      [RP_DIVIDE] = {"div", binary_backward, NULL},
      [RP_POWER] = {"pow", binary_backward, NULL},
      [RP_MAXIMUM] = {"maximum", binary_backward, NULL},
      [RP_MINIMUM] = {"minimum", binary_backward, NULL},
  };
  const bool needs_values = op != RP_ADD && op != RP_SUBTRACT;
  RpTensor *y = rp_tensor_binary(op, a, b);
  y = rp_graph_record(&types[op], y, 2, (RpTensor *[]){a, b}, needs_values ? 3 : 0,
                      (RpTensor *[]){a, b, y});
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = op;
  return y;
}

static RpStatus where_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  RpTensor *condition = node->saved[0];
  RpTensor *zero = rp_tensor_full(dy->dtype, 0, NULL, 0);
  RpStatus status = status_of(zero);
  for (int i = 1; status == RP_OK && i <= 2; i++) {
    if (!rp_node_wants(node, i))
      continue;
    gradients[i] =
        to_input(node, i, rp_tensor_where(condition, i == 1 ? dy : zero, i == 1 ? zero : dy));
    status = status_of(gradients[i]);
  }
  rp_tensor_release(zero);
  return status;
}

RpTensor *rp_op_where(RpTensor *condition, RpTensor *a, RpTensor *b)
{
  static const RpNodeType type = {"where", where_backward, NULL};
  RpTensor *y = rp_tensor_where(condition, a, b);
  return rp_graph_record(&type, y, 3, (RpTensor *[]){condition, a, b}, 1,
                         (RpTensor *[]){condition});
}

static RpStatus convert_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] = rp_tensor_convert(dy, (RpDtype)node->integers[0]);
  return status_of(gradients[0]);
}

RpTensor *rp_op_convert(RpTensor *x, RpDtype dtype)
{
  static const RpNodeType type = {"to", convert_backward, NULL};
  RpTensor *y = rp_tensor_convert(x, dtype);
  if (!rp_dtype_is_float(dtype))
    return y;
  y = rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 0, NULL);
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = x->dtype;
  return y;
}
