/*
** Sum of the gradients of the same parameters over all ranks. Gradients are sent
** in buckets, the last parameters first. A bucket is sent as soon as its gradients
** are final, and MPI sums it while the backward pass continues. The order is
** fixed: the same number of ranks gives the same bits.
*/
#ifndef RP_GRADIENT_SUM_H
#define RP_GRADIENT_SUM_H

#include <stddef.h>

#include "core/tensor/tensor.h"

typedef struct RpGradientSum RpGradientSum;

/*
** A sum for these parameters, which it retains, in buckets of at most
** `bucket_bytes` bytes, or of one larger parameter. Arguments must be equal on
** every rank. Call it after rp_ranks_join. NULL when out of memory, or with
** RP_BAD_ARGUMENT for int32.
*/
RpGradientSum *rp_gradient_sum_new(int count, RpTensor *const *parameters, size_t bucket_bytes);

/* Free a sum; NULL is allowed. Buckets that MPI may still write to are not freed. */
void rp_gradient_sum_free(RpGradientSum *sum);

/*
** Every rank calls these two around one backward pass, which sends the gradients
** that become final; `stop` also after a pass that failed. RP_BAD_ARGUMENT if an
** earlier sum was not finished: the ranks are no longer in step.
*/
RpStatus rp_gradient_sum_begin(RpGradientSum *sum);
void rp_gradient_sum_stop(void);

/*
** Send the remaining gradients and wait for all sums; every rank calls it after
** `stop`. Each gradient becomes the sum over the ranks that have one, or stays
** NULL if none has.
*/
RpStatus rp_gradient_sum_finish(RpGradientSum *sum);

#endif
