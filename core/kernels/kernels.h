/*
** Kernels: all loops over elements, in one table of functions per dtype. They run
** on the CPU, on host memory.
**
** Pointers are to elements of the table's dtype unless stated otherwise; sizes
** and strides count elements; matrices are row-major. Kernels check nothing: their
** callers do. A kernel returns RP_OK, RP_INTERRUPTED or RP_OUT_OF_MEMORY; if int32
** overflows, RP_BAD_ARGUMENT without a message.
*/
#ifndef RP_KERNELS_H
#define RP_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/machine.h"
#include "core/base/random.h"
#include "core/kernels/loop.h"

typedef enum RpUnary {
#define UNARY(id, ...) RP_##id,
#include "core/kernels/operation/unary.h"
  RP_UNARIES
} RpUnary;

typedef enum RpBinary {
#define BINARY(id, ...) RP_##id,
#include "core/kernels/operation/binary.h"
  RP_BINARIES
} RpBinary;

typedef enum RpCompare {
#define COMPARE(id, ...) RP_##id,
#include "core/kernels/operation/compare.h"
} RpCompare;

typedef enum RpReduction { RP_SUM, RP_MEAN, RP_MAX, RP_MIN } RpReduction;

/* C[m, n] (+)= op(A)[m, k] op(B)[k, n], where op may transpose. */
typedef struct RpGemm {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  bool accumulate;       /* add to C instead of overwriting it */
  int64_t lda, ldb, ldc; /* elements from one row to the next, as stored */
} RpGemm;

/*
** Cosines and sines for each position and pair, pairs adjacent: [1 or batch, length, pairs]; for
** `rotate`, [1 or batch, 1 or heads, length, pairs].
*/
typedef struct RpTable {
  const void *cosine, *sine;
  int64_t batch_stride; /* 0 if all rows of the batch share positions */
  int64_t head_stride;  /* 0 if all heads share positions; only `rotate` reads it */
  int64_t time_stride;
  int64_t pairs;    /* rotated features / 2; 0 rotates nothing */
  int64_t first;    /* index of the first rotated feature */
  bool interleaved; /* pairs (2t, 2t+1); else (t, t + pairs) */
} RpTable;

/* Address and strides of a [batch, heads, time, features] operand; features are adjacent. */
typedef struct RpHeads {
  void *data; /* const for inputs */
  int64_t batch, head, time;
} RpHeads;

/*
** A bias of the scores [batch, heads, queries, keys], by strides. Element (b, h, i, j) is at
** b batch + h head + i query + j key + (clip(j - i, least, most) - least) distance.
*/
typedef struct RpBias {
  void *data; /* const if it is added to scores */
  int64_t batch, head, query, key;
  int64_t distance, least, most; /* stride, 0 if the distance has no effect; range of distances */
} RpBias;

enum { RP_MAX_BIASES = 4 };

typedef struct RpAttention {
  int64_t batch, heads, queries, keys;
  int64_t group; /* consecutive heads of queries that share a head of keys and values */
  int64_t features, value_features;
  double scale; /* factor of the products, usually 1 / sqrt(features) */
  int biases;   /* number of biases, added to the scaled products */
  RpBias bias[RP_MAX_BIASES];
  int64_t sums, least; /* weights are summed by distance, clipped to least .. least + sums - 1 */
  bool causal;         /* query i sees keys j <= i + keys - queries */
  RpTable rotate_query, rotate_key, rotate_value, rotate_output;
  const int32_t *mask; /* NULL, or 0 where query i must not see key j */
  int64_t mask_strides[4];
  double dropout; /* probability that a weight becomes 0 */
  uint64_t seed;  /* of the dropout */
  double epsilon; /* added to the denominators of linear attention */
} RpAttention;

/*
** Operands of products of the maps H_t = I - beta_t w_t w_t^T, packed: q [units, queries,
** features], of the last tokens; a [units, queries, keys], whose elements for tokens after the
** query are not read; k and w [units, keys, features]; beta [units, keys]. queries <= keys.
*/
typedef struct RpHouseholder {
  int64_t units, queries, keys, features;
  const void *q, *a, *k, *w, *beta;
} RpHouseholder;

