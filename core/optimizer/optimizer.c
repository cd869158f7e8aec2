#include "core/optimizer/optimizer.h"

#include <math.h>

#include "core/tensor/copy.h"

/* True if two packed tensors of the same size share elements. */
static bool overlap(const RpTensor *a, const RpTensor *b)
{
  const int64_t apart = a->offset > b->offset ? a->offset - b->offset : b->offset - a->offset;
  return a->storage == b->storage && apart < rp_tensor_count(a);
}

/*
** RP_OK if the step may write `count` tensors: the parameter and its state, which must match it in
** shape and dtype and share no elements with each other or with the gradient. Messages call them by
** `names`.
*/
static RpStatus check_state(const char *name, int count, RpTensor *const *tensors,
                            const char *const *names)
{
  const RpTensor *parameter = tensors[0];
  for (int i = 0; i < count; i++) {
    const RpTensor *tensor = tensors[i];
    if (tensor == NULL)
      return rp_fail(RP_BAD_ARGUMENT, "%s: the parameter %s has no %s", name,
                     rp_tensor_shape_text(parameter), names[i]);
    if (tensor->dtype != parameter->dtype || !rp_tensor_same_shape(tensor, parameter) ||
        !rp_dtype_is_float(parameter->dtype))
      return rp_fail(RP_BAD_ARGUMENT, "%s: expected %s like the parameter's %s %s, got %s %s", name,
                     names[i], rp_dtype_name(parameter->dtype), rp_tensor_shape_text(parameter),
                     rp_dtype_name(tensor->dtype), rp_tensor_shape_text(tensor));
    if (!rp_tensor_is_contiguous(tensor))
      return rp_fail(RP_BAD_ARGUMENT, "%s: expected packed tensors, got a strided view", name);
    if (rp_tensor_check_writable(tensor) != RP_OK)
      return rp_last_status();
    if (parameter->gradient != NULL && parameter->gradient->storage == tensor->storage)
      return rp_fail(RP_BAD_ARGUMENT, "%s: %s and gradient share elements", name, names[i]);
    for (int j = 0; j < i; j++)
      if (overlap(tensor, tensors[j]))
        return rp_fail(RP_BAD_ARGUMENT, "%s: %s and %s share elements", name, names[j], names[i]);
  }
  return RP_OK;
}

/* The gradient as a packed tensor; the caller releases it. */
static RpTensor *packed_gradient(const char *name, const RpTensor *parameter)
{
  if (parameter->gradient == NULL)
    return rp_refuse(RP_BAD_ARGUMENT, "%s: the parameter %s has no gradient", name,
                     rp_tensor_shape_text(parameter));
  return rp_tensor_contiguous(parameter->gradient);
}

RpStatus rp_adam_step(const RpAdam *settings, RpTensor *parameter, RpTensor *mean,
                      RpTensor *variance)
{
  const RpAdam *s = settings;
  if (!isfinite(s->rate) || !isfinite(s->decay) || !isfinite(s->l2) ||
      !isfinite(s->gradient_scale) || !(s->beta1 >= 0) || !(s->beta1 < 1) || !(s->beta2 >= 0) ||
      !(s->beta2 < 1) || !(s->epsilon >= 0) || !isfinite(s->epsilon))
    return rp_fail(
        RP_BAD_ARGUMENT,
        "adam_step: expected finite settings, betas in [0, 1) and epsilon >= 0, got rate %g, "
        "betas %g and %g, epsilon %g, decay %g, l2 %g, gradient_scale %g",
        s->rate, s->beta1, s->beta2, s->epsilon, s->decay, s->l2, s->gradient_scale);
  if (!(s->correction1 > 0 && s->correction1 <= 1 && s->correction2 > 0 && s->correction2 <= 1))
    return rp_fail(RP_BAD_ARGUMENT,
                   "adam_step: expected corrections above 0 and up to 1, got %g and %g",
                   s->correction1, s->correction2);
  static const char *const names[] = {"parameter", "mean", "variance"};
  RpStatus status = check_state("adam_step", 3, (RpTensor *[]){parameter, mean, variance}, names);
  RpTensor *gradient = status == RP_OK ? packed_gradient("adam_step", parameter) : NULL;
  if (gradient == NULL)
    return rp_last_status();
  status = rp_kernels(parameter->dtype)
               ->adam(s, rp_tensor_count(parameter), rp_tensor_data(parameter),
                      rp_tensor_data(gradient), rp_tensor_data(mean), rp_tensor_data(variance));
  parameter->storage->version++;
  mean->storage->version++;
  variance->storage->version++;
  rp_tensor_release(gradient);
  return status;
}

RpStatus rp_sgd_step(const RpSgd *settings, RpTensor *parameter, RpTensor *velocity)
{
  const RpSgd *s = settings;
  if (!isfinite(s->rate) || !isfinite(s->l2) || !isfinite(s->momentum) ||
      !isfinite(s->gradient_scale))
    return rp_fail(RP_BAD_ARGUMENT,
                   "sgd_step: expected finite settings, got rate %g, momentum %g, l2 %g, "
                   "gradient_scale %g",
                   s->rate, s->momentum, s->l2, s->gradient_scale);
  static const char *const names[] = {"parameter", "velocity"};
  RpStatus status = check_state("sgd_step", velocity != NULL || s->momentum != 0 ? 2 : 1,
                                (RpTensor *[]){parameter, velocity}, names);
  RpTensor *gradient = status == RP_OK ? packed_gradient("sgd_step", parameter) : NULL;
  if (gradient == NULL)
    return rp_last_status();
  status = rp_kernels(parameter->dtype)
               ->sgd(s, rp_tensor_count(parameter), rp_tensor_data(parameter),
                     rp_tensor_data(gradient), velocity != NULL ? rp_tensor_data(velocity) : NULL);
  parameter->storage->version++;
  if (velocity != NULL)
    velocity->storage->version++;
  rp_tensor_release(gradient);
  return status;
}

/* Set *total to the sum of the squares of all gradients, each times `scale`. */
static RpStatus sum_squares(int count, RpTensor *const *parameters, double scale, double *total)
{
  *total = 0;
  for (int i = 0; i < count; i++) {
    if (parameters[i]->gradient == NULL)
      continue;
    RpTensor *gradient = rp_tensor_contiguous(parameters[i]->gradient);
    if (gradient == NULL)
      return rp_last_status();
    *total += rp_kernels(gradient->dtype)
                  ->sum_of_squares(rp_tensor_count(gradient), rp_tensor_data(gradient), scale);
    rp_tensor_release(gradient);
  }
  return RP_OK;
}

RpStatus rp_gradient_norm(int count, RpTensor *const *parameters, double *norm)
{
  double total, scale = 1;
  RpStatus status = sum_squares(count, parameters, scale, &total);
  if (status == RP_OK && (total < 0x1p-900 || isinf(total))) { /* squares underflow or overflow */
    scale = isinf(total) ? 0x1p-600 : 0x1p600;
    status = sum_squares(count, parameters, scale, &total);
  }
  if (status == RP_OK)
    *norm = sqrt(total) / scale;
  return status;
}
