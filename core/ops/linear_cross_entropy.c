/*
** Cross-entropy of x W^T + b against token ids, without storing all logits: product,
** loss and gradients are computed for one slice of rows at a time. With z = x W^T + b,
** p = softmax(z) and s the gradient of each loss: dz = s (p - one-hot), dx = dz W,
** dW = dz^T x, db = sum dz. For the mean of the losses, s is known up to a factor, and
** the forward pass computes the gradients. For one loss per row, the backward pass
** computes the logits a second time.
*/
#include "core/ops/ops.h"
#include "core/ops/targets.h"
#include "core/tensor/copy.h"
#include "core/tensor/elementwise.h"

enum { X, WEIGHT, BIAS, TARGETS, OPERANDS };

typedef struct Slices {
  int64_t rows, most, in, out; /* most: maximum number of rows of a slice */
  int32_t ignore;
  RpTensor *operand[OPERANDS]; /* packed; the bias may be NULL */
  RpTensor *loss;              /* of each row; may be NULL */
  RpTensor *scale; /* factors of the gradients: one for each row or one for all; may be NULL */
  RpTensor *gradient[TARGETS]; /* of the operands; each may be NULL */
} Slices;

static void *data_at(const RpTensor *tensor, int64_t place)
{
  return tensor != NULL
             ? (char *)rp_tensor_data(tensor) + (size_t)place * rp_dtype_size(tensor->dtype)
             : NULL;
}

/* dW += dz^T x and db += part for a slice; `part` is its sum of dz. */
static RpStatus add_slice(const Slices *s, int64_t first, int64_t rows, const RpTensor *dz,
                          const RpTensor *part)
{
  static const int64_t offsets[3] = {0};
  const RpGemm product = {.transpose_a = true,
                          .m = s->out,
                          .n = s->in,
                          .k = rows,
                          .lda = s->out,
                          .ldb = s->in,
                          .ldc = s->in,
                          .accumulate = true};
  RpStatus status = RP_OK;
  if (s->gradient[WEIGHT] != NULL && s->in > 0)
    status = rp_products(dz->dtype)->gemm(&product, 1, offsets, rp_tensor_data(dz),
                                          data_at(s->operand[X], first * s->in),
                                          rp_tensor_data(s->gradient[WEIGHT]));
  if (part != NULL && status == RP_OK)
    status = rp_tensor_accumulate(s->gradient[BIAS], part);
  return status;
}

/* The gradients of a slice from its logits z, which dz overwrites. */
static RpStatus slice_gradients(const Slices *s, int64_t first, int64_t rows, RpTensor *z,
                                const RpTensor *part)
{
  const bool each = rp_tensor_count(s->scale) > 1;
  const bool alone = first == 0; /* the first slice overwrites dW and db, later ones add to them */
  RpTensor *db = alone ? s->gradient[BIAS] : (RpTensor *)part;
  RpStatus status = rp_kernels(z->dtype)->cross_entropy_gradient(
      rows, s->out, rp_tensor_data(z), data_at(s->operand[TARGETS], first), s->ignore,
      data_at(s->scale, each ? first : 0), each ? 1 : 0, rp_tensor_data(z));
  if (status == RP_OK)
    status = rp_products(z->dtype)->linear_gradient(
        rows, s->in, s->out, data_at(s->operand[X], first * s->in),
        rp_tensor_data(s->operand[WEIGHT]), NULL, rp_tensor_data(z),
        data_at(s->gradient[X], first * s->in), data_at(alone ? s->gradient[WEIGHT] : NULL, 0),
        data_at(db, 0));
  return status == RP_OK && !alone ? add_slice(s, first, rows, z, part) : status;
}