typedef struct RpHouseholderGradient {
  void *q, *a, *k, *w, *beta;
} RpHouseholderGradient;

/* Settings of a step of Adam. `decay` is decoupled (AdamW); l2 * w is added to the gradient. */
typedef struct RpAdam {
  double rate, beta1, beta2, epsilon, decay, l2;
  double correction1, correction2; /* 1 - beta^step */
  double gradient_scale;           /* from clipping; 1 leaves gradients unchanged */
} RpAdam;

typedef struct RpSgd {
  double rate, momentum, l2, gradient_scale;
  bool nesterov;
} RpSgd;

typedef struct RpKernels {
  /* operands: x, y;  y = f(x). RP_BAD_ARGUMENT if int32 overflows, here and in `binary`. */
  RpStatus (*unary)(RpUnary op, const RpLoop *loop, void *const *data);
  /* operands: the value that the row keeps, x or y (ignored if none), dy, dx;  dx = dy f'(x) */
  RpStatus (*unary_gradient)(RpUnary op, const RpLoop *loop, void *const *data);
  /* operands: a, b, y = f(a, b) */
  RpStatus (*binary)(RpBinary op, const RpLoop *loop, void *const *data);
  /* operands: a, b, y, dy and the gradient of b if `right`, else of a; those of a, b and y that the
     row does not read are ignored */
  RpStatus (*binary_gradient)(RpBinary op, bool right, const RpLoop *loop, void *const *data);
  /* operands: a, b, int32 y = 1 where the relation holds, else 0 */
  RpStatus (*compare)(RpCompare op, const RpLoop *loop, void *const *data);
  /* operands: int32 condition, a, b, y */
  RpStatus (*where)(const RpLoop *loop, void *const *data);
  /* operands: x of this dtype, y of dtype `to`; RP_BAD_ARGUMENT if a number does not fit int32 */
  RpStatus (*convert)(RpDtype to, const RpLoop *loop, void *const *data);

  /*
  ** Reduce the middle axis of x: [outer, n, inner] to y: [outer, inner]. For
  ** maxima and minima, `index` (if not NULL) receives the index, from 0, of the
  ** first such element. The result is NaN if any element is NaN. Sums are
  ** accumulated in float64.
  */
  RpStatus (*reduce)(RpReduction op, int64_t outer, int64_t n, int64_t inner, const void *x,
                     void *y, int32_t *index);
  /* Cumulative sum along the middle axis of [outer, n, inner]; from the end if `reverse`. */
  RpStatus (*cumulate)(int64_t outer, int64_t n, int64_t inner, bool reverse, const void *x,
                       void *y);

  /* The indices, from `first`, that sort the middle axis of [outer, n, inner]: stable, and NaN
     counts as larger than all numbers. */
  RpStatus (*argsort)(int64_t outer, int64_t n, int64_t inner, bool descending, int first,
                      const void *x, int32_t *index);

  /* along rows of n: y = softmax(x), or log softmax(x) */
  RpStatus (*softmax)(bool logarithm, int64_t rows, int64_t n, const void *x, void *y);
  RpStatus (*softmax_gradient)(bool logarithm, int64_t rows, int64_t n, const void *y,
                               const void *dy, void *dx);
  /* loss[row] = log sum exp(x - max x) - (x[target] - max x); rows with target `ignore` give 0 */
  RpStatus (*cross_entropy)(int64_t rows, int64_t n, const void *x, const int32_t *target,
                            int32_t ignore, void *loss);
  /* dx = scale[row * scale_stride] (softmax(x) - one-hot); ignored rows give 0 */
  RpStatus (*cross_entropy_gradient)(int64_t rows, int64_t n, const void *x, const int32_t *target,
                                     int32_t ignore, const void *scale, int64_t scale_stride,
                                     void *dx);
  /* y = (x - mean) / sqrt(variance + epsilon) * gain + bias; writes the mean and
     rstd = 1 / sqrt(variance + epsilon) of each row. If `mean` is NULL, all means are taken as 0,
     here and in the gradient; `bias` may be NULL */
  RpStatus (*layer_norm)(int64_t rows, int64_t n, double epsilon, const void *x, const void *gain,
                         const void *bias, void *y, void *mean, void *rstd);
  /* dgain and dbias are summed over rows; each output may be NULL */
  RpStatus (*layer_norm_gradient)(int64_t rows, int64_t n, const void *x, const void *gain,
                                  const void *mean, const void *rstd, const void *dy, void *dx,
                                  void *dgain, void *dbias);

  /* y[o, r] = table[o, index[r]] of table [outer, size, n], index [rows], y [outer, rows, n] */
  RpStatus (*take_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *table,
                        const int32_t *index, void *y);
  /* put_rows: table[o, index[r]] = y[o, r]; add_to_rows: table[o, index[r]] += y[o, r]; both in the
     order of r */
  RpStatus (*put_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *y,
                       const int32_t *index, void *table);
  RpStatus (*add_to_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *y,
                          const int32_t *index, void *table);
  /*
  ** Along the middle axis of table: [outer, size, inner], with index and y:
  ** [outer, n, inner]. gather: y[o, i, k] = table[o, index[o, i, k], k];
  ** scatter_add: table[o, index[o, i, k], k] += y[o, i, k].
  */
  RpStatus (*gather)(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *table,
                     const int32_t *index, void *y);
  RpStatus (*scatter_add)(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *y,
                          const int32_t *index, void *table);

  /* uniform in [0, 1), and standard normal, from the blocks that begin at random.counter */
  RpStatus (*uniform)(RpRandom random, int64_t n, void *y);
  RpStatus (*normal)(RpRandom random, int64_t n, void *y);
  /* y = x / (1 - p) if the element's draw is at least p, else 0; also computes the gradient */
  RpStatus (*dropout)(uint64_t seed, double p, int64_t n, const void *x, void *y);

  /*
  ** y[b, t, c] = sum over k of weight[c, k] x[b, t - (width - 1 - k), c], without terms before
  ** t = 0; if `ahead`, of weight[c, k] x[b, t + (width - 1 - k), c], without terms after the end,
  ** which is the gradient of x. Packed: x and y [batch, time, channels], weight [channels, width].
  */
  RpStatus (*causal_convolution)(bool ahead, int64_t batch, int64_t time, int64_t channels,
                                 int64_t width, const void *x, const void *weight, void *y);
  /* dweight[c, k] = sum over b and t of dy[b, t, c] x[b, t - (width - 1 - k), c] */
  RpStatus (*causal_convolution_gradient)(int64_t batch, int64_t time, int64_t channels,
                                          int64_t width, const void *x, const void *dy,
                                          void *dweight);

  /* s_ij = q_i . H_i ... H_{j+1} k_j, 0 for tokens after the query, [units, queries, keys] */
  RpStatus (*householder_scores)(const RpHouseholder *h, void *s);
  /* y_i = sum over j of a_ij H_i ... H_{j+1} k_j, [units, queries, features] */
  RpStatus (*householder_sums)(const RpHouseholder *h, void *y);
  /* The gradients of the sum over i and j of a_ij q_i . H_i ... H_{j+1} k_j. Those of q and of a
     may be NULL. */
  RpStatus (*householder_gradient)(const RpHouseholder *h, const RpHouseholderGradient *to);

  /* cosines and sines of n float64 angles; relative error below 2 units in the last place */
  RpStatus (*cosine_sine)(int64_t n, const double *angle, void *cosine, void *sine);
  /* y = x rotated by the table, or by its inverse if `back`; [batch, heads, time, features] each */
  RpStatus (*rotate)(const RpTable *table, bool back, int64_t batch, int64_t heads, int64_t time,
                     int64_t features, const RpHeads *x, const RpHeads *y);
  /*
  ** The gradients of `rotate` for a table of pairs (t, t + pairs) from feature 0 on: dx (unless
  ** NULL) and, in float64, that of the angles, with the strides of the table, each summed over
  ** the vectors that it rotated. dy must not be empty.
  */
  RpStatus (*rotate_gradient)(const RpTable *table, bool back, int64_t batch, int64_t heads,
                              int64_t time, int64_t features, const RpHeads *y, const RpHeads *dy,
                              const RpHeads *dx, double *dangle);
  /*
  ** Attention with weights (A_i phi(q_i)) . (B_j phi(k_j)) / n_i, phi = elu + 1,
  ** without bias, mask, dropout and scale. n: [batch, heads, queries], with
  ** n_i = sum_j phi(q_i) . phi(k_j) + epsilon.
  */
  RpStatus (*linear_attention)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                               const RpHeads *v, const RpHeads *o, void *n);
  RpStatus (*linear_attention_gradient)(const RpAttention *attention, const RpHeads *q,
                                        const RpHeads *k, const RpHeads *v, const RpHeads *o,
                                        const RpHeads *output_gradient, const void *n,
                                        const RpHeads *dq, const RpHeads *dk, const RpHeads *dv);

  RpStatus (*adam)(const RpAdam *adam, int64_t n, void *w, const void *gradient, void *mean,
                   void *variance);
  RpStatus (*sgd)(const RpSgd *sgd, int64_t n, void *w, const void *gradient, void *velocity);
  /* the sum of the squares of x * scale, in float64; the same for any number of threads */
  double (*sum_of_squares)(int64_t n, const void *x, double scale);
} RpKernels;

