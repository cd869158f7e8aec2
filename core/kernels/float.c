/*
** The float kernels. Compiled once for each dtype (REAL_IS_FLOAT 1 or 0) and each
** instruction set; RP_TABLE is the name of the resulting table.
*/
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/base/system.h"
#include "core/kernels/kernels.h"

#include "core/kernels/body/real.h"

#define IS_NAN isnan
#define VALUE REAL
#define FITS(value) true
#define FLOATS(...) __VA_ARGS__

#include "core/kernels/body/any.h"
#include "core/kernels/body/scalar.h"

#include "core/kernels/body/causal_convolution.h"
#include "core/kernels/body/cosine_sine.h"
#include "core/kernels/body/elementwise.h"
#include "core/kernels/body/gradient.h"
#include "core/kernels/body/householder.h"
#include "core/kernels/body/linear_attention.h"
#include "core/kernels/body/norm.h"
#include "core/kernels/body/optimize.h"
#include "core/kernels/body/random.h"
#include "core/kernels/body/rotate.h"
#include "core/kernels/body/rows.h"
#include "core/kernels/body/sort.h"

const RpKernels RP_TABLE = {
    .unary = unary,
    .unary_gradient = unary_gradient,
    .binary = binary,
    .binary_gradient = binary_gradient,
    .compare = compare,
    .where = where,
    .convert = convert,
    .reduce = reduce,
    .argsort = argsort,
    .cumulate = cumulate,
    .softmax = softmax,
    .softmax_gradient = softmax_gradient,
    .cross_entropy = cross_entropy,
    .cross_entropy_gradient = cross_entropy_gradient,
    .layer_norm = layer_norm,
    .layer_norm_gradient = layer_norm_gradient,
    .take_rows = take_rows,
    .put_rows = put_rows,
    .add_to_rows = add_to_rows,
    .gather = gather,
    .scatter_add = scatter_add,
    .uniform = uniform,
    .normal = normal,
    .dropout = dropout,
    .causal_convolution = causal_convolution,
    .causal_convolution_gradient = causal_convolution_gradient,
    .householder_scores = householder_scores,
    .householder_sums = householder_sums,
    .householder_gradient = householder_gradient,
    .cosine_sine = cosine_sine,
    .rotate = rotate,
    .rotate_gradient = rotate_gradient,
    .linear_attention = linear_attention,
    .linear_attention_gradient = linear_attention_gradient,
    .adam = adam,
    .sgd = sgd,
    .sum_of_squares = sum_of_squares,
};
