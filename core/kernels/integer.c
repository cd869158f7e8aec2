/* The int32 kernels, for token ids, masks and indices. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/interrupt.h"
#include "core/base/memory.h"
#include "core/base/system.h"
#include "core/kernels/kernels.h"

#define REAL int32_t
#define VALUE int64_t
#define FITS(value) ((value) == (int32_t)(value))
#define FLOATS(...)
#define IS_NAN(x) false
#define REAL_ABS llabs
#define REAL_FLOOR(x) (x)
#define REAL_CEIL(x) (x)
#define REAL_RINT(x) (x)
#define REAL_FMOD(a, b) ((b) != 0 ? (a) % (b) : INT64_MAX)

#include "core/kernels/body/any.h"
#include "core/kernels/body/elementwise.h"
#include "core/kernels/body/sort.h"

const RpKernels rp_kernels_int32 = {
    .unary = unary,
    .binary = binary,
    .compare = compare,
    .where = where,
    .convert = convert,
    .reduce = reduce,
    .argsort = argsort,
    .take_rows = take_rows,
    .put_rows = put_rows,
    .gather = gather,
};
