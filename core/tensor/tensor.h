/*
** Tensor: a view (dtype, shape, strides, offset) of reference-counted storage,
** with the fields that differentiation needs. Several tensors can share one
** storage, which lives as long as any of them.
*/
#ifndef RP_TENSOR_H
#define RP_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/dtype.h"
#include "core/base/status.h"

typedef struct RpTensor RpTensor;
typedef struct RpNode RpNode; /* the operation that computed a tensor: core/graph/graph.h */

/* Values computed from the elements of one view of a storage; see rp_tensor_keep_derived. */
typedef struct RpDerived {
  RpTensor *values; /* NULL, or owned */
  uint64_t version; /* of the storage when they were computed */
  int rank;         /* of the view, and its layout */
  int64_t shape[RP_MAX_RANK], strides[RP_MAX_RANK], offset;
} RpDerived;

typedef struct RpStorage {
  void *data;
  int64_t bytes;
  uint64_t version; /* incremented by every write in place; backward refuses stale values */
  int references;
  RpDerived derived;
} RpStorage;

struct RpTensor {
  int references;
  RpDtype dtype;
  int rank; /* 0 for a scalar */
  int64_t shape[RP_MAX_RANK];
  int64_t strides[RP_MAX_RANK]; /* in elements; 0 for a broadcast axis */
  int64_t offset;               /* in elements, from the start of the storage */
  RpStorage *storage;
  bool is_mask;       /* int32, 0 or 1; indexing reads it as a mask, not as indices */
  bool is_parameter;  /* gradients are accumulated here */
  RpTensor *gradient; /* of a parameter, NULL before the first backward; owned */
  int pending;        /* of a parameter: number of gradients still to be added by backward */
  RpNode *node;       /* NULL if no gradient flows; owned */
  void (*release_node)(RpNode *node);
};

/*
** Set *count to the number of elements of a shape. RP_BAD_ARGUMENT for a rank above
** RP_MAX_RANK, for a negative size, and if the number of bytes, with sizes of 0
** counted as 1, is above RP_LARGEST_SIZE.
**
** Every tensor has passed this check, including views and broadcast tensors, so
** products of its sizes, or of its sizes and strides, need no other check.
*/
RpStatus rp_shape_count(RpDtype dtype, int rank, const int64_t *shape, int64_t *count);

/*
** A new contiguous tensor, contents undefined. The caller owns one reference.
** NULL with RP_BAD_ARGUMENT as from rp_shape_count, or with RP_OUT_OF_MEMORY.
*/
RpTensor *rp_tensor_new(RpDtype dtype, int rank, const int64_t *shape);

/* A new contiguous tensor with the dtype and shape of `like`. */
RpTensor *rp_tensor_new_like(const RpTensor *like);

/* Add a reference; returns its argument. */
RpTensor *rp_tensor_retain(RpTensor *tensor);

/* Drop a reference; the last one frees the tensor. NULL is allowed. */
void rp_tensor_release(RpTensor *tensor);

/* Return the tensor if `status` is RP_OK; if not, release it and return NULL. */
RpTensor *rp_tensor_unless_failed(RpStatus status, RpTensor *tensor);

/*
** A view of the same storage with another shape, strides and offset, outside
** the graph. The caller must have checked that it lies inside the storage. NULL
** with the errors of rp_tensor_new.
*/
RpTensor *rp_tensor_view(const RpTensor *tensor, int rank, const int64_t *shape,
                         const int64_t *strides, int64_t offset);

/* Views outside the graph: indices start .. start + size - 1 of an axis, and reordered axes. */
RpTensor *rp_tensor_narrow(const RpTensor *tensor, int axis, int64_t start, int64_t size);
RpTensor *rp_tensor_permute(const RpTensor *tensor, const int *order);

/* The same values outside the graph, on the same storage. */
RpTensor *rp_tensor_detach(const RpTensor *tensor);

/*
** Keep `values`, computed from the elements of the tensor (such as the cosines of angles), with one
** more reference, in its storage: until that is released, or until other values are kept there.
*/
void rp_tensor_keep_derived(RpTensor *tensor, RpTensor *values);

/*
** The values kept last, borrowed, if they were computed from this view of the storage (the same
** shape, strides and offset) and if its elements have not changed since; else NULL.
*/
RpTensor *rp_tensor_derived(const RpTensor *tensor);

/* Number of elements; 1 for a scalar. */
int64_t rp_tensor_count(const RpTensor *tensor);

/* True if the elements are stored in row-major order without gaps. */
bool rp_tensor_is_contiguous(const RpTensor *tensor);

/*
** Set apart[i] for a set of axes along which different indices map to different
** elements. Axes are chosen by increasing stride; those of size 1 are always chosen.
*/
void rp_axes_apart(int rank, const int64_t *shape, const int64_t *strides, bool *apart);

/* True if both have the same shape. */
bool rp_tensor_same_shape(const RpTensor *a, const RpTensor *b);

/* The address of the first element of the view. */
void *rp_tensor_data(const RpTensor *tensor);

/* The element at `index` (per axis, from 0, already checked) as a double. */
double rp_tensor_get(const RpTensor *tensor, const int64_t *index);

/*
** "[2, 3]" for messages. Returns one of eight buffers of this thread in turn: a
** message can contain several shapes.
*/
const char *rp_shape_text(int rank, const int64_t *shape);
const char *rp_tensor_shape_text(const RpTensor *tensor);

/* The shape that a and b broadcast to (NumPy's rule), or RP_BAD_ARGUMENT. */
RpStatus rp_broadcast_shape(const char *operation, const RpTensor *a, const RpTensor *b, int *rank,
                            int64_t *shape);

/* A view of `tensor` broadcast to `shape` by strides of 0; NULL if it does not broadcast. */
RpTensor *rp_tensor_broadcast(const RpTensor *tensor, int rank, const int64_t *shape);

#endif
