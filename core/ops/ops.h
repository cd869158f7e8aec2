/*
** Differentiable operations. A file in this folder implements the checks of shapes,
** the forward and the backward function of each. All return a new tensor, which the
** caller owns, or NULL with a message, and record a node if a gradient flows through
** an input. Axes count from 0.
*/
#ifndef RP_OPS_H
#define RP_OPS_H

#include "core/graph/graph.h"
#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/* f(x), element-wise. int32 takes neg, abs, sign, square, floor, ceil, round, relu. */
RpTensor *rp_op_unary(RpUnary op, RpTensor *x);

/* a op b, element-wise, broadcast. Gradients are summed over broadcast axes. */
RpTensor *rp_op_binary(RpBinary op, RpTensor *a, RpTensor *b);

/* a where condition (int32) is not 0, else b; broadcast. */
RpTensor *rp_op_where(RpTensor *condition, RpTensor *a, RpTensor *b);

/* x as another dtype; the gradient comes back in the dtype of x. */
RpTensor *rp_op_convert(RpTensor *x, RpDtype dtype);

/*
** Sum, mean, maximum or minimum over `axis`, or over all axes (RP_ALL_AXES). If
** `keep`, the axis remains with size 1. If several elements equal the maximum or
** minimum, the gradient goes to the first.
*/
RpTensor *rp_op_reduce(RpReduction op, RpTensor *x, int axis, bool keep);

/* The same over the axes i with axes[i] set; at least one must be. */
RpTensor *rp_op_reduce_axes(RpReduction op, RpTensor *x, const bool *axes, bool keep);

/* Cumulative sum along an axis: y_i = x_1 + ... + x_i; float64 for int32. */
RpTensor *rp_op_cumulative_sum(RpTensor *x, int axis);

/* x in another shape; one size may be -1 and is inferred. Shares storage if strides allow. */
RpTensor *rp_op_reshape(RpTensor *x, int rank, const int64_t *shape);

/* x with its axes in another order: axis i of the result is axis order[i] of x. Shares storage. */
RpTensor *rp_op_permute(RpTensor *x, const int *order);

/* Indices start .. start + size - 1 of an axis. Shares storage. */
RpTensor *rp_op_narrow(RpTensor *x, int axis, int64_t start, int64_t size);

/* x broadcast to a shape, by strides of 0. Shares storage. */
RpTensor *rp_op_expand(RpTensor *x, int rank, const int64_t *shape);

/* The concatenation of count >= 1 tensors of one dtype along an axis; other sizes must be equal. */
RpTensor *rp_op_concatenate(int count, RpTensor *const *x, int axis);

/* y[..., i, ...] = x[..., index[..., i, ...], ...]. `index` is int32, counts from `first`, and has
   the shape of x except along the axis. */
RpTensor *rp_op_gather(RpTensor *x, int axis, RpTensor *index, int first);

/* x at the indices or mask in `keys`, for the axes from `axis` on; see rp_tensor_rows_of. */
RpTensor *rp_op_index(RpTensor *x, int axis, int count, RpTensor *const *keys);

/* x at int32 indices (from 1) of one axis, which the axes of the index replace. */
RpTensor *rp_op_index_select(RpTensor *x, int axis, RpTensor *index);

/* Rows of table [n, d] by int32 index [...] from 0: [..., d]. */
RpTensor *rp_op_embedding(RpTensor *table, RpTensor *index);

/* [..., m, k] times [..., k, n]; leading axes broadcast. */
RpTensor *rp_op_matmul(RpTensor *a, RpTensor *b);

/* x W^T + b with x [..., in], W [out, in], b [out] or NULL: [..., out]; then ReLU if `relu`. */
RpTensor *rp_op_linear(RpTensor *x, RpTensor *weight, RpTensor *bias, bool relu);

/*
** float32 x rounded to bfloat16 (to nearest, ties to even). Each int32 element has two
** adjacent ones of the last axis, the first in its lower half; an odd axis is padded
** with 0.
*/
RpTensor *rp_pack_bfloat16(RpTensor *x);

/*
** rp_op_linear with W from rp_pack_bfloat16, x, b and sums in float32; without gradients:
** RP_BAD_ARGUMENT if recording is on and x or b has one.
*/
RpTensor *rp_linear_bfloat16(RpTensor *x, RpTensor *weight, RpTensor *bias, bool relu);

/* exp(x_i - log sum_j exp x_j) along an axis, or its logarithm. */
RpTensor *rp_op_softmax(RpTensor *x, int axis, bool logarithm);

/*
** The mean over rows of log sum_j exp x_j - x_target, for logits [..., n] and int32
** targets [...] from 0. Rows whose target is `ignore` do not count. The result is a
** scalar; if `each`, one loss per row, [...], 0 for ignored rows.
*/
RpTensor *rp_op_cross_entropy(RpTensor *logits, RpTensor *targets, int32_t ignore, bool each);

/*
** rp_op_cross_entropy of x W^T + b, with x [..., in], weight [n, in], bias [n] or
** NULL, and targets [...]. Logits are computed for at most `most` rows at a time; 0
** means as many as fill 32 MiB in float32, but at least 64. If `most` is at least the
** number of rows, the result is bit-identical to that of rp_op_linear and
** rp_op_cross_entropy. For the mean, the forward pass computes the gradients and
** keeps them until the backward pass.
*/
RpTensor *rp_op_linear_cross_entropy(RpTensor *x, RpTensor *weight, RpTensor *bias,
                                     RpTensor *targets, int32_t ignore, bool each, int64_t most);

/*
** (x - mean) / sqrt(variance + epsilon) * gain + bias over the last axis
** (Ba, Kiros, Hinton 2016): x [..., d], gain [d], bias [d].
*/
RpTensor *rp_op_layer_norm(RpTensor *x, RpTensor *gain, RpTensor *bias, double epsilon);

/* x / sqrt(mean(x^2) + epsilon) * gain over the last axis (Zhang, Sennrich 2019). */
RpTensor *rp_op_rms_norm(RpTensor *x, RpTensor *gain, double epsilon);

/*
** The depthwise causal convolution of x [batch, time, channels] by weight [channels, width]:
** y_tc = sum over k of weight_ck x_{t - (width - 1 - k), c}, with zeros before the first time step.
*/
RpTensor *rp_op_causal_convolution(RpTensor *x, RpTensor *weight);

/*
** Products of vectors that pass H_t = I - beta_t w_t w_t^T of each token t on the way from a key to
** a query (Yang et al. 2025, section 2): of q [batch, heads, queries, features], of the last
** tokens, and k [batch, heads, keys, features], for w of the shape of k and beta [batch, heads,
** keys]. The result is [batch, heads, queries, keys], 0 for keys after the query.
*/
RpTensor *rp_op_householder_scores(RpTensor *q, RpTensor *k, RpTensor *w, RpTensor *beta);

/*
** The sums of v [batch, heads, keys, features] with weights a [batch, heads, queries, keys] after
** the same maps, [batch, heads, queries, features]; weights of keys after the query count as 0.
*/
RpTensor *rp_op_householder_sums(RpTensor *a, RpTensor *v, RpTensor *w, RpTensor *beta);

/* 0 with probability p (0 <= p < 1, drawn by Philox(seed)), else x / (1 - p). */
RpTensor *rp_op_dropout(RpTensor *x, double p, uint64_t seed);

#endif
