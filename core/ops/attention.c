#include "core/ops/attention.h"

#include <limits.h>
#include <math.h>

#include "core/base/memory.h"
#include "core/base/size.h"
#include "core/ops/strided.h"
#include "core/tensor/copy.h"

/* The data that backward needs besides q, k, v, o, and the denominators or the softmax. */
typedef struct Context {
  RpAttention kernel;
  RpRotaryTable tables[4]; /* query, key, value, output */
  RpTensor *mask;
  RpTensor *bias[RP_MAX_BIASES]; /* broadcast */
  RpStrides sums[RP_MAX_BIASES]; /* strides by which the gradient of each bias is summed */
} Context;

enum { INPUTS = 3, SAVED = 6 }; /* numbers of tensors, not counting biases */

static void release_context(void *data)
{
  Context *context = data;
  for (int i = 0; i < 4; i++)
    rp_rotary_table_release(&context->tables[i]);
  rp_tensor_release(context->mask);
  for (int i = 0; i < RP_MAX_BIASES; i++)
    rp_tensor_release(context->bias[i]);
}

/*
** RP_BAD_ARGUMENT unless x has the dtype and broadcasts to the scores or, if `by_distance`,
** to the scores and at least one distance.
*/
static RpStatus check_for_scores(const char *name, const char *option, const RpTensor *x,
                                 bool by_distance, RpDtype dtype, const int64_t *scores)
{
  int rank = x->rank;
  bool fits = x->dtype == dtype;
  if (by_distance && rank == 5)
    fits &= x->shape[--rank] > 0;
  fits &= rank <= 4;
  for (int i = 1; fits && i <= rank; i++)
    fits = x->shape[rank - i] == scores[4 - i] || x->shape[rank - i] == 1;
  if (fits)
    return RP_OK;
  return rp_fail(RP_BAD_ARGUMENT, "%s: %s: expected %s that broadcasts to %s, got %s %s", name,
                 option, rp_dtype_name(dtype), rp_shape_text(4, scores), rp_dtype_name(x->dtype),
                 rp_tensor_shape_text(x));
}

static bool is_near(int64_t distance)
{
  return distance > -INT_MAX && distance < INT_MAX;
}

/* True if the scores and a thread's working memory (keys by features, features by features) can be
   addressed. */
static bool is_countable(const RpTensor *q, const RpTensor *v, const int64_t *scores)
{
  enum { PADDING = 256, PARTS = 1 << 16 }; /* added to a size; bound on arrays x threads x bytes */
  const int64_t keys = scores[3] + PADDING, features = q->shape[3] + v->shape[3] + PADDING;
  int64_t product;
  return rp_size_product(4, scores, &product) &&
         rp_size_product(3, (int64_t[]){PARTS, keys, features}, &product) &&
         rp_size_product(3, (int64_t[]){PARTS, features, features}, &product);
}

/* True if each head of k belongs to the same number of heads of q; linear attention takes one. */
static bool are_groups(const RpTensor *q, const RpTensor *k, bool linear)
{
  const int64_t heads = q->shape[1], shared = k->shape[1];
  return heads == shared || (!linear && shared > 0 && heads > 0 && heads % shared == 0);
}

