/*
** Reverse-mode differentiation. An operation with an input that needs a gradient
** records a node: the nodes of its inputs, the tensors that backward needs, and
** the backward function. rp_backward runs these once per node, latest first; in
** this folder such a pass over the graph is called a sweep.
*/
#ifndef RP_GRAPH_H
#define RP_GRAPH_H

#include "core/tensor/tensor.h"

enum { RP_MAX_SAVED = 10, RP_MAX_NUMBERS = 8 };

/*
** For each i with rp_node_wants(node, i), set gradients[i] to a new tensor (owned
** by the caller) with the shape and dtype of input i; leave the others NULL.
*/
typedef RpStatus (*RpBackward)(RpNode *node, RpTensor *output_gradient, RpTensor **gradients);

typedef struct RpNodeType {
  const char *name;
  RpBackward backward;
  void (*free_context)(void *context); /* releases what the context holds; may be NULL */
} RpNodeType;

/* The target of an input's gradient: the node that computed the input, or the parameter itself. */
typedef struct RpEdge {
  RpNode *node;
  RpTensor *parameter;
  int rank; /* shape of the input, which its gradient must have */
  int64_t shape[RP_MAX_RANK];
} RpEdge;

/*
** A node of the graph.
**
** A foreign node is one whose backward needs an object that its creator keeps alive, not the node.
** The owner of a tensor must keep alive the objects of all foreign nodes below it. `foreign` leads
** to these nodes: it is the first one on every path down, or the node where paths to several meet.
** The creator of a foreign node sets it to the node itself.
*/
struct RpNode {
  const RpNodeType *type;
  int references;
  uint64_t order; /* unique, larger than that of every input: a sweep goes by descending order */
  bool spent;     /* swept: saved tensors are released */
  uint64_t sweep; /* number of the running sweep that includes the node, or 0 */
  RpTensor *gradient;
  RpTensor *saved[RP_MAX_SAVED];
  uint64_t saved_version[RP_MAX_SAVED];
  int64_t integers[RP_MAX_NUMBERS]; /* small values for backward: axes, sizes, seeds */
  double numbers[2];
  void *context;      /* larger values, from rp_alloc; owned */
  RpNode *foreign;    /* NULL if this node and those below are not foreign */
  RpNode *next_dying; /* in the list of nodes to free */
  int input_count;
  RpEdge edges[]; /* input_count of them */
};

/* Is recording on, and does a gradient flow through any of these inputs (NULL allowed)? */
bool rp_graph_records(int input_count, RpTensor *const *inputs);

/* Turn recording on or off for this thread; returns the previous setting. */
bool rp_graph_set_recording(bool on);

/* Is recording on? */
bool rp_graph_recording(void);

/*
** Attach a new node with `inputs` (NULL allowed) to `output`, which owns it, and
** return the node; NULL when out of memory.
*/
RpNode *rp_node_attach(const RpNodeType *type, RpTensor *output, int input_count,
                       RpTensor *const *inputs);

/*
** Record an operation; every operation ends with this call. If a gradient flows
** through any input, attach a node to `output` and save `saved`. Returns `output`,
** whose node is NULL if nothing was recorded; NULL if `output` is NULL; or NULL with
** `output` released, when out of memory.
*/
RpTensor *rp_graph_record(const RpNodeType *type, RpTensor *output, int input_count,
                          RpTensor *const *inputs, int saved_count, RpTensor *const *saved);

/*
** RP_BAD_ARGUMENT if the storage of `kept`, a tensor that backward needs, no
** longer has this version. The sweep checks saved tensors itself.
*/
RpStatus rp_node_check_version(const RpNode *node, const RpTensor *kept, uint64_t version);

/* Is the gradient of input i needed? */
bool rp_node_wants(const RpNode *node, int i);

/*
** Add d output / d parameter to the gradient of every parameter that `output`
** was computed from, and release the saved tensors. `seed` is the gradient of
** `output` itself, in its shape and dtype; NULL stands for 1 and requires an
** `output` of one element. RP_BAD_ARGUMENT for another shape, for an `output`
** that was not recorded or was swept before, and for a saved tensor that was
** changed in place.
*/
RpStatus rp_backward(RpTensor *output, RpTensor *seed);

/*
** Set a callback for the sweeps of this thread; NULL removes it. A sweep calls
** `ready` for each of its parameters as soon as the gradient is final; the
** gradient is NULL if the sweep computed none. If `ready` fails, the sweep fails.
** A backward function can run sweeps of its own. For a parameter that an outer and
** an inner sweep use, `ready` is called when both are done with it. For a parameter
** that only inner sweeps use, each of them calls it.
*/
typedef RpStatus (*RpReady)(void *context, const RpTensor *parameter);
void rp_graph_watch(RpReady ready, void *context);

/* Make a leaf a parameter, or undo it. RP_BAD_ARGUMENT for int32 and for a computed tensor. */
RpStatus rp_parameter_set(RpTensor *tensor, bool is_parameter);

#endif
