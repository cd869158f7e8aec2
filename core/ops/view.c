/* Views: operations whose result shares storage with the input if possible. */
#include "core/ops/ops.h"
#include "core/tensor/copy.h"
#include "core/tensor/reduce.h"

/* Infer a single -1 from the other sizes, and check the number of elements. */
static RpStatus infer_shape(const RpTensor *x, int rank, const int64_t *wanted, int64_t *shape)
{
  const int64_t count = rp_tensor_count(x);
  int64_t known;
  int unknown = -1;
  for (int i = 0; i < rank; i++) {
    const bool is_open = wanted[i] == -1 && unknown < 0;
    unknown = is_open ? i : unknown;
    shape[i] = is_open ? 1 : wanted[i];
  }
  bool fits = rp_shape_count(x->dtype, rank, shape, &known) == RP_OK;
  if (fits && unknown >= 0) {
    fits = known > 0;
    shape[unknown] = fits ? count / known : 0;
    known *= shape[unknown];
  }
  if (!fits || known != count)
    return rp_fail(RP_BAD_ARGUMENT, "view: %s has %lld elements, which do not fill shape %s",
                   rp_tensor_shape_text(x), (long long)count, rp_shape_text(rank, wanted));
  return RP_OK;
}

/* Set the strides of a view of x in the new shape; false if that needs a copy. */
static bool strides_for(const RpTensor *x, int rank, const int64_t *shape, int64_t *strides)
{
  if (rp_tensor_is_contiguous(x)) {
    int64_t stride = 1;
    for (int i = rank - 1; i >= 0; i--) {
      strides[i] = stride;
      stride *= shape[i];
    }
    return true;
  }
  int64_t size[RP_MAX_RANK], step[RP_MAX_RANK]; /* of the axes of x with size > 1 */
  int axes = 0, from = 0;
  for (int i = 0; i < x->rank; i++) {
    if (x->shape[i] == 1)
      continue;
    size[axes] = x->shape[i];
    step[axes++] = x->strides[i];
  }
  for (int to = 0; to < rank; to++) { /* match groups of axes with equal products */
    strides[to] = 1;
    if (shape[to] == 1)
      continue;
    const int first = to;
    int64_t old_count = size[from], new_count = shape[to];
    while (old_count != new_count) {
      if (old_count > new_count) {
        new_count *= shape[++to];
      } else {
        if (step[from] != step[from + 1] * size[from + 1])
          return false;
        old_count *= size[++from];
      }
    }
    int64_t stride = step[from++];
    for (int i = to; i >= first; i--) {
      strides[i] = stride;
      stride *= shape[i];
    }
  }
  return true;
}

/* x in the shape of input 0, for gradients. */
static RpTensor *reshaped(RpTensor *x, int rank, const int64_t *shape)
{
  int64_t strides[RP_MAX_RANK];
  if (strides_for(x, rank, shape, strides))
    return rp_tensor_view(x, rank, shape, strides, x->offset);
  RpTensor *packed = rp_tensor_convert(x, x->dtype);
  if (packed == NULL)
    return NULL;
  strides_for(packed, rank, shape, strides);
  RpTensor *view = rp_tensor_view(packed, rank, shape, strides, 0);
  rp_tensor_release(packed);
  return view;
}

static RpStatus reshape_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] = reshaped(dy, node->edges[0].rank, node->edges[0].shape);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_reshape(RpTensor *x, int rank, const int64_t *wanted)
{
  static const RpNodeType type = {"view", reshape_backward, NULL};
  int64_t shape[RP_MAX_RANK];
  if (infer_shape(x, rank, wanted, shape) != RP_OK)
    return NULL;
  return rp_graph_record(&type, reshaped(x, rank, shape), 1, (RpTensor *[]){x}, 0, NULL);
}

static RpStatus permute_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  int back[RP_MAX_RANK];
  for (int i = 0; i < dy->rank; i++)
    back[node->integers[i]] = i;
  gradients[0] = rp_tensor_permute(dy, back);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_permute(RpTensor *x, const int *order)
{
  static const RpNodeType type = {"permute", permute_backward, NULL};
  bool used[RP_MAX_RANK] = {false};
  for (int i = 0; i < x->rank; i++) {
    if (order[i] < 0 || order[i] >= x->rank || used[order[i]])
      return rp_refuse(RP_BAD_ARGUMENT,
                       "permute: expected each axis of %s once, got %d as element %d",
                       rp_tensor_shape_text(x), order[i] + 1, i + 1);
    used[order[i]] = true;
  }
  RpTensor *y = rp_graph_record(&type, rp_tensor_permute(x, order), 1, (RpTensor *[]){x}, 0, NULL);
  for (int i = 0; y != NULL && y->node != NULL && i < x->rank; i++)
    y->node->integers[i] = order[i];
  return y;
}

static RpStatus narrow_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  const int axis = (int)node->integers[0];
  RpTensor *whole = rp_tensor_full(dy->dtype, input->rank, input->shape, 0);
  RpTensor *part =
      whole != NULL ? rp_tensor_narrow(whole, axis, node->integers[1], dy->shape[axis]) : NULL;
  RpStatus status = part != NULL ? rp_tensor_copy_elements(dy, part) : rp_last_status();
  rp_tensor_release(part);
  if (status == RP_OK)
    gradients[0] = whole;
  else
    rp_tensor_release(whole);
  return status;
}

RpTensor *rp_op_narrow(RpTensor *x, int axis, int64_t start, int64_t size)
{
  static const RpNodeType type = {"narrow", narrow_backward, NULL};
  if (start < 0 || size < 0 || start > x->shape[axis] - size)
    return rp_refuse(RP_BAD_ARGUMENT,
                     "narrow: %lld elements from %lld on are outside axis %d of %s",
                     (long long)size, (long long)start + 1, axis + 1, rp_tensor_shape_text(x));
  RpTensor *y =
      rp_graph_record(&type, rp_tensor_narrow(x, axis, start, size), 1, (RpTensor *[]){x}, 0, NULL);
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = axis;
    y->node->integers[1] = start;
  }
  return y;
}

static RpStatus expand_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  gradients[0] = rp_tensor_sum_to(dy, node->edges[0].rank, node->edges[0].shape);
  return gradients[0] != NULL ? RP_OK : rp_last_status();
}

RpTensor *rp_op_expand(RpTensor *x, int rank, const int64_t *shape)
{
  static const RpNodeType type = {"expand", expand_backward, NULL};
  RpTensor *y = rp_tensor_broadcast(x, rank, shape);
  return rp_graph_record(&type, y, 1, (RpTensor *[]){x}, 0, NULL);
}
