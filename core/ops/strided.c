#include "core/ops/strided.h"

#include <stdlib.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

typedef struct Context {
  RpTensor *source;
  RpStrides strides;
} Context;

static void release_context(void *data)
{
  rp_tensor_release(((Context *)data)->source);
}

/* Set the indices of the first and the last viewed element; false if these numbers overflow. */
static bool reach(const RpStrides *s, int64_t *first, int64_t *last)
{
  *first = *last = s->offset;
  for (int axis = 0; axis < s->rank; axis++) {
    int64_t span;
    if (__builtin_mul_overflow(s->shape[axis] - 1, s->strides[axis], &span))
      return false;
    int64_t *end = span < 0 ? first : last;
    if (__builtin_add_overflow(*end, span, end))
      return false;
  }
  return true;
}

/* The same view with 0 for numbers that have no effect and may have any value: strides of axes of
   size 1 or, if the view is empty, all strides and the offset. */
static RpStrides without_unused(const RpStrides *strides)
{
  RpStrides s = *strides;
  bool empty = false;
  for (int axis = 0; axis < s.rank; axis++)
    empty |= s.shape[axis] == 0;
  for (int axis = 0; axis < s.rank; axis++)
    if (empty || s.shape[axis] == 1)
      s.strides[axis] = 0;
  s.offset = empty ? 0 : s.offset;
  return s;
}

static RpStatus check(const RpTensor *x, const RpStrides *s)
{
  const int64_t count = rp_tensor_count(x);
  int64_t shown, first, last;
  if (rp_shape_count(x->dtype, s->rank, s->shape, &shown) != RP_OK)
    return rp_last_status();
  if (shown > 0 && (!reach(s, &first, &last) || first < 0 || last >= count))
    return rp_fail(RP_BAD_ARGUMENT,
                   "as_strided: %s with strides %s from element %lld on is not inside the %lld "
                   "elements of %s",
                   rp_shape_text(s->rank, s->shape), rp_shape_text(s->rank, s->strides),
                   (long long)s->offset, (long long)count, rp_tensor_shape_text(x));
  return RP_OK;
}

bool rp_strides_apart(const RpStrides *s, int leading)
{
  int64_t span = 0;
  for (int axis = leading; axis < s->rank; axis++)
    span += (s->shape[axis] - 1) * llabs(s->strides[axis]);
  for (int axis = leading - 1; axis >= 0; axis--) {
    if (s->shape[axis] <= 1 || s->strides[axis] == 0)
      continue;
    if (llabs(s->strides[axis]) <= span)
      return false;
    span += (s->shape[axis] - 1) * llabs(s->strides[axis]);
  }
  return true;
}

/* Add dy to `sum` through the strides, in slabs in which no two indices map to the same element. */
static RpStatus add_through_strides(const RpStrides *s, const RpTensor *dy, RpTensor *sum)
{
  bool apart[RP_MAX_RANK];
  int64_t slab[RP_MAX_RANK], at[RP_MAX_RANK] = {0};
  rp_axes_apart(s->rank, s->shape, s->strides, apart);
  for (int axis = 0; axis < s->rank; axis++)
    slab[axis] = apart[axis] ? s->shape[axis] : 1;
  for (;;) {
    int64_t to = s->offset, from = dy->offset;
    for (int axis = 0; axis < s->rank; axis++) {
      to += at[axis] * s->strides[axis];
      from += at[axis] * dy->strides[axis];
    }
    RpTensor *target = rp_tensor_view(sum, s->rank, slab, s->strides, to);
    RpTensor *part = rp_tensor_view(dy, s->rank, slab, dy->strides, from);
    RpStatus status =
        target != NULL && part != NULL ? rp_tensor_accumulate(target, part) : rp_last_status();
    rp_tensor_release(target);
    rp_tensor_release(part);
    if (status != RP_OK || rp_interrupted())
      return status != RP_OK ? status : rp_interrupt_status();
    int axis = s->rank - 1;
    for (; axis >= 0; axis--) {
      if (!apart[axis] && ++at[axis] < s->shape[axis])
        break;
      at[axis] = 0;
    }
    if (axis < 0)
      return RP_OK;
  }
}

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const RpEdge *input = &node->edges[0];
  const Context *context = node->context;
  gradients[0] = rp_tensor_full(dy->dtype, input->rank, input->shape, 0);
  if (gradients[0] == NULL)
    return rp_last_status();
  return rp_tensor_count(dy) > 0 ? add_through_strides(&context->strides, dy, gradients[0]) : RP_OK;
}

static const RpNodeType type = {"as_strided", backward, release_context};

RpTensor *rp_op_as_strided(RpTensor *x, const RpStrides *strides)
{
  const RpStrides used = without_unused(strides), *s = &used;
  if (check(x, s) != RP_OK)
    return NULL;
  RpTensor *packed = rp_tensor_contiguous(x);
  if (packed == NULL)
    return NULL;
  RpTensor *y = rp_tensor_view(packed, s->rank, s->shape, s->strides, packed->offset + s->offset);
  rp_tensor_release(packed);
  if (y == NULL || !rp_graph_records(1, &x))
    return y;
  Context *context = rp_alloc(sizeof *context);
  RpNode *node = context != NULL ? rp_node_attach(&type, y, 1, &x) : NULL;
  if (node == NULL) {
    rp_free(context);
    rp_tensor_release(y);
    return NULL;
  }
  *context = (Context){rp_tensor_retain(x), *s};
  node->context = context;
  return y;
}

RpTensor *rp_strided_source(const RpTensor *view, const RpStrides **strides)
{
  if (view->node == NULL || view->node->type != &type || view->node->spent)
    return NULL;
  const Context *context = view->node->context;
  *strides = &context->strides;
  return context->source;
}
