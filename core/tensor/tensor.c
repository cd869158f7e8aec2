#include "core/tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/base/size.h"

RpStatus rp_shape_count(RpDtype dtype, int rank, const int64_t *shape, int64_t *count)
{
  int64_t sizes[RP_MAX_RANK + 1] = {(int64_t)rp_dtype_size(dtype)}, bytes;
  bool empty = false;
  if (rank < 0 || rank > RP_MAX_RANK)
    return rp_fail(RP_BAD_ARGUMENT, "tensor: expected at most %d axes, got %d", RP_MAX_RANK, rank);
  for (int i = 0; i < rank; i++) {
    sizes[i + 1] = shape[i];
    empty |= shape[i] == 0;
    if (shape[i] < 0)
      return rp_fail(RP_BAD_ARGUMENT, "tensor: sizes must not be negative, got %s",
                     rp_shape_text(rank, shape));
  }
  if (!rp_size_product(rank + 1, sizes, &bytes))
    return rp_fail(RP_BAD_ARGUMENT, "tensor: %s has more elements than can be addressed",
                   rp_shape_text(rank, shape));
  *count = empty ? 0 : bytes / sizes[0];
  return RP_OK;
}

static RpStorage *storage_new(int64_t bytes)
{
  RpStorage *storage = rp_alloc(sizeof *storage);
  if (storage == NULL)
    return NULL;
  *storage = (RpStorage){.data = rp_alloc(bytes), .bytes = bytes, .references = 1};
  if (storage->data == NULL) {
    rp_free(storage);
    return NULL;
  }
  return storage;
}

static void storage_release(RpStorage *storage)
{
  if (--storage->references > 0)
    return;
  rp_tensor_release(storage->derived.values);
  rp_free(storage->data);
  rp_free(storage);
}

static void set_packed_strides(RpTensor *tensor)
{
  int64_t stride = 1;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    tensor->strides[i] = stride;
    stride *= tensor->shape[i];
  }
}

RpTensor *rp_tensor_new(RpDtype dtype, int rank, const int64_t *shape)
{
  int64_t count = 0;
  if (rp_shape_count(dtype, rank, shape, &count) != RP_OK)
    return NULL;
  RpTensor *tensor = rp_alloc(sizeof *tensor);
  if (tensor == NULL)
    return NULL;
  *tensor = (RpTensor){.references = 1, .dtype = dtype, .rank = rank};
  for (int i = 0; i < rank; i++)
    tensor->shape[i] = shape[i];
  set_packed_strides(tensor);
  tensor->storage = storage_new(count * (int64_t)rp_dtype_size(dtype));
  if (tensor->storage == NULL) {
    rp_free(tensor);
    return NULL;
  }
  return tensor;
}

RpTensor *rp_tensor_new_like(const RpTensor *like)
{
  return rp_tensor_new(like->dtype, like->rank, like->shape);
}

RpTensor *rp_tensor_retain(RpTensor *tensor)
{
  tensor->references++;
  return tensor;
}

void rp_tensor_release(RpTensor *tensor)
{
  if (tensor == NULL || --tensor->references > 0)
    return;
  if (tensor->node != NULL)
    tensor->release_node(tensor->node);
  rp_tensor_release(tensor->gradient);
  storage_release(tensor->storage);
  rp_free(tensor);
}

RpTensor *rp_tensor_unless_failed(RpStatus status, RpTensor *tensor)
{
  if (status == RP_OK)
    return tensor;
  rp_tensor_release(tensor);
  return NULL;
}

RpTensor *rp_tensor_view(const RpTensor *tensor, int rank, const int64_t *shape,
                         const int64_t *strides, int64_t offset)
{
  int64_t count;
  RpTensor *view =
      rp_shape_count(tensor->dtype, rank, shape, &count) == RP_OK ? rp_alloc(sizeof *view) : NULL;
  if (view == NULL)
    return NULL;
  *view = (RpTensor){.references = 1,
                     .dtype = tensor->dtype,
                     .rank = rank,
                     .offset = offset,
                     .storage = tensor->storage,
                     .is_mask = tensor->is_mask};
  for (int i = 0; i < rank; i++) {
    view->shape[i] = shape[i];
    view->strides[i] = strides[i];
  }
  view->storage->references++;
  return view;
}

RpTensor *rp_tensor_narrow(const RpTensor *tensor, int axis, int64_t start, int64_t size)
{
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i < tensor->rank; i++)
    shape[i] = i == axis ? size : tensor->shape[i];
  return rp_tensor_view(tensor, tensor->rank, shape, tensor->strides,
                        tensor->offset + start * tensor->strides[axis]);
}

RpTensor *rp_tensor_permute(const RpTensor *tensor, const int *order)
{
  int64_t shape[RP_MAX_RANK], strides[RP_MAX_RANK];
  for (int i = 0; i < tensor->rank; i++) {
    shape[i] = tensor->shape[order[i]];
    strides[i] = tensor->strides[order[i]];
  }
  return rp_tensor_view(tensor, tensor->rank, shape, strides, tensor->offset);
}

RpTensor *rp_tensor_detach(const RpTensor *tensor)
{
  return rp_tensor_view(tensor, tensor->rank, tensor->shape, tensor->strides, tensor->offset);
}

