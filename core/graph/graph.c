#include "core/graph/graph.h"

#include <stdlib.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

static _Thread_local bool recording = true;
static _Thread_local uint64_t last_order, last_pass;
static _Thread_local struct {
  RpReady ready; /* or NULL */
  void *context;
} watcher;

void rp_graph_watch(RpReady ready, void *context)
{
  watcher.ready = ready;
  watcher.context = context;
}

bool rp_graph_recording(void)
{
  return recording;
}

bool rp_graph_set_recording(bool on)
{
  bool was = recording;
  recording = on;
  return was;
}

static bool needs_gradient(const RpTensor *tensor)
{
  return tensor != NULL && (tensor->node != NULL || tensor->is_parameter);
}

bool rp_graph_records(int input_count, RpTensor *const *inputs)
{
  for (int i = 0; recording && i < input_count; i++)
    if (needs_gradient(inputs[i]))
      return true;
  return false;
}

/* Release the tensors and the context that the backward function needs. */
static void drop_saved(RpNode *node)
{
  for (int i = 0; i < RP_MAX_SAVED; i++) {
    rp_tensor_release(node->saved[i]);
    node->saved[i] = NULL;
  }
  if (node->context != NULL && node->type->free_context != NULL)
    node->type->free_context(node->context);
  rp_free(node->context);
  node->context = NULL;
}

/* Drop a reference. Nodes are freed through a list, because recursion could overflow the stack. */
static void node_release(RpNode *node)
{
  static _Thread_local RpNode *dying;
  static _Thread_local bool busy;
  if (--node->references > 0)
    return;
  node->next_dying = dying;
  dying = node;
  if (busy)
    return;
  busy = true;
  while (dying != NULL) {
    RpNode *dead = dying;
    dying = dead->next_dying;
    for (int i = 0; i < dead->input_count; i++) {
      if (dead->edges[i].node != NULL)
        node_release(dead->edges[i].node);
      rp_tensor_release(dead->edges[i].parameter);
    }
    drop_saved(dead);
    rp_free(dead);
  }
  busy = false;
}

/* Update node->foreign for an input that leads to `foreign`. It becomes the node itself if several
   inputs lead to different ones. */
static void lead_to(RpNode *node, RpNode *foreign)
{
  if (foreign != NULL && node->foreign != foreign)
    node->foreign = node->foreign == NULL ? foreign : node;
}

RpNode *rp_node_attach(const RpNodeType *type, RpTensor *output, int input_count,
                       RpTensor *const *inputs)
{
  RpNode *node = rp_alloc((int64_t)sizeof *node + input_count * (int64_t)sizeof(RpEdge));
  if (node == NULL)
    return NULL;
  *node =
      (RpNode){.type = type, .references = 1, .order = ++last_order, .input_count = input_count};
  for (int i = 0; i < input_count; i++) {
    RpTensor *input = inputs[i];
    RpEdge *edge = &node->edges[i];
    *edge = (RpEdge){0};
    if (input == NULL)
      continue;
    edge->rank = input->rank;
    for (int axis = 0; axis < input->rank; axis++)
      edge->shape[axis] = input->shape[axis];
    if (input->node != NULL) {
      edge->node = input->node;
      edge->node->references++;
      lead_to(node, edge->node->foreign);
    } else if (input->is_parameter) {
      edge->parameter = rp_tensor_retain(input);
    }
  }
  output->node = node;
  output->release_node = node_release;
  return node;
}

/* Save `tensor` (NULL allowed) and the current version of its storage for the backward pass. */
static RpStatus save(RpNode *node, int slot, const RpTensor *tensor)
{
  if (tensor == NULL)
    return RP_OK;
  node->saved[slot] = rp_tensor_detach(tensor);
  if (node->saved[slot] == NULL)
    return RP_OUT_OF_MEMORY;
  node->saved_version[slot] = tensor->storage->version;
  return RP_OK;
}

RpTensor *rp_graph_record(const RpNodeType *type, RpTensor *output, int input_count,
                          RpTensor *const *inputs, int saved_count, RpTensor *const *saved)
{
  if (output == NULL || !rp_graph_records(input_count, inputs))
    return output;
  RpNode *node = rp_node_attach(type, output, input_count, inputs);
  RpStatus status = node != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  for (int i = 0; status == RP_OK && i < saved_count; i++)
    status = save(node, i, saved[i]);
  if (status == RP_OK)
    return output;
  rp_tensor_release(output);
  return NULL;
}

bool rp_node_wants(const RpNode *node, int i)
{
  return node->edges[i].node != NULL || node->edges[i].parameter != NULL;
}

/* True if the caller holds the only reference to the tensor and its storage. */
static bool is_sole(const RpTensor *tensor)
{
  return tensor->references == 1 && tensor->storage->references == 1;
}

