/*
** Products of Householder-like maps along a text (PaTH). Scores and sums are the derivatives, by a
** and by q, of one form: the sum over i and j of a_ij q_i . H_i ... H_{j+1} k_j.
*/
#include "core/ops/ops.h"

#include <string.h>

#include "core/tensor/copy.h"
#include "core/tensor/create.h"

/* `saved` are q or a, then k, w and beta, packed. */
static RpHouseholder operands_of(RpTensor *const *saved, bool sums)
{
  const int64_t *n = saved[0]->shape, *m = saved[1]->shape;
  RpHouseholder h = {m[0] * m[1],
                     n[2],
                     m[2],
                     m[3],
                     .k = rp_tensor_data(saved[1]),
                     .w = rp_tensor_data(saved[2]),
                     .beta = rp_tensor_data(saved[3])};
  *(sums ? &h.a : &h.q) = rp_tensor_data(saved[0]);
  return h;
}

static RpStatus gradients_of(RpNode *node, RpTensor *dy, RpTensor **gradients, bool sums)
{
  RpTensor *packed = rp_tensor_contiguous(dy);
  RpStatus status = packed != NULL ? RP_OK : rp_last_status();
  for (int i = 0; status == RP_OK && i < 4; i++) {
    gradients[i] =
        rp_tensor_full(node->saved[i]->dtype, node->saved[i]->rank, node->saved[i]->shape, 0);
    if (gradients[i] == NULL)
      status = rp_last_status();
  }
  if (status == RP_OK && rp_tensor_count(dy) > 0 && rp_tensor_count(node->saved[0]) > 0) {
    RpHouseholder h = operands_of(node->saved, sums);
    *(sums ? &h.q : &h.a) = rp_tensor_data(packed);
    RpHouseholderGradient to = {.k = rp_tensor_data(gradients[1]),
                                .w = rp_tensor_data(gradients[2]),
                                .beta = rp_tensor_data(gradients[3])};
    *(sums ? &to.a : &to.q) = rp_tensor_data(gradients[0]);
    status = rp_kernels(dy->dtype)->householder_gradient(&h, &to);
  }
  for (int i = 0; i < 4; i++)
    if (!rp_node_wants(node, i)) {
      rp_tensor_release(gradients[i]);
      gradients[i] = NULL;
    }
  rp_tensor_release(packed);
  return status;
}

static RpStatus scores_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  return gradients_of(node, dy, gradients, false);
}

static RpStatus sums_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  return gradients_of(node, dy, gradients, true);
}

/* True if a has the sizes of b along the first axes. */
static bool agree(const RpTensor *a, const RpTensor *b, int axes)
{
  return memcmp(a->shape, b->shape, (size_t)axes * sizeof *a->shape) == 0;
}

static bool fit(RpTensor *const in[4], bool sums)
{
  for (int i = 0; i < 4; i++)
    if (in[i]->rank != (i == 3 ? 3 : 4) || !rp_dtype_is_float(in[i]->dtype) ||
        in[i]->dtype != in[0]->dtype)
      return false;
  return agree(in[0], in[1], 2) && in[0]->shape[3] == in[1]->shape[sums ? 2 : 3] &&
         in[0]->shape[2] <= in[1]->shape[2] && agree(in[2], in[1], 4) && agree(in[3], in[1], 3);
}

static RpTensor *compute(const RpNodeType *type, RpTensor *const in[4], bool sums)
{
  RpTensor *packed[4] = {NULL};
  bool ready = true;
  for (int i = 0; ready && i < 4; i++) {
    packed[i] = rp_tensor_contiguous(in[i]);
    ready = packed[i] != NULL;
  }
  const int64_t *n = in[0]->shape, *m = in[1]->shape;
  const int64_t shape[] = {n[0], n[1], n[2], sums ? m[3] : m[2]};
  RpTensor *y = ready ? rp_tensor_new(in[0]->dtype, 4, shape) : NULL;
  if (y != NULL && rp_tensor_count(y) > 0) {
    const RpHouseholder h = operands_of(packed, sums);
    const RpKernels *kernels = rp_kernels(y->dtype);
    y = rp_tensor_unless_failed(
        (sums ? kernels->householder_sums : kernels->householder_scores)(&h, rp_tensor_data(y)), y);
  }
  y = rp_graph_record(type, y, 4, (RpTensor **)in, 4, packed);
  for (int i = 0; i < 4; i++)
    rp_tensor_release(packed[i]);
  return y;
}

RpTensor *rp_op_householder_scores(RpTensor *q, RpTensor *k, RpTensor *w, RpTensor *beta)
{
  static const RpNodeType type = {"householder_scores", scores_backward, NULL};
  RpTensor *in[] = {q, k, w, beta};
  if (!fit(in, false))
    return rp_refuse(RP_BAD_ARGUMENT,
                     "householder_scores: expected floats of the same dtype, q [batch, heads, "
                     "queries, features], k and w [batch, heads, keys, features] and beta [batch, "
                     "heads, keys], with at most as many queries as keys, got %s %s, %s, %s and %s",
                     rp_dtype_name(q->dtype), rp_tensor_shape_text(q), rp_tensor_shape_text(k),
                     rp_tensor_shape_text(w), rp_tensor_shape_text(beta));
  return compute(&type, in, false);
}

RpTensor *rp_op_householder_sums(RpTensor *a, RpTensor *v, RpTensor *w, RpTensor *beta)
{
  static const RpNodeType type = {"householder_sums", sums_backward, NULL};
  RpTensor *in[] = {a, v, w, beta};
  if (!fit(in, true))
    return rp_refuse(RP_BAD_ARGUMENT,
                     "householder_sums: expected floats of the same dtype, a [batch, heads, "
                     "queries, keys], v and w [batch, heads, keys, features] and beta [batch, "
                     "heads, keys], with at most as many queries as keys, got %s %s, %s, %s and %s",
                     rp_dtype_name(a->dtype), rp_tensor_shape_text(a), rp_tensor_shape_text(v),
                     rp_tensor_shape_text(w), rp_tensor_shape_text(beta));
  return compute(&type, in, true);
}