RpStatus rp_attention_check(const RpTensor *q, const RpTensor *k, const RpTensor *v,
                            const RpAttentionOptions *options)
{
  const char *name = options->linear ? "linear_attention" : "attention";
  bool fits = q->rank == 4 && k->rank == 4 && v->rank == 4;
  fits = fits && q->shape[0] == k->shape[0] && k->shape[0] == v->shape[0] &&
         k->shape[1] == v->shape[1];
  if (!fits || q->shape[3] != k->shape[3] || k->shape[2] != v->shape[2] || q->shape[3] < 1 ||
      v->shape[3] < 1)
    return rp_fail(RP_BAD_ARGUMENT,
                   "%s: expected q [B, H, Tq, d], k [B, H, Tk, d], v [B, H, Tk, dv], got "
                   "%s, %s, %s",
                   name, rp_tensor_shape_text(q), rp_tensor_shape_text(k), rp_tensor_shape_text(v));
  if (!are_groups(q, k, options->linear))
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected k and v with %s, got q %s, k %s", name,
                   options->linear ? "the heads of q" : "a divisor of the heads of q",
                   rp_tensor_shape_text(q), rp_tensor_shape_text(k));
  if (!rp_dtype_is_float(q->dtype) || k->dtype != q->dtype || v->dtype != q->dtype)
    return rp_fail(RP_BAD_ARGUMENT,
                   "%s: expected floats of the same dtype, got %s, %s, %s; convert with :to()",
                   name, rp_dtype_name(q->dtype), rp_dtype_name(k->dtype), rp_dtype_name(v->dtype));
  if (k->shape[2] < 1 || k->shape[2] > INT_MAX / 2)
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected 1 to %d keys, got %lld", name, INT_MAX / 2,
                   (long long)k->shape[2]);
  if (options->causal && q->shape[2] > k->shape[2])
    return rp_fail(RP_BAD_ARGUMENT,
                   "%s: causal: expected at least as many keys as queries, got %lld keys "
                   "for %lld queries",
                   name, (long long)k->shape[2], (long long)q->shape[2]);
  if (!(options->dropout >= 0 && options->dropout < 1))
    return rp_fail(RP_BAD_ARGUMENT, "%s: dropout: expected 0 <= p < 1, got %g", name,
                   options->dropout);
  if (!isfinite(options->scale))
    return rp_fail(RP_BAD_ARGUMENT, "%s: scale: expected a finite number, got %g", name,
                   options->scale);
  if (!(options->epsilon >= 0 && isfinite(options->epsilon)))
    return rp_fail(RP_BAD_ARGUMENT, "%s: epsilon: expected a finite number >= 0, got %g", name,
                   options->epsilon);
  const RpRotary *rotary = options->rotary;
  if (rotary != NULL && (rotary->parts & (RP_ROTATE_QUERY | RP_ROTATE_KEY)) != 0 &&
      q->shape[3] != rotary->dim)
    return rp_fail(RP_BAD_ARGUMENT, "%s: the position scheme is for %lld features, got queries %s",
                   name, (long long)rotary->dim, rp_tensor_shape_text(q));
  if (rotary != NULL && (rotary->parts & (RP_ROTATE_VALUE | RP_ROTATE_OUTPUT)) != 0 &&
      v->shape[3] != rotary->dim)
    return rp_fail(RP_BAD_ARGUMENT, "%s: the position scheme is for %lld features, got values %s",
                   name, (long long)rotary->dim, rp_tensor_shape_text(v));
  const int64_t scores[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  if (!is_countable(q, v, scores))
    return rp_fail(RP_BAD_ARGUMENT, "%s: the scores of %s, %s and %s cannot be addressed", name,
                   rp_tensor_shape_text(q), rp_tensor_shape_text(k), rp_tensor_shape_text(v));
  bool near = is_near(options->sums) && options->sums >= 0 && is_near(options->least);
  for (int i = 0; i < options->biases; i++)
    near &= is_near(options->first[i]);
  if (!near)
    return rp_fail(RP_BAD_ARGUMENT, "%s: expected distances within %d", name, INT_MAX);
  const int coordinates = rotary != NULL ? rotary->coordinates : 1;
  RpStatus status = RP_OK;
  if (options->mask != NULL)
    status = check_for_scores(name, "mask", options->mask, false, RP_INT32, scores);
  for (int i = 0; status == RP_OK && i < options->biases; i++)
    status = check_for_scores(name, "bias", options->bias[i], true, q->dtype, scores);
  if (status != RP_OK)
    return status;
  status = rp_positions_check(&options->queries, coordinates, q->shape[0], q->shape[2]);
  return status == RP_OK ? rp_positions_check(&options->keys, coordinates, k->shape[0], k->shape[2])
                         : status;
}

/*
** Use an earlier one of `tables` for operand i if it has the same positions and
** rotation; false if there is none.
*/
static bool share_table(const RpRotary *rotary, RpRotaryTable *tables,
                        const RpPositions *const *positions, int i, int64_t time)
{
  for (int j = 0; j < i; j++) {
    const RpRotaryTable *earlier = &tables[j];
    if (earlier->cosine == NULL || earlier->cosine->shape[1] != time ||
        positions[j]->list != positions[i]->list || positions[j]->offset != positions[i]->offset ||
        !rp_rotary_alike(rotary, 1u << i, 1u << j))
      continue;
    tables[i] = rp_rotary_table_retain(earlier);
    return true;
  }
  return false;
}

/* A bias with these strides over the axes of the scores and, if rank is 5, over distances from
   `first` on. */
static RpBias steps_of(const int64_t *strides, int rank, int64_t distances, int64_t first,
                       void *data)
{
  RpBias bias = {data, strides[0], strides[1], strides[2], strides[3], 0, -INT_MAX, INT_MAX};
  if (rank == 5) {
    bias.distance = strides[4];
    bias.least = first;
    bias.most = first + distances - 1;
  }
  return bias;
}

