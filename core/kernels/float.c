/*
** The float kernels. Built once for each dtype (REAL_IS_FLOAT 1 or 0) and each
** instruction set; RP_TABLE names the table that comes out.
*/
#include <cblas.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#define IS_NAN isnan
#define VALUE REAL
#define FITS(value) true
#define FLOATS(...) __VA_ARGS__
#if REAL_IS_FLOAT
#define REAL float
#define REAL_C(literal) literal##F
#define REAL_EPSILON 0x1p-23F
#define REAL_ABS fabsf
#define REAL_FLOOR floorf
#define REAL_CEIL ceilf
#define REAL_RINT rintf
#define REAL_SQRT sqrtf
#define REAL_EXP expf
#define REAL_LOG logf
#define REAL_LOG1P log1pf
#define REAL_SIN sinf
#define REAL_COS cosf
#define REAL_TANH tanhf
#define REAL_ERF erff
#define REAL_POW powf
#define CBLAS_GEMM cblas_sgemm
#define CBLAS_GEMV cblas_sgemv
#else
#define REAL double
#define REAL_C(literal) literal
#define REAL_EPSILON 0x1p-52
#define REAL_ABS fabs
#define REAL_FLOOR floor
#define REAL_CEIL ceil
#define REAL_RINT rint
#define REAL_SQRT sqrt
#define REAL_EXP exp
#define REAL_LOG log
#define REAL_LOG1P log1p
#define REAL_SIN sin
#define REAL_COS cos
#define REAL_TANH tanh
#define REAL_ERF erf
#define REAL_POW pow
#define CBLAS_GEMM cblas_dgemm
#define CBLAS_GEMV cblas_dgemv
#endif

#include "core/kernels/body/any.h"
#include "core/kernels/body/attention.h"
#include "core/kernels/body/scalar.h"

#include "core/kernels/body/elementwise.h"
#include "core/kernels/body/gemm.h"
#include "core/kernels/body/gradient.h"
#include "core/kernels/body/linear.h"
#include "core/kernels/body/linear_attention.h"
#include "core/kernels/body/norm.h"
#include "core/kernels/body/optimize.h"
#include "core/kernels/body/random.h"
#include "core/kernels/body/rotate.h"
#include "core/kernels/body/rows.h"

const RpKernels RP_TABLE = {
    .unary = unary,
    .unary_gradient = unary_gradient,
    .binary = binary,
    .binary_gradient = binary_gradient,
    .compare = compare,
    .where = where,
    .convert = convert,
    .reduce = reduce,
    .cumulate = cumulate,
    .gemm = gemm,
    .linear = linear,
    .linear_gradient = linear_gradient,
    .softmax = softmax,
    .softmax_gradient = softmax_gradient,
    .cross_entropy = cross_entropy,
    .cross_entropy_gradient = cross_entropy_gradient,
    .layer_norm = layer_norm,
    .layer_norm_gradient = layer_norm_gradient,
    .take_rows = take_rows,
    .add_to_rows = add_to_rows,
    .gather = gather,
    .scatter_add = scatter_add,
    .uniform = uniform,
    .normal = normal,
    .dropout = dropout,
    .rotate = rotate,
    .attention = attention,
    .attention_weights = attention_weights,
    .attention_gradient = attention_gradient,
    .linear_attention = linear_attention,
    .linear_attention_gradient = linear_attention_gradient,
    .adam = adam,
    .sgd = sgd,
    .sum_of_squares = sum_of_squares,
};