/* True if both have their elements, each once, in the same order in memory. */
static bool is_laid_out_as(const RpTensor *a, const RpTensor *b)
{
  bool apart[RP_MAX_RANK], same = a->rank == b->rank;
  rp_axes_apart(a->rank, a->shape, a->strides, apart);
  for (int i = 0; same && i < a->rank; i++)
    same = apart[i] && (a->strides[i] == b->strides[i] || a->shape[i] == 1);
  return same;
}

/* *target += gradient; takes over the caller's reference to `gradient`. */
static RpStatus add_gradient(RpTensor **target, RpTensor *gradient)
{
  RpTensor *present = *target;
  if (present == NULL) {
    *target = gradient;
    return RP_OK;
  }
  RpStatus status = RP_OK;
  if (is_sole(present) && (rp_tensor_is_contiguous(present) || is_laid_out_as(present, gradient))) {
    status = rp_tensor_accumulate(present, gradient);
  } else {
    RpTensor *sum = rp_tensor_binary(RP_ADD, present, gradient);
    if (sum == NULL) {
      status = rp_last_status();
    } else {
      rp_tensor_release(present);
      *target = sum;
    }
  }
  rp_tensor_release(gradient);
  return status;
}

/* The same for a parameter. It keeps the gradient, which therefore must not share storage. It is
   packed, so that the step of an optimizer needs no memory. */
static RpStatus add_to_parameter(RpTensor *parameter, RpTensor *gradient)
{
  if (parameter->gradient == NULL && !(is_sole(gradient) && rp_tensor_is_contiguous(gradient))) {
    RpTensor *copy = rp_tensor_convert(gradient, gradient->dtype);
    rp_tensor_release(gradient);
    if (copy == NULL)
      return rp_last_status();
    gradient = copy;
  }
  return add_gradient(&parameter->gradient, gradient);
}

/* The nodes of one pass. The array is from malloc: the pool should not keep such a large block. */
typedef struct NodeList {
  RpNode **nodes;
  size_t count, capacity;
  uint64_t pass; /* its number, from 1 */
} NodeList;

/*
** RP_OK if a pass may include the node. A node of an enclosing pass is refused: the gradient that
** it has accumulated so far would be counted twice, or lost after a failure.
*/
static RpStatus check_free(const RpNode *node)
{
  if (node->spent)
    return rp_fail(
        RP_BAD_ARGUMENT,
        "backward: an earlier backward has freed the saved values of this graph (at \"%s\"); "
        "compute the result again",
        node->type->name);
  if (node->pass != 0)
    return rp_fail(RP_BAD_ARGUMENT,
                   "backward: this graph (at \"%s\") is in use by the backward that called this "
                   "one; compute a new result inside it",
                   node->type->name);
  return RP_OK;
}

static RpStatus push_node(NodeList *list, RpNode *node)
{
  RpStatus status = check_free(node);
  if (status != RP_OK)
    return status;
  if (list->count == list->capacity) {
    size_t capacity = list->capacity > 0 ? 2 * list->capacity : 256;
    RpNode **nodes = realloc(list->nodes, capacity * sizeof(RpNode *));
    if (nodes == NULL)
      return rp_fail(RP_OUT_OF_MEMORY, "backward: out of memory for a graph of %zu nodes",
                     list->count);
    list->nodes = nodes;
    list->capacity = capacity;
  }
  node->pass = list->pass;
  list->nodes[list->count++] = node;
  for (int i = 0; i < node->input_count; i++)
    if (node->edges[i].parameter != NULL)
      node->edges[i].parameter->pending++;
  return RP_OK;
}

/* List `root` and all nodes below it, each once. */
static RpStatus collect(RpNode *root, NodeList *list)
{
  RpStatus status = push_node(list, root);
  for (size_t at = 0; status == RP_OK && at < list->count; at++) {
    RpNode *node = list->nodes[at];
    for (int i = 0; status == RP_OK && i < node->input_count; i++) {
      RpNode *input = node->edges[i].node;
      if (input != NULL && input->pass != list->pass)
        status = push_node(list, input);
    }
  }
  return status;
}

static int later_first(const void *a, const void *b)
{
  const uint64_t x = (*(RpNode *const *)a)->order, y = (*(RpNode *const *)b)->order;
  return (x < y) - (x > y);
}

RpStatus rp_node_check_version(const RpNode *node, const RpTensor *kept, uint64_t version)
{
  if (kept->storage->version == version)
    return RP_OK;
  return rp_fail(RP_BAD_ARGUMENT,
                 "backward: a tensor %s that \"%s\" needs was changed in place after the forward "
                 "pass; change a copy, or compute the result again",
                 rp_tensor_shape_text(kept), node->type->name);
}

