/*
** Element-wise loops over strided operands: one shape, and for each operand one
** stride per axis (0 if it is broadcast).
*/
#ifndef RP_LOOP_H
#define RP_LOOP_H

#include <stdint.h>

#include "core/base/dtype.h"
#include "core/base/status.h"
#include "core/base/threads.h"

enum { RP_MAX_OPERANDS = 5 };

typedef struct RpLoop {
  int rank; /* at least 1 */
  int operands;
  int64_t shape[RP_MAX_RANK];
  int64_t strides[RP_MAX_OPERANDS][RP_MAX_RANK]; /* in elements */
} RpLoop;

/* Process one row: `n` elements of each operand i, from data[i] on, with stride strides[i]. */
typedef void (*RpRow)(const void *context, int64_t n, void *const *data, const int64_t *strides);

/* Merge axes that can be traversed as one, which makes rows longer. */
void rp_loop_collapse(RpLoop *loop);

/*
** Run `row` over the whole loop, by several threads if it is large; `work` tells what
** an element costs. sizes[i] is the element size of operand i. RP_INTERRUPTED if the
** interrupt flag was raised.
*/
RpStatus rp_loop_run(const RpLoop *loop, RpWork work, RpRow row, const void *context,
                     void *const *data, const size_t *sizes);

#endif
