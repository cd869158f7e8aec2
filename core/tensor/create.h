/* Ranges, identity matrices and random tensors. NULL on failure. */
#ifndef RP_CREATE_H
#define RP_CREATE_H

#include "core/base/random.h"
#include "core/tensor/tensor.h"

/*
** Convert packed float64 values to `dtype`; RP_BAD_ARGUMENT if int32 cannot
** represent one of them exactly. Messages begin with `name`.
*/
RpTensor *rp_tensor_exactly(const char *name, const RpTensor *values, RpDtype dtype);

/* first, first + step, ..., up (or, for a negative step, down) to last, which is excluded. */
RpTensor *rp_tensor_arange(double first, double last, double step, RpDtype dtype);

/* `count` >= 2 evenly spaced numbers from first to last, both included; both must be finite. */
RpTensor *rp_tensor_linspace(double first, double last, int64_t count, RpDtype dtype);

/* The identity matrix [n, n]. */
RpTensor *rp_tensor_eye(int64_t n, RpDtype dtype);

/* Uniform in [0, 1), and standard normal; floats only. Both advance `random`, as does randint. */
RpTensor *rp_tensor_uniform(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape);
RpTensor *rp_tensor_normal(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape);

/* int32, uniform from low to high inclusive; the range must hold fewer than 2^32 numbers. */
RpTensor *rp_tensor_randint(RpRandom *random, int32_t low, int32_t high, int rank,
                            const int64_t *shape);

#endif
