/*
** Everything that touches elements is reached through one table a dtype: code
** for the CPU, on memory of the host.
**
** Pointers are to elements of the table's dtype unless said otherwise; sizes
** and strides count elements; matrices are row-major. Kernels check nothing:
** the floors above have. A status other than RP_OK means interrupted or out of
** memory, or RP_BAD_ARGUMENT without a message where int32 overflows.
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

/* C[m, n] (+)= op(A)[m, k] op(B)[k, n]; op transposes where asked. */
typedef struct RpGemm {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  bool accumulate;       /* to what C holds */
  int64_t lda, ldb, ldc; /* elements from one row to the next, as stored */
} RpGemm;

/* A cosine and a sine for each position and pair: [batch, length, pairs], batch 1 or all. */
typedef struct RpTable {
  const void *cosine, *sine;
  int64_t batch_stride; /* 0 where all rows of the batch share positions */
  int64_t pairs;        /* rotated features / 2; 0 rotates nothing */
  int64_t first;        /* of the rotated features */
  bool interleaved;     /* pairs (2t, 2t+1); else (t, t + pairs) */
} RpTable;

/* Where a [batch, heads, time, features] operand lies; features are adjacent. */
typedef struct RpHeads {
  void *data; /* const for inputs */
  int64_t batch, head, time;
} RpHeads;

/*
** Numbers for the scores of [batch, heads, queries, keys]: (b, h, i, j) at the sum of its steps,
** with one step for each that its distance j - i, clipped to least .. most, is above the least.
*/
typedef struct RpBias {
  void *data; /* const where it is added to scores */
  int64_t batch, head, query, key;
  int64_t distance, least, most; /* the step, 0 where the distance does not matter */
} RpBias;

enum { RP_MAX_BIASES = 4 };

typedef struct RpAttention {
  int64_t batch, heads, queries, keys;
  int64_t features, value_features;
  double scale; /* of the products, usually 1 / sqrt(features) */
  int biases;   /* how many are added to the scaled products */
  RpBias bias[RP_MAX_BIASES];
  int64_t sums, least; /* distances, least .. least + sums - 1, that weights are summed by */
  bool causal;         /* query i sees keys j <= i + keys - queries */
  RpTable rotate_query, rotate_key, rotate_value, rotate_output;
  const int32_t *mask; /* NULL, or not 0 where query i may see key j */
  int64_t mask_strides[4];
  double dropout; /* probability that a weight becomes 0 */
  uint64_t seed;  /* of the dropout */
  double epsilon; /* added to the denominators of linear attention */
} RpAttention;

/* What a step of Adam needs; `decay` is decoupled (AdamW), `l2` is added to the gradient. */
typedef struct RpAdam {
  double rate, beta1, beta2, epsilon, decay, l2;
  double correction1, correction2; /* 1 - beta^step */
  double gradient_scale;           /* from clipping; 1 leaves gradients as they are */
} RpAdam;

typedef struct RpSgd {
  double rate, momentum, l2, gradient_scale;
  bool nesterov;
} RpSgd;