/* Strides over the axes of the scores, and over distances, of a bias with these strides. */
static RpStrides over_scores(const RpTensor *bias, const RpStrides *strides, const int64_t *scores)
{
  const int rank = bias->rank == 5 ? 5 : 4;
  RpStrides whole = {.rank = rank, .offset = strides->offset};
  for (int axis = 0; axis < rank; axis++) {
    const int own = axis - rank + bias->rank;
    whole.shape[axis] = axis < 4 ? scores[axis] : bias->shape[own];
    whole.strides[axis] = own >= 0 && bias->shape[own] > 1 ? strides->strides[own] : 0;
  }
  return whole;
}

static RpStrides packed_strides(const RpTensor *x)
{
  RpStrides packed = {.rank = x->rank};
  int64_t stride = 1;
  for (int axis = x->rank - 1; axis >= 0; axis--) {
    packed.strides[axis] = stride;
    stride *= x->shape[axis];
  }
  return packed;
}

/*
** Choose the tensor into which the gradient of a bias is summed, and its strides. For
** a strided view, this is the viewed tensor, which saves a gradient with an element for
** each score; or the bias itself, if several threads would write the same element of
** the viewed tensor.
*/
static RpTensor *find_sum(RpTensor *bias, const int64_t *scores, RpStrides *strides)
{
  const RpStrides *seen;
  RpTensor *source = rp_strided_source(bias, &seen);
  if (source != NULL && bias->rank < 5) {
    *strides = over_scores(bias, seen, scores);
    if (rp_strides_apart(strides, 2))
      return source;
  }
  const RpStrides packed = packed_strides(bias);
  *strides = over_scores(bias, &packed, scores);
  return bias;
}

/* Tables, biases and mask for the kernel. On failure the caller releases the context. */
static RpStatus fill_context(Context *context, const RpTensor *q, const RpTensor *k,
                             const RpTensor *v, const RpAttentionOptions *options)
{
  const RpRotary *rotary = options->rotary;
  RpAttention *kernel = &context->kernel;
  RpTable *const tables[4] = {&kernel->rotate_query, &kernel->rotate_key, &kernel->rotate_value,
                              &kernel->rotate_output};
  const RpPositions *const positions[4] = {&options->queries, &options->keys, &options->keys,
                                           &options->queries};
  *context = (Context){.kernel = {.batch = q->shape[0],
                                  .heads = q->shape[1],
                                  .queries = q->shape[2],
                                  .keys = k->shape[2],
                                  .group = k->shape[1] > 0 ? q->shape[1] / k->shape[1] : 1,
                                  .features = q->shape[3],
                                  .value_features = v->shape[3],
                                  .sums = options->sums,
                                  .least = options->least,
                                  .causal = options->causal,
                                  .dropout = options->dropout,
                                  .seed = options->seed,
                                  .epsilon = options->epsilon}};
  kernel->scale = options->scale != 0 ? options->scale : 1 / sqrt((double)q->shape[3]);
  for (int i = 0; i < 4; i++) {
    const bool of_keys = i == 1 || i == 2;
    if (rotary == NULL || (rotary->parts & 1u << i) == 0)
      continue;
    const int64_t time = of_keys ? k->shape[2] : q->shape[2];
    if (!share_table(rotary, context->tables, positions, i, time)) {
      RpStatus status = rp_rotary_table(rotary, 1u << i, false, q->dtype, positions[i], q->shape[0],
                                        time, &context->tables[i]);
      if (status != RP_OK)
        return status;
    }
    *tables[i] = context->tables[i].table;
  }
  int64_t shape[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2], 0};
  for (int i = 0; i < options->biases; i++) {
    const int rank = options->bias[i]->rank == 5 ? 5 : 4;
    shape[4] = rank == 5 ? options->bias[i]->shape[4] : 0;
    RpTensor *bias = rp_tensor_broadcast(options->bias[i], rank, shape);
    if (bias == NULL)
      return rp_last_status();
    context->bias[i] = bias;
    kernel->bias[kernel->biases++] =
        steps_of(bias->strides, rank, shape[4], options->first[i], rp_tensor_data(bias));
  }
  if (options->mask == NULL)
    return RP_OK;
  context->mask = rp_tensor_broadcast(options->mask, 4, shape);
  if (context->mask == NULL)
    return rp_last_status();
  kernel->mask = rp_tensor_data(context->mask);
  for (int i = 0; i < 4; i++)
    kernel->mask_strides[i] = context->mask->strides[i];
  return RP_OK;
}

