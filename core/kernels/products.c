/*
** The kernels dominated by matrix products. Compiled once for each dtype
** (REAL_IS_FLOAT 1 or 0) and each instruction set, and for float32 again with
** operands rounded to bfloat16 (ROUNDS_OPERANDS 1); RP_TABLE is the name of the
** resulting table.
*/
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/base/system.h"
#include "core/kernels/kernels.h"

#include "core/kernels/body/real.h"

#include "core/kernels/body/attention.h"
#include "core/kernels/body/gemm.h"
#include "core/kernels/body/linear.h"

const RpProducts RP_TABLE = {
    .gemm = gemm,
    .linear = linear,
#if REAL_IS_FLOAT
    .linear_bfloat16 = linear_bfloat16,
#endif
    .linear_gradient = linear_gradient,
    .attention = attention,
    .attention_weights = attention_weights,
    .attention_gradient = attention_gradient,
};
