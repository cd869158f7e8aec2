/* Checks of the targets of losses, and means of losses. */
#ifndef RP_TARGETS_H
#define RP_TARGETS_H

#include "core/tensor/tensor.h"

/*
** Set *counted to the number of targets (packed, int32) that are not `ignore`.
** RP_BAD_ARGUMENT for such a target outside 0 .. n - 1 or, if `mean`, if there is
** none. Messages begin with `name`.
*/
RpStatus rp_targets_count(const char *name, const RpTensor *targets, int64_t n, int32_t ignore,
                          bool mean, int64_t *counted);

/* The mean of the losses over the `counted` targets; ignored ones contribute 0. */
RpTensor *rp_targets_mean(RpTensor *losses, int64_t counted);

/* The gradient of each loss, dy / counted; `counted` is 1 if no mean is taken. */
RpTensor *rp_targets_scale(const RpTensor *dy, int64_t counted);

#endif