typedef struct RpKernels {
  /* operands: x, y;  y = f(x). An int32 that overflows fails, here and in `binary`. */
  RpStatus (*unary)(RpUnary op, const RpLoop *loop, void *const *data);
  /* operands: what the row keeps, x or y or any, dy, dx;  dx = dy f'(x) */
  RpStatus (*unary_gradient)(RpUnary op, const RpLoop *loop, void *const *data);
  /* operands: a, b, y = f(a, b) */
  RpStatus (*binary)(RpBinary op, const RpLoop *loop, void *const *data);
  /* operands: a, b, y, dy and the gradient of b where `right`, else of a; what its row does not
     read may be any */
  RpStatus (*binary_gradient)(RpBinary op, bool right, const RpLoop *loop, void *const *data);
  /* operands: a, b, int32 y = 1 where the relation holds, else 0 */
  RpStatus (*compare)(RpCompare op, const RpLoop *loop, void *const *data);
  /* operands: int32 condition, a, b, y */
  RpStatus (*where)(const RpLoop *loop, void *const *data);
  /* operands: x of this dtype, y of dtype `to`; RP_BAD_ARGUMENT for what int32 cannot hold */
  RpStatus (*convert)(RpDtype to, const RpLoop *loop, void *const *data);

  /*
  ** Reduce the middle axis of x: [outer, n, inner] to y: [outer, inner]. For
  ** maxima and minima `index` (if not NULL) takes the first place, from 0.
  ** A NaN anywhere wins. Sums of floats are carried in float64.
  */
  RpStatus (*reduce)(RpReduction op, int64_t outer, int64_t n, int64_t inner, const void *x,
                     void *y, int32_t *index);
  /* Running sum along the middle axis of [outer, n, inner]; from the end where `reverse`. */
  RpStatus (*cumulate)(int64_t outer, int64_t n, int64_t inner, bool reverse, const void *x,
                       void *y);

  /* The places, from `first`, that sort the middle axis of [outer, n, inner]: equals keep their
     order, NaN is above all numbers. */
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
  /* y = (x - mean) / sqrt(variance + epsilon) * gain + bias; keeps mean and 1/deviation a row.
     Where `mean` is NULL it counts as 0, here and in the gradient; `bias` may be NULL */
  RpStatus (*layer_norm)(int64_t rows, int64_t n, double epsilon, const void *x, const void *gain,
                         const void *bias, void *y, void *mean, void *rstd);
  /* dgain and dbias are summed over rows; each output may be NULL */
  RpStatus (*layer_norm_gradient)(int64_t rows, int64_t n, const void *x, const void *gain,
                                  const void *mean, const void *rstd, const void *dy, void *dx,
                                  void *dgain, void *dbias);

  /* y[o, r] = table[o, index[r]] of table [outer, size, n], index [rows], y [outer, rows, n] */
  RpStatus (*take_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *table,
                        const int32_t *index, void *y);
  /* table[o, index[r]] = y[o, r], and += y[o, r], both in the order of r */
  RpStatus (*put_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *y,
                       const int32_t *index, void *table);
  RpStatus (*add_to_rows)(int64_t outer, int64_t size, int64_t rows, int64_t n, const void *y,
                          const int32_t *index, void *table);
  /*
  ** Middle axis of table: [outer, size, inner] and index, y: [outer, n, inner]:
  ** y[o, i, k] = table[o, index[o, i, k], k], and the sum in the other direction.
  */
  RpStatus (*gather)(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *table,
                     const int32_t *index, void *y);
  RpStatus (*scatter_add)(int64_t outer, int64_t size, int64_t n, int64_t inner, const void *y,
                          const int32_t *index, void *table);

  /* uniform in [0, 1), or standard normal, from the blocks that begin at random.counter */
  RpStatus (*uniform)(RpRandom random, int64_t n, void *y);
  RpStatus (*normal)(RpRandom random, int64_t n, void *y);
  /* y = x / (1 - p) where the draw of the element is at least p, else 0; its own gradient */
  RpStatus (*dropout)(uint64_t seed, double p, int64_t n, const void *x, void *y);

  /* y = x rotated by the table (or back); [batch, heads, time, features] each */
  RpStatus (*rotate)(const RpTable *table, bool back, int64_t batch, int64_t heads, int64_t time,
                     int64_t features, const RpHeads *x, const RpHeads *y);
  /*
  ** Attention with weights (A_i phi(q_i)) . (B_j phi(k_j)) / n_i, phi = elu + 1; no
  ** bias, no mask, no dropout, no scale. n: [batch, heads, queries], the sums of
  ** phi(q_i) . phi(k_j), and epsilon.
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
  /* the sum of squares, in float64, the same for every number of threads */
  double (*sum_of_squares)(int64_t n, const void *x);
} RpKernels;

/* The kernels whose time goes into products of matrices. */
typedef struct RpProducts {
  /* `count` products; operand o of product p starts at offsets[3 p + o]. */
  RpStatus (*gemm)(const RpGemm *gemm, int64_t count, const int64_t *offsets, const void *a,
                   const void *b, void *c);
  /* y = x W^T + bias for x [rows, in], w [out, in], y [rows, out], then ReLU where asked */
  RpStatus (*linear)(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                     const void *bias, bool relu, void *y);
  /* dz = dy, or 0 where y <= 0 (y is NULL without ReLU); dx = dz W, dw = dz^T x, dbias = sum dz
     over rows: each where it is not NULL */
  RpStatus (*linear_gradient)(int64_t rows, int64_t in, int64_t out, const void *x, const void *w,
                              const void *y, const void *dy, void *dx, void *dw, void *dbias);

  /* behind the features of o are the weights after dropout, summed by the clipped distance */
  RpStatus (*attention)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                        const RpHeads *v, const RpHeads *o);
  /* weights before dropout, packed [batch, heads, queries, keys] */
  RpStatus (*attention_weights)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                                void *weights);
  /* gradients of the scores are added to dbias[i] where its data is not NULL: places of two batch
     rows or heads are one where their step is 0, and apart otherwise */
  RpStatus (*attention_gradient)(const RpAttention *attention, const RpHeads *q, const RpHeads *k,
                                 const RpHeads *v, const RpHeads *o, const RpHeads *output_gradient,
                                 const RpHeads *dq, const RpHeads *dk, const RpHeads *dv,
                                 const RpBias *dbias);
} RpProducts;

/*
** Kernels are those of the best instruction set that the build contains and this machine has, or
** of a lesser one that ROPER_KERNELS in the environment names. RP_BAD_ARGUMENT if the build
** contains none that this machine can run; then nothing below may be called.
*/
RpStatus rp_kernels_check(void);

/* Its name, as ROPER_KERNELS has it: "portable", "x86-64-v3", ..., "avx512-bf16" or "amx-bf16". */
const char *rp_kernels_name(RpPrecision operands);

/*
** The kernels for a dtype. The int32 table has only unary, binary, compare, where, convert, reduce
** (maxima and minima), argsort, take_rows, put_rows and gather.
*/
const RpKernels *rp_kernels(RpDtype dtype);

/* The products for a dtype of floats: of float32 with operands as rp_matmul_precision has it. */
const RpProducts *rp_products(RpDtype dtype);

#endif
