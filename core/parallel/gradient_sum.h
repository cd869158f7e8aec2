/*
** Gradients of the same parameters, summed over all ranks. They go in buckets,
** the last parameters first, each as soon as its gradients are final in the
** sweep that computes them, and MPI sums it while the sweep goes on. The order
** is always the same, so the sums have the same bits each time on as many ranks.
*/
#ifndef RP_GRADIENT_SUM_H
#define RP_GRADIENT_SUM_H

#include <stddef.h>

#include "core/tensor/tensor.h"

typedef struct RpGradientSum RpGradientSum;

/*
** For these parameters, retained, in buckets of so many bytes or of one
** parameter; the same on every rank, after rp_ranks_join. NULL when out of
** memory, and with RP_BAD_ARGUMENT for int32.
*/
RpGradientSum *rp_gradient_sum_new(int count, RpTensor *const *parameters, size_t bucket_bytes);

/* NULL is allowed. What MPI may yet write to is not freed. */
void rp_gradient_sum_free(RpGradientSum *sum);

/*
** Between these two one backward sends what it makes final, on every rank. `stop`
** also follows one that failed. RP_BAD_ARGUMENT where an earlier sum is not whole:
** the ranks are no longer at the same place.
*/
RpStatus rp_gradient_sum_begin(RpGradientSum *sum);
void rp_gradient_sum_stop(void);

/*
** Send the rest and wait for all of it: each gradient is then the sum over the
** ranks that have one, NULL where none has. After `stop`, on every rank.
*/
RpStatus rp_gradient_sum_finish(RpGradientSum *sum);

#endif
