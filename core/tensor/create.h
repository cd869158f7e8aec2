/* New tensors of ranges, of units and of random numbers. NULL on failure. */
#ifndef RP_CREATE_H
#define RP_CREATE_H

#include "core/base/random.h"
#include "core/tensor/tensor.h"

/*
** Packed float64 values as another dtype, where int32 is refused what it does
** not hold unchanged; `name` is that of the function in messages.
*/
RpTensor *rp_tensor_exactly(const char *name, const RpTensor *values, RpDtype dtype);

/* first, first + step, ... up to below last, or down to above it. */
RpTensor *rp_tensor_arange(double first, double last, double step, RpDtype dtype);

/* `count` numbers, 2 at least, evenly spaced from first to last, both included and finite. */
RpTensor *rp_tensor_linspace(double first, double last, int64_t count, RpDtype dtype);

/* The unit matrix [n, n]. */
RpTensor *rp_tensor_eye(int64_t n, RpDtype dtype);

/* Uniform in [0, 1), or standard normal; floats. These move `random` past what they took. */
RpTensor *rp_tensor_uniform(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape);
RpTensor *rp_tensor_normal(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape);

/* int32, uniform from low to high, which is less than all of int32. */
RpTensor *rp_tensor_randint(RpRandom *random, int32_t low, int32_t high, int rank,
                            const int64_t *shape);

#endif
