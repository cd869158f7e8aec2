/*
** The tensor: a view (dtype, shape, strides, offset) on counted storage, with
** the hooks differentiation needs. Several tensors may share one storage; the
** storage lives as long as any of them.
*/
#ifndef RP_TENSOR_H
#define RP_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/dtype.h"
#include "core/base/status.h"

typedef struct RpStorage {
  void *data;
  int64_t bytes;
  uint64_t version; /* raised by every write in place; backward refuses stale values */
  int references;
} RpStorage;

typedef struct RpNode RpNode; /* what computed a tensor: core/graph/graph.h */

typedef struct RpTensor {
  int references;
  RpDtype dtype;
  int rank; /* 0 for a scalar */
  int64_t shape[RP_MAX_RANK];
  int64_t strides[RP_MAX_RANK]; /* in elements; 0 where broadcast */
  int64_t offset;               /* in elements, from the start of the storage */
  RpStorage *storage;
  bool is_mask;              /* int32, 0 or 1: as a key it says which, not where */
  bool is_parameter;         /* gradients are accumulated here */
  struct RpTensor *gradient; /* of a parameter, NULL before the first backward; owned */
  int pending;               /* of a parameter: how often a sweep under way may yet add to it */
  RpNode *node;              /* NULL when no gradient flows; owned */
  void (*release_node)(RpNode *node);
} RpTensor;

/*
** The number of elements of a shape, 0 where a size is. RP_BAD_ARGUMENT for a
** rank above RP_MAX_RANK, a negative size, and sizes whose product with the
** bytes of an element is above RP_LARGEST_SIZE, those of 0 counted as 1.
**
** Every tensor has passed this, views and broadcast ones too: products of its
** sizes, and of its sizes and strides, need no other check.
*/
RpStatus rp_shape_count(RpDtype dtype, int rank, const int64_t *shape, int64_t *count);

/*
** A new contiguous tensor, contents undefined. NULL with RP_BAD_ARGUMENT as from
** rp_shape_count, with RP_OUT_OF_MEMORY when there is no room. The caller owns
** one reference.
*/
RpTensor *rp_tensor_new(RpDtype dtype, int rank, const int64_t *shape);

/* A new contiguous tensor with the dtype and shape of `like`. */
RpTensor *rp_tensor_new_like(const RpTensor *like);

/* A second owner of the same tensor; returns its argument. */
RpTensor *rp_tensor_retain(RpTensor *tensor);

/* Give one reference up; the last one frees. NULL is allowed. */
void rp_tensor_release(RpTensor *tensor);

/* The tensor when `status` is RP_OK; else release it and return NULL. */
RpTensor *rp_tensor_unless_failed(RpStatus status, RpTensor *tensor);

/*
** A view on the same storage with another shape, strides and offset, outside
** the graph. The caller must have checked that it stays inside the storage. NULL
** as from rp_tensor_new.
*/
RpTensor *rp_tensor_view(const RpTensor *tensor, int rank, const int64_t *shape,
                         const int64_t *strides, int64_t offset);

/* Views outside the graph: places start .. start + size - 1 of an axis; axes in another order. */
RpTensor *rp_tensor_narrow(const RpTensor *tensor, int axis, int64_t start, int64_t size);
RpTensor *rp_tensor_permute(const RpTensor *tensor, const int *order);

/* The same values outside the graph, on the same storage. */
RpTensor *rp_tensor_detach(const RpTensor *tensor);

/* Number of elements; 1 for a scalar. */
int64_t rp_tensor_count(const RpTensor *tensor);

/* Are the elements packed in row-major order? */
bool rp_tensor_is_contiguous(const RpTensor *tensor);

/*
** Choose axes, the closest elements first, such that no two places along them
** show one element; an axis of one place always.
*/
void rp_axes_apart(int rank, const int64_t *shape, const int64_t *strides, bool *apart);

/* Do both have the same rank and sizes? */
bool rp_tensor_same_shape(const RpTensor *a, const RpTensor *b);

/* The address of the first element of the view. */
void *rp_tensor_data(const RpTensor *tensor);

/* Element at `index` (one 0-based position an axis, already checked), as a double. */
double rp_tensor_get(const RpTensor *tensor, const int64_t *index);

/*
** "[2, 3]" for messages. Returns a pointer into one of eight rotating buffers
** of this thread, so that a message may name several shapes.
*/
const char *rp_shape_text(int rank, const int64_t *shape);
const char *rp_tensor_shape_text(const RpTensor *tensor);

/* The shape both broadcast to (NumPy's rule); RP_BAD_ARGUMENT names both where there is none. */
RpStatus rp_broadcast_shape(const char *operation, const RpTensor *a, const RpTensor *b, int *rank,
                            int64_t *shape);

/* A view of `tensor` broadcast to `shape`, by strides of 0; NULL when it does not fit or exist. */
RpTensor *rp_tensor_broadcast(const RpTensor *tensor, int rank, const int64_t *shape);

#endif