/* Kernels dominated by matrix products. */
typedef struct RpProducts {
  /* `count` products; operand o of product p starts at offsets[3 p + o]. */
  RpStatus (*gemm)(const RpGemm *gemm, int64_t count, const int64_t *offsets, const void *a,
                   const void *b, void *c);
  /* y = x W^T + bias for x [rows, in], w [out, in], y [rows, out], then ReLU if `relu` */
  RpStatus (*linear)(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                     const void *bias, bool relu, void *y);
  /* The same for float32 with w of bfloat16, rows padded to an even length. NULL for float64. */
  RpStatus (*linear_bfloat16)(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                              const void *bias, bool relu, void *y);
  /* dz = dy, or 0 where y <= 0 (y is NULL without ReLU); dx = dz W, dw = dz^T x, dbias = sum dz
     over rows. Each of dx, dw and dbias may be NULL */
  RpStatus (*linear_gradient)(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                              const void *y, const void *dy, void *dx, void *dw, void *dbias);

  /*
  ** The last `sums` features of o are the weights after dropout, summed by clipped distance.
  ** softmax: for each query the largest score and the sum of the exponentials of all scores minus
  ** it, [batch, heads, queries, 2], or NULL; the gradient needs it.
  */
  RpStatus (*attention)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                        const RpHeads *v, const RpHeads *o, void *softmax);
  /* weights before dropout, packed [batch, heads, queries, keys] */
  RpStatus (*attention_weights)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                                void *weights);
  /* The gradients of the scores are added to dbias[i] unless its data is NULL. If its batch (or
     head) stride is not 0, batch rows (or heads) must not share elements. */
  RpStatus (*attention_gradient)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                                 const RpHeads *v, const RpHeads *o, void *softmax,
                                 const RpHeads *output_gradient, const RpHeads *dq,
                                 const RpHeads *dk, const RpHeads *dv, const RpBias *dbias);
} RpProducts;

/*
** RP_OK if the build contains kernels that this machine can run. The best instruction set that the
** build and the machine support is used, or a lower one that the environment variable ROPER_KERNELS
** names. If the result is RP_BAD_ARGUMENT, the functions below must not be called.
*/
RpStatus rp_kernels_check(void);

/*
** The name of the instruction set in use: "portable", "neon" for the portable kernels of arm64,
** "x86-64-v3", "x86-64-v4", "avx512-bf16" or "amx-bf16".
*/
const char *rp_kernels_name(RpPrecision operands);

/*
** The kernels of a dtype. The int32 table contains only unary, binary, compare, where, convert,
** reduce (maxima and minima), argsort, take_rows, put_rows and gather.
*/
const RpKernels *rp_kernels(RpDtype dtype);

/* The products of a float dtype; operands of float32 are rounded to rp_matmul_precision(). */
const RpProducts *rp_products(RpDtype dtype);

#endif