/* Compute the requested losses and gradients, slice by slice. */
static RpStatus run(const Slices *s)
{
  const RpDtype dtype = s->operand[X]->dtype;
  RpTensor *z = rp_tensor_new(dtype, 2, (int64_t[]){s->most, s->out}), *part = NULL;
  RpStatus status = z != NULL ? RP_OK : rp_last_status();
  if (status == RP_OK && s->gradient[BIAS] != NULL && s->most < s->rows) {
    part = rp_tensor_new_like(s->gradient[BIAS]);
    status = part != NULL ? RP_OK : rp_last_status();
  }
  int64_t first = 0;
  do { /* at least once: gradients of no rows are 0 */
    const int64_t rows = s->rows - first < s->most ? s->rows - first : s->most;
    if (status == RP_OK)
      status =
          rp_products(dtype)->linear(rows, s->in, s->out, data_at(s->operand[X], first * s->in),
                                     rp_tensor_data(s->operand[WEIGHT]),
                                     data_at(s->operand[BIAS], 0), false, rp_tensor_data(z));
    if (status == RP_OK && s->loss != NULL)
      status = rp_kernels(dtype)->cross_entropy(rows, s->out, rp_tensor_data(z),
                                                data_at(s->operand[TARGETS], first), s->ignore,
                                                data_at(s->loss, first));
    if (status == RP_OK && s->scale != NULL)
      status = slice_gradients(s, first, rows, z, part);
    first += s->most;
  } while (status == RP_OK && first < s->rows);
  rp_tensor_release(z);
  rp_tensor_release(part);
  return status;
}

static RpStatus prepare_gradients(Slices *s, const bool *wanted)
{
  for (int i = 0; i < TARGETS; i++)
    if (wanted[i]) {
      s->gradient[i] = rp_tensor_new_like(s->operand[i]);
      if (s->gradient[i] == NULL)
        return rp_last_status();
    }
  return RP_OK;
}

static void release(Slices *s)
{
  for (int i = 0; i < OPERANDS; i++)
    rp_tensor_release(s->operand[i]);
  for (int i = 0; i < TARGETS; i++)
    rp_tensor_release(s->gradient[i]);
  rp_tensor_release(s->loss);
  rp_tensor_release(s->scale);
}

/* saved: the operands. The gradient of each loss is known only in the backward pass. */
static RpStatus each_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  Slices s = {.rows = node->integers[0],
              .most = node->integers[1],
              .in = node->saved[WEIGHT]->shape[1],
              .out = node->saved[WEIGHT]->shape[0],
              .ignore = (int32_t)node->integers[2]};
  for (int i = 0; i < OPERANDS; i++)
    s.operand[i] = node->saved[i] != NULL ? rp_tensor_retain(node->saved[i]) : NULL;
  s.scale = rp_tensor_contiguous(dy);
  RpStatus status = s.scale != NULL ? RP_OK : rp_last_status();
  bool wanted[TARGETS];
  for (int i = 0; i < TARGETS; i++)
    wanted[i] = rp_node_wants(node, i);
  if (status == RP_OK)
    status = prepare_gradients(&s, wanted);
  if (status == RP_OK)
    status = run(&s);
  for (int i = 0; status == RP_OK && i < TARGETS; i++) {
    gradients[i] = s.gradient[i];
    s.gradient[i] = NULL;
  }
  release(&s);
  return status;
}

/* saved: the gradients for dy = 1. */
static RpStatus mean_backward(RpNode *node, RpTensor *dy, RpTensor **gradients)
{
  const bool is_one = rp_tensor_get(dy, NULL) == 1;
  for (int i = 0; i < TARGETS; i++) {
    if (!rp_node_wants(node, i))
      continue;
    if (is_one) {
      gradients[i] = node->saved[i]; /* the only reference: a parameter may keep it */
      node->saved[i] = NULL;
    } else {
      gradients[i] = rp_tensor_binary(RP_MULTIPLY, node->saved[i], dy);
      if (gradients[i] == NULL)
        return rp_last_status();
    }
  }
  return RP_OK;
}

