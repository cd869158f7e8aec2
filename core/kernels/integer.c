/* The int32 kernels: what token ids, masks and indices need. */
#include <stdatomic.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/kernels/kernels.h"

#define REAL int32_t
#define IS_NAN(x) false

#include "core/kernels/body/any.h"
#include "core/kernels/body/integer.h"

const RpKernels rp_kernels_int32 = {
    .unary = unary,
    .binary = binary,
    .compare = compare,
    .where = where,
    .convert = convert,
    .reduce = reduce,
    .take_rows = take_rows,
    .add_to_rows = add_to_rows,
    .gather = gather,
    .scatter_add = scatter_add,
};