void rp_tensor_keep_derived(RpTensor *tensor, RpTensor *values)
{
  RpStorage *storage = tensor->storage;
  rp_tensor_retain(values);
  rp_tensor_release(storage->derived.values);
  storage->derived = (RpDerived){.values = values,
                                 .version = storage->version,
                                 .rank = tensor->rank,
                                 .offset = tensor->offset};
  for (int i = 0; i < tensor->rank; i++) {
    storage->derived.shape[i] = tensor->shape[i];
    storage->derived.strides[i] = tensor->strides[i];
  }
}

RpTensor *rp_tensor_derived(const RpTensor *tensor)
{
  const RpDerived *derived = &tensor->storage->derived;
  const size_t bytes = (size_t)tensor->rank * sizeof tensor->shape[0];
  const bool same = derived->version == tensor->storage->version && derived->rank == tensor->rank &&
                    derived->offset == tensor->offset &&
                    memcmp(derived->shape, tensor->shape, bytes) == 0 &&
                    memcmp(derived->strides, tensor->strides, bytes) == 0;
  return same ? derived->values : NULL;
}

int64_t rp_tensor_count(const RpTensor *tensor)
{
  int64_t count = 1;
  for (int i = 0; i < tensor->rank; i++)
    count *= tensor->shape[i];
  return count;
}

bool rp_tensor_is_contiguous(const RpTensor *tensor)
{
  int64_t stride = 1;
  for (int i = tensor->rank - 1; i >= 0; i--) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != stride)
      return rp_tensor_count(tensor) == 0;
    stride *= tensor->shape[i];
  }
  return true;
}

void rp_axes_apart(int rank, const int64_t *shape, const int64_t *strides, bool *apart)
{
  int64_t span = 0; /* from the first to the last element along the chosen axes */
  for (int axis = 0; axis < rank; axis++)
    apart[axis] = shape[axis] <= 1;
  for (;;) {
    int next = -1;
    for (int axis = 0; axis < rank; axis++)
      if (!apart[axis] && llabs(strides[axis]) > span &&
          (next < 0 || llabs(strides[axis]) < llabs(strides[next])))
        next = axis;
    if (next < 0)
      return;
    apart[next] = true;
    span += (shape[next] - 1) * llabs(strides[next]);
  }
}

bool rp_tensor_same_shape(const RpTensor *a, const RpTensor *b)
{
  return a->rank == b->rank &&
         memcmp(a->shape, b->shape, (size_t)a->rank * sizeof a->shape[0]) == 0;
}

void *rp_tensor_data(const RpTensor *tensor)
{
  return (char *)tensor->storage->data + tensor->offset * (int64_t)rp_dtype_size(tensor->dtype);
}

double rp_tensor_get(const RpTensor *tensor, const int64_t *index)
{
  int64_t at = 0;
  for (int i = 0; i < tensor->rank; i++)
    at += index[i] * tensor->strides[i];
  const void *data = rp_tensor_data(tensor);
  switch (tensor->dtype) {
  case RP_FLOAT32:
    return (double)((const float *)data)[at];
  case RP_FLOAT64:
    return ((const double *)data)[at];
  default:
    return ((const int32_t *)data)[at];
  }
}

const char *rp_shape_text(int rank, const int64_t *shape)
{
  static _Thread_local char buffers[8][RP_MAX_RANK * 22 + 3];
  static _Thread_local unsigned next;
  char *text = buffers[next++ % 8];
  size_t at = 1;
  strcpy(text, "[");
  for (int i = 0; i < rank && i < RP_MAX_RANK; i++)
    at += (size_t)snprintf(text + at, 23, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
  strcpy(text + at, "]");
  return text;
}

const char *rp_tensor_shape_text(const RpTensor *tensor)
{
  return rp_shape_text(tensor->rank, tensor->shape);
}

RpStatus rp_broadcast_shape(const char *operation, const RpTensor *a, const RpTensor *b, int *rank,
                            int64_t *shape)
{
  *rank = a->rank > b->rank ? a->rank : b->rank;
  for (int i = 1; i <= *rank; i++) {
    const int64_t x = i <= a->rank ? a->shape[a->rank - i] : 1;
    const int64_t y = i <= b->rank ? b->shape[b->rank - i] : 1;
    if (x != y && x != 1 && y != 1)
      return rp_fail(RP_BAD_ARGUMENT,
                     "%s: shapes %s and %s do not broadcast: sizes must be equal or 1", operation,
                     rp_tensor_shape_text(a), rp_tensor_shape_text(b));
    shape[*rank - i] = x == 1 ? y : x;
  }
  return RP_OK;
}

RpTensor *rp_tensor_broadcast(const RpTensor *tensor, int rank, const int64_t *shape)
{
  int64_t strides[RP_MAX_RANK] = {0};
  bool fits = tensor->rank <= rank && rank <= RP_MAX_RANK;
  for (int i = 1; fits && i <= tensor->rank; i++) {
    const int64_t size = tensor->shape[tensor->rank - i];
    fits = size == shape[rank - i] || size == 1;
    strides[rank - i] = size == 1 ? 0 : tensor->strides[tensor->rank - i];
  }
  if (!fits)
    return rp_refuse(RP_BAD_ARGUMENT, "broadcast: %s does not broadcast to %s",
                     rp_tensor_shape_text(tensor), rp_shape_text(rank, shape));
  return rp_tensor_view(tensor, rank, shape, strides, tensor->offset);
}
