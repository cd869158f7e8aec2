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
  gradients[0] = rp_tensor_unary_gradient((RpUnary)node->integers[0], node->saved[0], dy);
  return status_of(gradients[0]);
}

enum { KEEPS_nothing, KEEPS_x, KEEPS_y };

RpTensor *rp_op_unary(RpUnary op, RpTensor *x)
{
  static const struct {
    RpNodeType node;
    int keeps;
  } types[] = {
#define UNARY(id, name, keeps, ...) [RP_##id] = {{name, unary_backward, NULL}, KEEPS_##keeps},
#include "core/kernels/operation/unary.h"
  };
  const int keeps = types[op].keeps;
  RpTensor *y = rp_tensor_unary(op, x);
  y = rp_graph_record(&types[op].node, y, 1, (RpTensor *[]){x}, keeps != KEEPS_nothing,
                      (RpTensor *[]){keeps == KEEPS_x ? x : y});
  if (y != NULL && y->node != NULL)
    y->node->integers[0] = op;
  return y;
}

/* `whole` summed over broadcast axes to the shape of input i; releases `whole`. */
static RpTensor *to_input(const RpNode *node, int i, RpTensor *whole)
{
  if (whole == NULL)
    return NULL;
  RpTensor *sum = rp_tensor_sum_to(whole, node->edges[i].rank, node->edges[i].shape);
  rp_tensor_release(whole);
  return sum;
}

enum { A = 1, B = 2, Y = 4, NOTHING = 0, PASS = 8 };

typedef struct BinaryType {
  RpNodeType node;
  int reads[2]; /* the operands that the gradients of a and of b read */
} BinaryType;

static RpStatus binary_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpBinary op = (RpBinary)node->integers[0];
  const BinaryType *type = (const BinaryType *)node->type;
  RpStatus status = RP_OK;
  for (int i = 0; status == RP_OK && i < 2; i++) {
    if (!rp_node_wants(node, i))
      continue;
    RpTensor *whole = type->reads[i] == PASS
                          ? rp_tensor_retain(dy)
                          : rp_tensor_binary_gradient(op, i == 1, node->saved, dy);
    gradients[i] = to_input(node, i, whole);
    status = status_of(gradients[i]);
  }
  return status;
}

RpTensor *rp_op_binary(RpBinary op, RpTensor *a, RpTensor *b)
{
  static const BinaryType types[] = {
#define BINARY(id, name, value, reads_a, da, reads_b, db)                                          \
  [RP_##id] = {{name, binary_backward, NULL}, {reads_a, reads_b}},
#include "core/kernels/operation/binary.h"
  };
  int reads = 0;
  for (int i = 0; i < 2; i++)
    if (rp_graph_records(1, (RpTensor *[]){i == 0 ? a : b}))
      reads |= types[op].reads[i];
  RpTensor *y = rp_tensor_binary(op, a, b);
  y = rp_graph_record(
      &types[op].node, y, 2, (RpTensor *[]){a, b}, 3,
      (RpTensor *[]){reads & A ? a : NULL, reads & B ? b : NULL, reads & Y ? y : NULL});
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