static RpStatus check(const RpTensor *x, const RpTensor *weight, const RpTensor *bias,
                      const RpTensor *targets)
{
  bool fits = x->rank >= 1 && weight->rank == 2 && x->shape[x->rank - 1] == weight->shape[1] &&
              weight->shape[0] > 0 && targets->rank == x->rank - 1 &&
              (bias == NULL || (bias->rank == 1 && bias->shape[0] == weight->shape[0]));
  for (int i = 0; fits && i < targets->rank; i++)
    fits = x->shape[i] == targets->shape[i];
  if (!fits)
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear_cross_entropy: expected x [..., in], weight [classes, in], bias "
                   "[classes] and targets [...], got %s, %s, %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(weight),
                   bias != NULL ? rp_tensor_shape_text(bias) : "none",
                   rp_tensor_shape_text(targets));
  if (!rp_dtype_is_float(x->dtype) || x->dtype != weight->dtype ||
      (bias != NULL && bias->dtype != x->dtype) || targets->dtype != RP_INT32)
    return rp_fail(
        RP_BAD_ARGUMENT,
        "linear_cross_entropy: expected floats of the same dtype and int32 targets, got x "
        "%s, weight %s, bias %s, targets %s",
        rp_dtype_name(x->dtype), rp_dtype_name(weight->dtype),
        bias != NULL ? rp_dtype_name(bias->dtype) : "none", rp_dtype_name(targets->dtype));
  if (rp_tensor_count(targets) > INT32_MAX || weight->shape[0] > INT32_MAX ||
      weight->shape[1] > INT32_MAX)
    return rp_fail(RP_BAD_ARGUMENT,
                   "linear_cross_entropy: expected sizes up to 2147483647, got %s and %s",
                   rp_tensor_shape_text(x), rp_tensor_shape_text(weight));
  return RP_OK;
}

/* Rows of a slice: `most` or, if that is 0, as many as fill 32 MiB in float32, but at least 64. */
static int64_t rows_of(int64_t most, int64_t rows, int64_t out)
{
  enum { LOGITS = 1 << 23, LEAST = 64 };
  if (most == 0)
    most = LOGITS / out > LEAST ? LOGITS / out : LEAST;
  return most < rows ? most : rows;
}

RpTensor *rp_op_linear_cross_entropy(RpTensor *x, RpTensor *weight, RpTensor *bias,
                                     RpTensor *targets, int32_t ignore, bool each, int64_t most)
{
  static const RpNodeType each_type = {"linear_cross_entropy", each_backward, NULL};
  static const RpNodeType mean_type = {"linear_cross_entropy", mean_backward, NULL};
  RpTensor *const in[] = {x, weight, bias, targets};
  if (check(x, weight, bias, targets) != RP_OK)
    return NULL;
  const int64_t rows = rp_tensor_count(targets), out = weight->shape[0];
  Slices s = {.rows = rows,
              .most = rows_of(most, rows, out),
              .in = weight->shape[1],
              .out = out,
              .ignore = ignore};
  int64_t counted = 1;
  RpStatus status = RP_OK;
  for (int i = 0; i < OPERANDS && status == RP_OK; i++)
    if (in[i] != NULL) {
      s.operand[i] = rp_tensor_contiguous(in[i]);
      status = s.operand[i] != NULL ? RP_OK : rp_last_status();
    }
  if (status == RP_OK)
    status =
        rp_targets_count("linear_cross_entropy", s.operand[TARGETS], out, ignore, !each, &counted);
  if (status == RP_OK) {
    s.loss = rp_tensor_new(x->dtype, targets->rank, targets->shape);
    status = s.loss != NULL ? RP_OK : rp_last_status();
  }
  const bool now = !each && rp_graph_records(TARGETS, in);
  if (status == RP_OK && now) {
    RpTensor *one = rp_tensor_full(x->dtype, 0, NULL, 1);
    s.scale = one != NULL ? rp_targets_scale(one, counted) : NULL;
    rp_tensor_release(one);
    status = s.scale != NULL ? RP_OK : rp_last_status();
  }
  if (status == RP_OK && now)
    status = prepare_gradients(&s, (const bool[]){rp_graph_records(1, &in[X]),
                                                  rp_graph_records(1, &in[WEIGHT]),
                                                  rp_graph_records(1, &in[BIAS])});
  if (status == RP_OK)
    status = run(&s);
  RpTensor *y = NULL;
  if (status == RP_OK)
    y = each ? rp_tensor_retain(s.loss) : rp_targets_mean(s.loss, counted);
  y = each ? rp_graph_record(&each_type, y, TARGETS, in, OPERANDS, s.operand)
           : rp_graph_record(&mean_type, y, TARGETS, in, TARGETS, s.gradient);
  if (y != NULL && y->node != NULL) {
    y->node->integers[0] = s.rows;
    y->node->integers[1] = s.most;
    y->node->integers[2] = ignore;
  }
  release(&s);
  return y;
}
