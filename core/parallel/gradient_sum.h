/*
** Sums the gradients of the same parameters over all ranks. Gradients are sent in
** buckets, those of the last parameters first. A bucket is sent as soon as its
** gradients are final, and MPI sums it while the backward pass continues. The order
** of buckets is fixed, so the same number of ranks gives bit-identical results.
*/
#ifndef RP_GRADIENT_SUM_H
#define RP_GRADIENT_SUM_H

#include <stddef.h>

#include "core/tensor/tensor.h"

typedef struct RpGradientSum RpGradientSum;

/*
** A new object that sums the gradients of these parameters and retains them. A bucket
** contains at most `bucket_bytes` bytes, or one larger parameter. Arguments must be
** equal on every rank. Call it after rp_ranks_join. NULL when out of memory, or with
** RP_BAD_ARGUMENT for int32.
*/
RpGradientSum *rp_gradient_sum_new(int count, RpTensor *const *parameters, size_t bucket_bytes);

/* Free the object; NULL is allowed. Buckets that MPI may still write to are not freed. */
void rp_gradient_sum_free(RpGradientSum *sum);

/*
** Call these two on every rank, before and after one backward pass, which then sends
** gradients as they become final. Call `stop` even if the pass failed. RP_BAD_ARGUMENT
** if an earlier sum was not finished: the ranks are then no longer synchronized.
*/
RpStatus rp_gradient_sum_begin(RpGradientSum *sum);
void rp_gradient_sum_stop(void);

/*
** Send the remaining gradients and wait for all sums. Call it on every rank after
** `stop`. Each gradient becomes the sum over the ranks that have one, or remains
** NULL if none has.
*/
RpStatus rp_gradient_sum_finish(RpGradientSum *sum);

#endif
