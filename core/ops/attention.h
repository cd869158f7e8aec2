/* Rotation, and attention with any subset of queries, keys, values and output rotated. */
#ifndef RP_OP_ATTENTION_H
#define RP_OP_ATTENTION_H

#include "core/graph/graph.h"
#include "core/position/rotary.h"

/*
** R_p x, or R_p^-1 x if `back`, for x [batch, heads, time, features] (or fewer
** leading axes) and the positions p of its time axis (RoFormer eq. 14), with the
** pairs and magnitudes of one part (an RP_ROTATE_... bit).
*/
RpTensor *rp_op_rotate(RpTensor *x, const RpRotary *rotary, unsigned part,
                       const RpPositions *positions, bool back);

/*
** x [batch, heads, time, features] rotated by given angles [1 or batch, 1 or heads, time, pairs],
** or by their negatives if `back`, with pairs (t, t + pairs) and 2 pairs <= features:
**
**   y_t           = x_t cos a_t - x_{t + pairs} sin a_t
**   y_{t + pairs} = x_{t + pairs} cos a_t + x_t sin a_t
**
** The other features are copied. Both may have fewer leading axes; sizes of 1 are then implied.
** The dtype of the angles may differ from that of x; they are reduced in float64. Cosines and
** sines are kept in the storage of `angle` for further calls with the same view.
** d angle_t = dy_{t + pairs} y_t - dy_t y_{t + pairs} (its negative if `back`), summed over
** broadcast axes.
*/
RpTensor *rp_op_rotate_by(RpTensor *x, RpTensor *angle, bool back);

/*
** The rotation of queries at one position as a matrix, float64 [dim, dim]; outside the
** graph. `positions` must contain dim positions, all equal.
*/
RpTensor *rp_rotary_matrix(const RpRotary *rotary, const RpPositions *positions);

typedef struct RpAttentionOptions {
  const RpRotary *rotary;        /* NULL rotates nothing */
  RpPositions queries, keys;     /* positions of the two time axes */
  bool causal;                   /* query i sees keys j <= i + Tk - Tq */
  RpTensor *mask;                /* NULL, or int32, broadcast to [B, H, Tq, Tk]: 0 hides */
  int biases;                    /* number of biases, which are added to the scores */
  RpTensor *bias[RP_MAX_BIASES]; /* of the dtype of q, broadcast to [B, H, Tq, Tk] or, for a bias
                                    that depends on the distance, to [B, H, Tq, Tk, R] */
  int64_t first[RP_MAX_BIASES];  /* for a bias with 5 axes: the distance of its first element */
  int64_t sums, least;           /* append sums of weights by distance: count, first distance */
  double scale;                  /* factor of the products; 0 means 1 / sqrt(features) */
  double dropout;                /* of the weights, 0 <= p < 1 */
  uint64_t seed;                 /* of the dropout */
  bool linear;                   /* linear attention; it has no bias, mask, scale or dropout */
  double epsilon;                /* of linear attention: added to denominators, >= 0 */
} RpAttentionOptions;

/*
** Attention of q [B, H, Tq, d], k [B, G, Tk, d], v [B, G, Tk, dv]: [B, H, Tq, dv]. G divides
** H; head h of the queries attends to head h G / H of keys and values, rounded down
** (grouped-query attention, Ainslie et al. 2023). Linear attention takes only G = H.
**
**   s_ij = scale (A_i q_i) . (B_j k_j) + c_ij,  a = softmax(s),  o_i = C_i^-1 sum_j a_ij D_j v_j
**
** A and C are rotations at the positions of the queries, B and D at those of the keys;
** each is the identity unless its letter (q, k, v, o for A, B, D, C) is in `rotate`. "qk"
** is RoPE (RoFormer eq. 16), "qkvo" is RoPER: o_i = sum_j a_ij R_{j-i} v_j. The output
** of a query that sees no key is 0. The result is stored as [B, Tq, H, dv].
**
** c is the sum of the biases, which may have any strides and are not copied. A bias b
** with five axes is indexed by the clipped distance (Shaw et al. 2018, section 3.2):
** c_ij = b[i, j, clip(j - i - first, 0, R - 1)].
**
** With `sums`, the output has `sums` additional features, [B, H, Tq, dv + sums]: for
** each clipped distance, the sum of the weights after dropout,
**
**   o_{i, dv + r} = sum over j with clip(j - i - least, 0, sums - 1) = r of a_ij
**
** If `linear`, the weights are those of linear attention with phi = elu + 1
** (Katharopoulos et al. 2020), rotated after phi in the numerator only (RoFormer,
** section 3.3). They may be negative and need not sum to 1:
**
**   a_ij = (A_i phi(q_i)) . (B_j phi(k_j)) / (sum_j phi(q_i) . phi(k_j) + epsilon)
**
** Forward and backward then keep running sums over the keys: their time is
** proportional to Tq + Tk, and their memory is that of inputs and outputs.
*/
RpTensor *rp_op_attention(RpTensor *q, RpTensor *k, RpTensor *v, const RpAttentionOptions *options);

/* The weights a [B, H, Tq, Tk] that rp_op_attention uses, before dropout; outside the graph. */
RpTensor *rp_attention_weights(RpTensor *q, RpTensor *k, const RpAttentionOptions *options);

/*
** The reference implementation of rp_op_attention: slow, in float64, directly from
** the definition. It applies R_{j-i} explicitly if both q and k, or both v and o,
** are rotated, and uses no tables, tiles, running sums or BLAS. It ignores dropout
** and records nothing. *weights, if `weights` is not NULL, receives a new tensor
** [B, H, Tq, Tk].
*/
RpTensor *rp_oracle_attention(RpTensor *q, RpTensor *k, RpTensor *v,
                              const RpAttentionOptions *options, RpTensor **weights);

/* Address and strides of a tensor [batch, heads, time, features] or with fewer leading axes. */
RpHeads rp_heads_of(const RpTensor *x);

/* x itself if its features are adjacent in memory, else a packed copy. */
RpTensor *rp_heads_operand(RpTensor *x);

/* A new tensor [B, H, T, d] stored as [B, T, H, d]: heads are then joined without a copy. */
RpTensor *rp_heads_time_major(RpDtype dtype, const int64_t *shape);

/* Check shapes, dtypes and options of attention and of its oracle; RP_BAD_ARGUMENT or RP_OK. */
RpStatus rp_attention_check(const RpTensor *q, const RpTensor *k, const RpTensor *v,
                            const RpAttentionOptions *options);

#endif
