/* Rotation, and attention with any subset of queries, keys, values and output rotated. */
#ifndef RP_OP_ATTENTION_H
#define RP_OP_ATTENTION_H

#include "core/graph/graph.h"
#include "core/position/rotary.h"

/*
** R_p x for x [batch, heads, time, features] (or fewer leading axes) and the
** positions p of its time axis, or R_p^-1 x if `back` (RoFormer eq. 14), with
** the magnitudes of a part (one RP_ROTATE_... bit).
*/
RpTensor *rp_op_rotate(RpTensor *x, const RpRotary *rotary, unsigned part,
                       const RpPositions *positions, bool back);

/*
** The rotation of queries as a matrix, float64 [dim, dim], for positions that are all
** equal; outside the graph.
*/
RpTensor *rp_rotary_matrix(const RpRotary *rotary, const RpPositions *positions);

typedef struct RpAttentionOptions {
  const RpRotary *rotary;        /* NULL rotates nothing */
  RpPositions queries, keys;     /* positions of the two time axes */
  bool causal;                   /* query i sees keys j <= i + Tk - Tq */
  RpTensor *mask;                /* NULL, or int32, broadcast to [B, H, Tq, Tk]: 0 hides */
  int biases;                    /* number of biases, which are added to the scores */
  RpTensor *bias[RP_MAX_BIASES]; /* floats of the dtype of q, broadcast to [B, H, Tq, Tk], or by
                                    distance, to [B, H, Tq, Tk, R] */
  int64_t first[RP_MAX_BIASES];  /* for a bias of 5 axes: the distance at the first of its R */
  int64_t sums, least;           /* also output weights summed by distance: count, first distance */
  double scale;                  /* of the products; 0 stands for 1 / sqrt(features) */
  double dropout;                /* of the weights, 0 <= p < 1 */
  uint64_t seed;                 /* of the dropout */
  bool linear;                   /* linear attention, without bias, mask, scale and dropout */
  double epsilon;                /* of linear attention: added to denominators, >= 0 */
} RpAttentionOptions;

/*
** Attention of q [B, H, Tq, d], k [B, H, Tk, d], v [B, H, Tk, dv]: [B, H, Tq, dv].
**
**   s_ij = scale (A_i q_i) . (B_j k_j) + c_ij,  a = softmax(s),  o_i = C_i^-1 sum_j a_ij D_j v_j
**
** where A, B, C, D are the rotations at the positions of queries, keys, queries and
** keys, each the identity unless its letter is in `rotate`: "qk" is RoPE (RoFormer eq.
** 16), "qkvo" is RoPER: o_i = sum_j a_ij R_{j-i} v_j. A query that sees no key gives 0.
** The result is stored as [B, Tq, H, dv].
**
** c is the sum of the biases, which may have any strides and are not copied. A bias b
** of five axes is read by distance, clipped to its ends (Shaw et al. 2018, section
** 3.2): c_ij = b[i, j, clip(j - i - first, 0, R - 1)].
**
** With `sums`, the output has `sums` additional features, [B, H, Tq, dv + sums]: the
** sums of the weights, after dropout, at each clipped distance,
**
**   o_{i, dv + r} = sum over j with clip(j - i - least, 0, sums - 1) = r of a_ij
**
** If `linear`, the weights are those of linear attention with phi = elu + 1
** (Katharopoulos et al. 2020), rotated after phi in the numerator only (RoFormer,
** section 3.3). They may be negative and need not sum to 1:
**
**   a_ij = (A_i phi(q_i)) . (B_j phi(k_j)) / (sum_j phi(q_i) . phi(k_j) + epsilon)
**
** Forward and backward then take time in proportion to Tq + Tk, and memory for
** inputs and outputs only: they keep running sums over the keys.
*/
RpTensor *rp_op_attention(RpTensor *q, RpTensor *k, RpTensor *v, const RpAttentionOptions *options);

/* The weights a [B, H, Tq, Tk] that rp_op_attention uses, before dropout; outside the graph. */
RpTensor *rp_attention_weights(RpTensor *q, RpTensor *k, const RpAttentionOptions *options);

/*
** rp_op_attention computed from its definition, slowly: in float64, with an
** explicit R_{j-i} if both sides of a pair are rotated, without tables, tiles,
** running sums, BLAS, graph and dropout. *weights, if not NULL, receives a new
** tensor [B, H, Tq, Tk].
*/
RpTensor *rp_oracle_attention(RpTensor *q, RpTensor *k, RpTensor *v,
                              const RpAttentionOptions *options, RpTensor **weights);

/* Address and strides of a tensor [batch, heads, time, features] or with fewer leading axes. */
RpHeads rp_heads_of(const RpTensor *x);

/* Check shapes, dtypes and options of attention and of its oracle; RP_BAD_ARGUMENT or RP_OK. */
RpStatus rp_attention_check(const RpTensor *q, const RpTensor *k, const RpTensor *v,
                            const RpAttentionOptions *options);

#endif