RpTensor *rp_heads_operand(RpTensor *x)
{
  if (x->strides[x->rank - 1] == 1 || x->shape[x->rank - 1] == 1)
    return rp_tensor_retain(x);
  return rp_tensor_convert(x, x->dtype);
}

RpHeads rp_heads_of(const RpTensor *x)
{
  const int r = x->rank;
  return (RpHeads){rp_tensor_data(x), r > 3 ? x->strides[r - 4] : 0, r > 2 ? x->strides[r - 3] : 0,
                   r > 1 ? x->strides[r - 2] : 0};
}

RpTensor *rp_heads_time_major(RpDtype dtype, const int64_t *shape)
{
  const int64_t stored[] = {shape[0], shape[2], shape[1], shape[3]};
  RpTensor *packed = rp_tensor_new(dtype, 4, stored);
  if (packed == NULL)
    return NULL;
  const int64_t strides[] = {packed->strides[0], packed->strides[2], packed->strides[1], 1};
  RpTensor *view = rp_tensor_view(packed, 4, shape, strides, 0);
  rp_tensor_release(packed);
  return view;
}

static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients);
static const RpNodeType type = {"attention", backward, release_context};
static const RpNodeType linear_type = {"linear_attention", backward, release_context};

/* Create zeros for the gradients of the biases that need one. */
static RpStatus start_sums(RpNode *node, RpTensor **gradients, RpBias *sums)
{
  const Context *context = node->context;
  for (int i = 0; i < context->kernel.biases; i++) {
    const RpStrides *to = &context->sums[i];
    const RpBias *bias = &context->kernel.bias[i];
    sums[i] = steps_of(to->strides, to->rank, to->shape[4], bias->least, NULL);
    if (!rp_node_wants(node, INPUTS + i))
      continue;
    const RpEdge *input = &node->edges[INPUTS + i];
    RpTensor *sum = rp_tensor_full(node->saved[0]->dtype, input->rank, input->shape, 0);
    if (sum == NULL)
      return rp_last_status();
    gradients[INPUTS + i] = sum;
    sums[i].data = (char *)rp_tensor_data(sum) + to->offset * (int64_t)rp_dtype_size(sum->dtype);
  }
  return RP_OK;
}

/* saved: q, k, v, o, the denominators of linear attention or the softmax, mask, biases */
static RpStatus backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const Context *context = node->context;
  RpTensor *q = node->saved[0], *k = node->saved[1], *v = node->saved[2], *o = node->saved[3];
  RpTensor *output_gradient = rp_heads_operand(dy);
  RpBias dbias[RP_MAX_BIASES];
  gradients[0] = rp_heads_time_major(q->dtype, q->shape);
  gradients[1] = rp_heads_time_major(k->dtype, k->shape);
  gradients[2] = rp_heads_time_major(v->dtype, v->shape);
  RpStatus status = RP_OUT_OF_MEMORY;
  if (output_gradient != NULL && gradients[0] != NULL && gradients[1] != NULL &&
      gradients[2] != NULL && start_sums(node, gradients, dbias) == RP_OK) {
    const RpAttention *kernel = &context->kernel;
    const RpHeads in[] = {rp_heads_of(q), rp_heads_of(k), rp_heads_of(v), rp_heads_of(o),
                          rp_heads_of(output_gradient)};
    const RpHeads out[] = {rp_heads_of(gradients[0]), rp_heads_of(gradients[1]),
                           rp_heads_of(gradients[2])};
    status = node->type == &linear_type
                 ? rp_kernels(q->dtype)->linear_attention_gradient(
                       kernel, &in[0], &in[1], &in[2], &in[3], &in[4],
                       rp_tensor_data(node->saved[4]), &out[0], &out[1], &out[2])
                 : rp_products(q->dtype)->attention_gradient(kernel, &in[0], &in[1], &in[2], &in[3],
                                                             rp_tensor_data(node->saved[4]), &in[4],
                                                             &out[0], &out[1], &out[2], dbias);
  }
  rp_tensor_release(output_gradient);
  return status;
}

/* Attach a node to y, which takes over the context; NULL when out of memory. */
static RpTensor *record(bool linear, RpTensor *y, RpTensor *const *inputs, RpTensor *const *saved,
                        const Context *context)
{
  const int biases = context->kernel.biases;
  Context *kept = rp_alloc(sizeof *kept);
  if (kept != NULL)
    y = rp_graph_record(linear ? &linear_type : &type, y, INPUTS + biases, inputs, SAVED + biases,
                        saved);
  if (kept == NULL || y == NULL) {
    if (kept == NULL)
      rp_tensor_release(y);
    rp_free(kept);
    return NULL;
  }
  *kept = *context;
  y->node->context = kept;
  return y;
}

