/*
** Reverse-mode differentiation. An operation whose input needs a gradient
** records a node: where its inputs came from, the tensors its backward needs,
** and the backward function. rp_backward sweeps the nodes once, latest first.
*/
#ifndef RP_GRAPH_H
#define RP_GRAPH_H

#include "core/tensor/tensor.h"

enum { RP_MAX_SAVED = 10, RP_MAX_NUMBERS = 8 };

/*
** Write into gradients[i] a new tensor (owned by the caller) with the shape
** and dtype of input i, where rp_node_wants(node, i); leave the rest NULL.
*/
typedef RpStatus (*RpBackward)(RpNode *node, RpTensor *output_gradient, RpTensor **gradients);

typedef struct RpNodeType {
  const char *name;
  RpBackward backward;
  void (*free_context)(void *context); /* NULL when the node has none or plain rp_alloc memory */
} RpNodeType;

/* Where a gradient goes: to the node that computed the input, or to the parameter it is. */
typedef struct RpEdge {
  RpNode *node;
  RpTensor *parameter;
  int rank; /* of the input, for gradients that must take its shape */
  int64_t shape[RP_MAX_RANK];
} RpEdge;

/*
** A foreign node is one whose backward needs something that its maker keeps alive, not the node.
** Whoever holds a tensor must hold what all foreign nodes below it need; `foreign` leads to them:
** to the first on every way down, or to the node where ways to several meet. Its maker sets it.
*/
struct RpNode {
  const RpNodeType *type;
  int references;
  uint64_t order; /* larger than that of every input: the sweep goes downwards; never used again */
  bool spent;     /* swept once: saved tensors are gone */
  uint64_t sweep; /* that is under way here, else 0 */
  RpTensor *gradient;
  RpTensor *saved[RP_MAX_SAVED];
  uint64_t saved_version[RP_MAX_SAVED];
  int64_t integers[RP_MAX_NUMBERS]; /* small facts for backward: axes, sizes, seeds */
  double numbers[2];
  void *context;      /* larger facts, from rp_alloc; owned */
  RpNode *foreign;    /* NULL where there is none here or below */
  RpNode *next_dying; /* in the list of nodes that nobody refers to any more */
  int input_count;
  RpEdge edges[]; /* input_count of them */
};

/*
** Does a gradient flow through any of these inputs, and is recording on? NULL
** inputs are allowed.
*/
bool rp_graph_records(int input_count, RpTensor *const *inputs);

/* Turn recording on or off for this thread; returns what it was. */
bool rp_graph_set_recording(bool on);

/* Is recording on? */
bool rp_graph_recording(void);

/*
** Make `output` the result of a new node on `inputs` (NULL allowed) and return
** the node, which `output` owns; NULL when out of memory.
*/
RpNode *rp_node_attach(const RpNodeType *type, RpTensor *output, int input_count,
                       RpTensor *const *inputs);

/*
** What an operation ends with: if a gradient flows through any input, attach a
** node to `output` and save `saved`. Returns `output`, whose node is NULL where
** nothing was recorded; NULL (with `output` released) when out of memory or
** when `output` is NULL.
*/
RpTensor *rp_graph_record(const RpNodeType *type, RpTensor *output, int input_count,
                          RpTensor *const *inputs, int saved_count, RpTensor *const *saved);

/*
** RP_BAD_ARGUMENT where the storage of `kept`, a tensor that backward needs, has
** no longer the version it had. Saved tensors are checked by the sweep itself.
*/
RpStatus rp_node_check_version(const RpNode *node, const RpTensor *kept, uint64_t version);

/* Is the gradient of input i asked for? */
bool rp_node_wants(const RpNode *node, int i);

/*
** Backward from a scalar: add d output / d parameter to the gradient of every
** parameter that `output` was computed from. Saved tensors are released on the
** way. RP_BAD_ARGUMENT when `output` is not a scalar, was not recorded, was
** swept before, or when a saved tensor was changed in place since.
** `seed` is the gradient of `output` itself; NULL means 1, and then only may
** `output` have no more than one element.
*/
RpStatus rp_backward(RpTensor *output, RpTensor *seed);

/*
** From now on, a sweep of this thread calls `ready` as soon as it will add
** nothing more to the gradient of a parameter (NULL where it gave none), and
** fails where that fails. NULL ends it. A sweep that another calls tells of what
** both lead to when both are done with it; several of them one after another,
** which the one around them cannot foresee, each tell.
*/
typedef RpStatus (*RpReady)(void *context, const RpTensor *parameter);
void rp_graph_watch(RpReady ready, void *context);

/* Make a leaf collect gradients (or stop). RP_BAD_ARGUMENT for int32 and for a computed tensor. */
RpStatus rp_parameter_set(RpTensor *tensor, bool is_parameter);

#endif
