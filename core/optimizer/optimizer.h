/*
** Optimizer steps. A step updates a parameter in place from its gradient, in one pass
** over memory. State tensors belong to the caller; they have the parameter's shape and
** dtype and share no elements with it or with each other.
*/
#ifndef RP_OPTIMIZER_H
#define RP_OPTIMIZER_H

#include "core/kernels/kernels.h"
#include "core/tensor/tensor.h"

/*
** Adam (Kingma and Ba 2015, algorithm 1) or, with decay, AdamW (Loshchilov and
** Hutter 2019). The bias corrections in `settings` are 1 - beta^step. RP_BAD_ARGUMENT
** if the gradient or a state tensor is missing; if a tensor differs in shape or dtype,
** is not packed, shares elements with another or may not be written; or if a setting is
** out of range.
*/
RpStatus rp_adam_step(const RpAdam *settings, RpTensor *parameter, RpTensor *mean,
                      RpTensor *variance);

/* Stochastic gradient descent; `velocity` may be NULL if momentum is 0. Errors as for Adam. */
RpStatus rp_sgd_step(const RpSgd *settings, RpTensor *parameter, RpTensor *velocity);

/* Set *norm to the Euclidean norm of all gradients together, computed in float64. */
RpStatus rp_gradient_norm(int count, RpTensor *const *parameters, double *norm);

#endif