static RpStatus check_saved(const RpNode *node)
{
  RpStatus status = RP_OK;
  for (int i = 0; status == RP_OK && i < RP_MAX_SAVED; i++)
    if (node->saved[i] != NULL)
      status = rp_node_check_version(node, node->saved[i], node->saved_version[i]);
  return status;
}

/* Call the backward function of a node and add its results to the gradients of the inputs. */
static RpStatus run_node(RpNode *node)
{
  enum { FEW = 8 };
  RpTensor *few[FEW] = {NULL};
  RpTensor **gradients = few;
  RpStatus status = check_saved(node);
  if (status != RP_OK)
    return status;
  if (node->input_count > FEW) {
    gradients = calloc((size_t)node->input_count, sizeof *gradients);
    if (gradients == NULL)
      return rp_fail(RP_OUT_OF_MEMORY, "backward: out of memory at \"%s\"", node->type->name);
  }
  node->spent = true;
  status = node->type->backward(node, node->gradient, gradients);
  for (int i = 0; i < node->input_count; i++) {
    RpEdge *edge = &node->edges[i];
    if (gradients[i] == NULL)
      continue;
    if (status != RP_OK || !rp_node_wants(node, i))
      rp_tensor_release(gradients[i]);
    else if (edge->node != NULL)
      status = add_gradient(&edge->node->gradient, gradients[i]);
    else
      status = add_to_parameter(edge->parameter, gradients[i]);
  }
  if (gradients != few)
    free(gradients);
  rp_tensor_release(node->gradient);
  node->gradient = NULL;
  drop_saved(node);
  return status == RP_OK ? rp_interrupt_status() : status;
}

/* Decrement `pending` of a node's parameters. Unless the pass failed, report those at 0. */
static RpStatus finish_node(const RpNode *node, RpStatus status)
{
  for (int i = 0; i < node->input_count; i++) {
    RpTensor *parameter = node->edges[i].parameter;
    if (parameter != NULL && --parameter->pending == 0 && status == RP_OK && watcher.ready != NULL)
      status = watcher.ready(watcher.context, parameter);
  }
  return status;
}

RpStatus rp_backward(RpTensor *output, RpTensor *seed)
{
  if (!needs_gradient(output))
    return rp_fail(RP_BAD_ARGUMENT, "backward: expected a tensor computed from a parameter; mark "
                                    "one with :parameter() before computing it");
  if (seed == NULL && rp_tensor_count(output) != 1)
    return rp_fail(RP_BAD_ARGUMENT,
                   "backward: expected a scalar, got shape %s; reduce it or pass its gradient",
                   rp_tensor_shape_text(output));
  if (seed != NULL && (!rp_tensor_same_shape(seed, output) || seed->dtype != output->dtype))
    return rp_fail(RP_BAD_ARGUMENT, "backward: expected a gradient %s %s, got %s %s",
                   rp_dtype_name(output->dtype), rp_tensor_shape_text(output),
                   rp_dtype_name(seed->dtype), rp_tensor_shape_text(seed));
  RpTensor *gradient = seed != NULL ? rp_tensor_contiguous(seed)
                                    : rp_tensor_full(output->dtype, output->rank, output->shape, 1);
  if (gradient == NULL)
    return rp_last_status();
  if (output->node == NULL)
    return add_to_parameter(output, gradient);

  NodeList list = {.pass = ++last_pass};
  rp_tensor_retain(output); /* a backward in Lua may drop it */
  RpStatus status = collect(output->node, &list);
  if (status == RP_OK) {
    qsort(list.nodes, list.count, sizeof(RpNode *), later_first);
    status = add_gradient(&output->node->gradient, gradient);
    gradient = NULL;
  }
  for (size_t i = 0; i < list.count; i++) {
    if (status == RP_OK && list.nodes[i]->gradient != NULL)
      status = run_node(list.nodes[i]);
    status = finish_node(list.nodes[i], status);
  }
  for (size_t i = 0; i < list.count; i++) {
    rp_tensor_release(list.nodes[i]->gradient); /* left over only after a failure */
    list.nodes[i]->gradient = NULL;
    list.nodes[i]->pass = 0;
  }
  rp_tensor_release(gradient);
  free(list.nodes);
  rp_tensor_release(output);
  return status;
}

RpStatus rp_parameter_set(RpTensor *tensor, bool is_parameter)
{
  if (is_parameter && !rp_dtype_is_float(tensor->dtype))
    return rp_fail(RP_BAD_ARGUMENT, "parameter: expected float32 or float64, got int32");
  if (tensor->node != NULL)
    return rp_fail(RP_BAD_ARGUMENT, "parameter: expected a tensor outside the graph, got a "
                                    "result; detach it first");
  tensor->is_parameter = is_parameter;
  return RP_OK;
}
