/*
** Reverse-mode automatic differentiation. An operation with an input that needs a
** gradient records a node: the nodes of its inputs, the tensors that the backward
** function needs, and this function. A backward pass (rp_backward) calls the
** function of each node once, the latest node first.
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
** The backward function of a foreign node needs an object that the node does not own, such as a Lua
** function. The owner of a tensor must keep alive the objects of all foreign nodes below it. They
** are found through `foreign`: the foreign node that all paths down reach first, or the node where
** paths to several foreign nodes meet. The creator of a foreign node sets it to the node itself.
*/
struct RpNode {
  const RpNodeType *type;
  int references;
  uint64_t order; /* unique, larger than that of every input; a pass visits the largest first */
  bool spent;     /* a pass has visited the node and released its saved tensors */
  uint64_t pass;  /* number of the running pass that includes the node, or 0 */
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

/* True if recording is on and a gradient flows through any of these inputs (NULL allowed). */
bool rp_graph_records(int input_count, RpTensor *const *inputs);

/* Turn recording on or off for this thread; returns the previous setting. */
bool rp_graph_set_recording(bool on);

/* True if recording is on. */
bool rp_graph_recording(void);

/*
** Attach a new node with `inputs` (NULL allowed) to `output`, which owns it, and
** return the node; NULL when out of memory.
*/
RpNode *rp_node_attach(const RpNodeType *type, RpTensor *output, int input_count,
                       RpTensor *const *inputs);

/*
** Record an operation; every operation ends with this call. If recording is on and
** a gradient flows through any input, attach a node to `output` and keep the tensors
** in `saved` for the backward pass. Returns `output`, whose node is NULL if nothing
** was recorded. Returns NULL if `output` is NULL, or when out of memory, after
** releasing `output`.
*/
RpTensor *rp_graph_record(const RpNodeType *type, RpTensor *output, int input_count,
                          RpTensor *const *inputs, int saved_count, RpTensor *const *saved);

/*
** RP_BAD_ARGUMENT if the storage of `kept`, a tensor that backward needs, no
** longer has this version. The backward pass itself checks the saved tensors.
*/
RpStatus rp_node_check_version(const RpNode *node, const RpTensor *kept, uint64_t version);

/* True if the gradient of input i is needed. */
bool rp_node_wants(const RpNode *node, int i);

/*
** Add d output / d parameter to the gradient of every parameter that `output`
** was computed from, and release the saved tensors. `seed` is the gradient with respect
** to `output`, in its shape and dtype; NULL means 1 and requires an `output` of one
** element. RP_BAD_ARGUMENT for another shape or dtype, for an `output` that depends on
** no parameter, for a graph that an earlier pass has freed, and for a saved tensor that
** was changed in place.
*/
RpStatus rp_backward(RpTensor *output, RpTensor *seed);

/*
** Set a callback for the backward passes of this thread; NULL removes it. A pass
** calls `ready` for each of its parameters as soon as the gradient is final; the
** gradient is NULL if the pass computed none. If `ready` fails, the pass fails. A
** backward function can run passes of its own. If an outer and an inner pass use
** the same parameter, `ready` is called when both have finished with it. If only
** inner passes use a parameter, each of them calls `ready` for it.
*/
typedef RpStatus (*RpReady)(void *context, const RpTensor *parameter);
void rp_graph_watch(RpReady ready, void *context);

/* Make a tensor a parameter, or undo this. RP_BAD_ARGUMENT for int32 and for a recorded result. */
RpStatus rp_parameter_set(RpTensor *tensor, bool is_parameter);

#endif
