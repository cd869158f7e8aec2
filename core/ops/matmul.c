/* Matrix product: dA = dC B^T, dB = A^T dC, summed over broadcast leading axes. */
#include "core/tensor/matmul.h"

#include "core/ops/ops.h"
#include "core/tensor/reduce.h"

static RpStatus backward(RpNode *node, RpTensor *dc, RpTensor **gradients)
{
  RpTensor *a = node->saved[0], *b = node->saved[1];
  for (int i = 0; i < 2; i++) {
    if (!rp_node_wants(node, i))
      continue;
    RpTensor *whole =
        i == 0 ? rp_tensor_matmul(dc, false, b, true) : rp_tensor_matmul(a, true, dc, false);
    if (whole != NULL)
      gradients[i] = rp_tensor_sum_to(whole, node->edges[i].rank, node->edges[i].shape);
    rp_tensor_release(whole);
    if (gradients[i] == NULL)
      return rp_last_status();
  }
  return RP_OK;
}

RpTensor *rp_op_matmul(RpTensor *a, RpTensor *b)
{
  static const RpNodeType type = {"matmul", backward, NULL};
  RpTensor *c = rp_tensor_matmul(a, false, b, false);
  return rp_graph_record(&type, c, 2, (RpTensor *[]){a, b}, 2, (RpTensor *[]){a, b});
}