RpTensor *rp_op_attention(RpTensor *q, RpTensor *k, RpTensor *v, const RpAttentionOptions *options)
{
  RpTensor *inputs[INPUTS + RP_MAX_BIASES] = {q, k, v};
  Context context;
  if (rp_attention_check(q, k, v, options) != RP_OK)
    return NULL;
  RpStatus status = fill_context(&context, q, k, v, options);
  const int64_t shape[] = {q->shape[0], q->shape[1], q->shape[2], v->shape[3] + options->sums};
  const int64_t scores[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  const int64_t rows[] = {q->shape[0], q->shape[1], q->shape[2], 2};
  RpTensor *in[SAVED + RP_MAX_BIASES] = {NULL}, *y = NULL;
  bool records = false, needs_rows = false;
  if (status == RP_OK) {
    in[5] = context.mask;
    for (int i = 0; i < options->biases; i++) {
      in[SAVED + i] = context.bias[i];
      inputs[INPUTS + i] = find_sum(options->bias[i], scores, &context.sums[i]);
    }
    for (int i = 0; i < 3; i++)
      in[i] = rp_heads_operand(inputs[i]);
    y = in[3] = rp_heads_time_major(q->dtype, shape);
    records = rp_graph_records(INPUTS + options->biases, inputs);
    needs_rows = options->linear || records;
    in[4] = needs_rows ? rp_tensor_new(q->dtype, options->linear ? 3 : 4, rows) : NULL;
  }
  if (in[0] != NULL && in[1] != NULL && in[2] != NULL && y != NULL &&
      (in[4] != NULL || !needs_rows)) {
    const RpHeads heads[] = {rp_heads_of(in[0]), rp_heads_of(in[1]), rp_heads_of(in[2]),
                             rp_heads_of(y)};
    if (rp_tensor_count(y) > 0)
      status =
          options->linear
              ? rp_kernels(q->dtype)->linear_attention(&context.kernel, &heads[0], &heads[1],
                                                       &heads[2], &heads[3], rp_tensor_data(in[4]))
              : rp_products(q->dtype)->attention(&context.kernel, &heads[0], &heads[1], &heads[2],
                                                 &heads[3],
                                                 in[4] != NULL ? rp_tensor_data(in[4]) : NULL);
    y = rp_tensor_unless_failed(status, y);
  } else {
    y = rp_tensor_unless_failed(RP_OUT_OF_MEMORY, y);
  }
  if (y != NULL && records)
    y = record(options->linear, y, inputs, in, &context);
  if (y == NULL || y->node == NULL)
    release_context(&context);
  rp_tensor_release(in[0]);
  rp_tensor_release(in[1]);
  rp_tensor_release(in[2]);
  rp_tensor_release(in[4]);
  return y;
}

RpTensor *rp_attention_weights(RpTensor *q, RpTensor *k, const RpAttentionOptions *options)
{
  Context context;
  RpAttentionOptions of_scores = *options;
  RpRotary rotary;
  if (options->rotary != NULL) { /* values do not affect the weights */
    rotary = *options->rotary;
    rotary.parts &= RP_ROTATE_QUERY | RP_ROTATE_KEY;
    of_scores.rotary = &rotary;
  }
  if (rp_attention_check(q, k, k, &of_scores) != RP_OK)
    return NULL;
  RpStatus status = fill_context(&context, q, k, k, &of_scores);
  const int64_t shape[] = {q->shape[0], q->shape[1], q->shape[2], k->shape[2]};
  RpTensor *weights = NULL;
  if (status == RP_OK) {
    RpTensor *packed_q = rp_heads_operand(q), *packed_k = rp_heads_operand(k);
    weights = rp_tensor_new(q->dtype, 4, shape);
    if (packed_q == NULL || packed_k == NULL || weights == NULL) {
      status = RP_OUT_OF_MEMORY;
    } else if (rp_tensor_count(weights) > 0) {
      const RpHeads q_heads = rp_heads_of(packed_q), k_heads = rp_heads_of(packed_k);
      status = rp_products(q->dtype)->attention_weights(&context.kernel, &q_heads, &k_heads,
                                                        rp_tensor_data(weights));
    }
    rp_tensor_release(packed_q);
    rp_tensor_release(packed_k);
  }
  release_context(&context);
  return rp_tensor_unless_failed(status, weights);
}
