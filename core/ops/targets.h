/* What losses of token ids have in common. */
#ifndef RP_TARGETS_H
#define RP_TARGETS_H

#include "core/tensor/tensor.h"

/*
** How many of the packed int32 targets count, those that are not `ignore`;
** RP_BAD_ARGUMENT for one outside 0 .. n - 1, and where none counts although
** there is to be a mean. `name` is for messages.
*/
RpStatus rp_targets_count(const char *name, const RpTensor *targets, int64_t n, int32_t ignore,
                          bool mean, int64_t *counted);

/* The mean of the losses, of which `counted` are not 0 by being ignored. */
RpTensor *rp_targets_mean(RpTensor *losses, int64_t counted);

/* The gradient of each loss: `dy` for each, or dy / counted for all where they have a mean. */
RpTensor *rp_targets_scale(const RpTensor *dy, int64_t counted);

#endif
