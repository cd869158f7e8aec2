/* Rotation, and attention with any subset of query, key, value and output rotated. */
#ifndef RP_OP_ATTENTION_H
#define RP_OP_ATTENTION_H

#include "core/graph/graph.h"
#include "core/position/rotary.h"

/*
** R_p x for x [batch, heads, time, features] (or fewer leading axes) and the
** positions p of its time axis, or R_p^-1 x where `back` (RoFormer eq. 14), with
** the magnitudes of a part (one RP_ROTATE_... bit).
*/
RpTensor *rp_op_rotate(RpTensor *x, const RpRotary *rotary, unsigned part,
                       const RpPositions *positions, bool back);

/*
** The rotation of queries, where all positions are one, as a matrix, float64
** [dim, dim]; outside the graph.
*/
RpTensor *rp_rotary_matrix(const RpRotary *rotary, const RpPositions *positions);

typedef struct RpAttentionOptions {
  const RpRotary *rotary;        /* NULL rotates nothing */
  RpPositions queries, keys;     /* positions of the two time axes */
  bool causal;                   /* query i sees keys j <= i + Tk - Tq */
  RpTensor *mask;                /* NULL, or int32, broadcast to [B, H, Tq, Tk]: 0 hides */
  int biases;                    /* how many of these are added to the scores */
  RpTensor *bias[RP_MAX_BIASES]; /* floats of the dtype of q, broadcast to [B, H, Tq, Tk], or by
                                    distance, to [B, H, Tq, Tk, R] */
  int64_t first[RP_MAX_BIASES];  /* the distance at the first of the R places of a bias of 5 axes */
  int64_t sums, least;           /* also give the weights, summed by so many distances, from this */
  double scale;                  /* of the products; 0 stands for 1 / sqrt(features) */
  double dropout;                /* of the weights, 0 <= p < 1 */
  uint64_t seed;                 /* of the dropout */
  bool linear;                   /* linear attention, without bias, mask, scale and dropout */
  double epsilon;                /* for it: added to the denominators, >= 0 */
} RpAttentionOptions;

/*
** Attention of q [B, H, Tq, d], k [B, H, Tk, d], v [B, H, Tk, dv]: [B, H, Tq, dv].
**
**   s_ij = scale (A_i q_i) . (B_j k_j) + c_ij,  a = softmax(s),  o_i = C_i^-1 sum_j a_ij D_j v_j
**
** where A, B, C, D are the rotations at the positions of queries, keys, queries and
** keys, each the identity unless its letter is in `rotate`: "qk" is RoPE (RoFormer eq.
** 16), "qkvo" is RoPER: o_i = sum_j a_ij R_{j-i} v_j. A query that sees no key gives 0.
** The result lies in memory as [B, Tq, H, dv].
**
** c is the sum of the biases, read where they lie, whatever their strides. A bias b of
** five axes is read by distance, those beyond its ends at the ends (Shaw et al. 2018,
** section 3.2): c_ij = b[i, j, clip(j - i - first, 0, R - 1)].
**
** With `sums`, the output has as many features more, [B, H, Tq, dv + sums]: the weights
** after dropout that stand at one clipped distance,
**
**   o_{i, dv + r} = sum over j with clip(j - i - least, 0, sums - 1) = r of a_ij
**
** Where `linear`, the weights are those of linear attention, with phi = elu + 1
** (Katharopoulos et al. 2020), rotated after phi in the numerator alone
** (RoFormer, section 3.3), so that they may be negative and need not sum to 1:
**
**   a_ij = (A_i phi(q_i)) . (B_j phi(k_j)) / (sum_j phi(q_i) . phi(k_j) + epsilon)
**
** It then takes time in proportion to Tq + Tk, forward and backward, and memory
** for inputs and outputs alone: sums over keys run along with the queries.
*/
RpTensor *rp_op_attention(RpTensor *q, RpTensor *k, RpTensor *v, const RpAttentionOptions *options);

/* The weights a [B, H, Tq, Tk] that rp_op_attention uses, before dropout; outside the graph. */
RpTensor *rp_attention_weights(RpTensor *q, RpTensor *k, const RpAttentionOptions *options);

/*
** The same as rp_op_attention from its definition: float64 throughout, a sum
** over explicit R_{j-i} wherever both sides of a pair are rotated, no tables,
** no tiles, no running sums, no BLAS, and no graph. Slow; no dropout. *weights,
** if not NULL, receives a new [B, H, Tq, Tk].
*/
RpTensor *rp_oracle_attention(RpTensor *q, RpTensor *k, RpTensor *v,
                              const RpAttentionOptions *options, RpTensor **weights);

/* Where a tensor [batch, heads, time, features] lies; axes may be missing in front. */
RpHeads rp_heads_of(const RpTensor *x);

/* The check that both share: RP_BAD_ARGUMENT names shapes, dtypes or options that do not fit. */
RpStatus rp_attention_check(const RpTensor *q, const RpTensor *k, const RpTensor *v,
                            const RpAttentionOptions *options);

#endif
