#include "core/tensor/copy.h"

#include <string.h>

#include "core/tensor/operands.h"

RpStatus rp_tensor_copy_elements(const RpTensor *from, RpTensor *to)
{
  RpLoop loop;
  void *data[2];
  rp_loop_operands(&loop, data, 2, (const RpTensor *[]){from, to});
  RpStatus status = rp_kernels(from->dtype)->convert(to->dtype, &loop, data);
  if (status == RP_BAD_ARGUMENT)
    rp_fail(status, "to: expected numbers that fit int32, got NaN or a number out of range");
  return status;
}

RpTensor *rp_tensor_contiguous(RpTensor *tensor)
{
  if (rp_tensor_is_contiguous(tensor))
    return rp_tensor_retain(tensor);
  return rp_tensor_convert(tensor, tensor->dtype);
}

RpTensor *rp_tensor_convert(const RpTensor *tensor, RpDtype dtype)
{
  RpTensor *copy = rp_tensor_new(dtype, tensor->rank, tensor->shape);
  if (copy == NULL)
    return NULL;
  copy->is_mask = tensor->is_mask && dtype == RP_INT32;
  return rp_tensor_unless_failed(rp_tensor_copy_elements(tensor, copy), copy);
}

RpStatus rp_tensor_check_writable(const RpTensor *tensor)
{
  if (tensor->node != NULL)
    return rp_fail(RP_BAD_ARGUMENT, "assign: expected a tensor outside the graph, got a result "
                                    "that a gradient flows through; detach it first");
  bool apart[RP_MAX_RANK];
  rp_axes_apart(tensor->rank, tensor->shape, tensor->strides, apart);
  for (int i = 0; i < tensor->rank && rp_tensor_count(tensor) > 0; i++)
    if (!apart[i])
      return rp_fail(
          RP_BAD_ARGUMENT,
          tensor->strides[i] == 0
              ? "assign: axis %d of %s is broadcast: its elements share memory; assign to a copy"
              : "assign: axis %d of %s overlaps others: elements share memory; assign to a copy",
          i + 1, rp_tensor_shape_text(tensor));
  return RP_OK;
}

RpTensor *rp_tensor_promote(const char *name, RpTensor *x, RpDtype dtype)
{
  if (x->dtype == dtype)
    return rp_tensor_retain(x);
  if (x->dtype != RP_INT32)
    return rp_refuse(RP_BAD_ARGUMENT, "%s: expected %s, got %s; convert it with :to \"%s\"", name,
                     rp_dtype_name(dtype), rp_dtype_name(x->dtype), rp_dtype_name(dtype));
  RpTensor *packed = rp_tensor_contiguous(x);
  RpTensor *y = packed != NULL ? rp_tensor_convert(packed, dtype) : NULL;
  const int64_t count = dtype == RP_FLOAT32 && y != NULL ? rp_tensor_count(y) : 0;
  for (int64_t i = 0; i < count; i++) {
    const int32_t number = ((const int32_t *)rp_tensor_data(packed))[i];
    if ((double)((const float *)rp_tensor_data(y))[i] == number)
      continue;
    rp_fail(RP_BAD_ARGUMENT,
            "%s: float32 cannot hold the int32 %d; convert both with :to \"float64\", or round "
            "with :to \"float32\"",
            name, number);
    rp_tensor_release(y);
    y = NULL;
    break;
  }
  rp_tensor_release(packed);
  return y;
}

RpTensor *rp_tensor_values_for(const RpTensor *target, RpTensor *values)
{
  if (!target->is_mask || values->is_mask || values->dtype != RP_INT32)
    return rp_tensor_promote("assign", values, target->dtype);
  RpTensor *flags = rp_tensor_convert(values, RP_INT32);
  int32_t *flag = flags != NULL ? rp_tensor_data(flags) : NULL;
  for (int64_t i = 0; flags != NULL && i < rp_tensor_count(flags); i++)
    flag[i] = flag[i] != 0;
  return flags;
}

RpStatus rp_tensor_assign(RpTensor *target, RpTensor *source)
{
  if (rp_tensor_check_writable(target) != RP_OK)
    return rp_last_status();
  RpTensor *given = rp_tensor_values_for(target, source);
  RpTensor *values = given != NULL ? rp_tensor_broadcast(given, target->rank, target->shape) : NULL;
  rp_tensor_release(given);
  if (values == NULL)
    return rp_last_status();
  RpStatus status = RP_OK;
  if (values->storage == target->storage) { /* they may overlap: read all before writing */
    RpTensor *copy = rp_tensor_convert(values, values->dtype);
    rp_tensor_release(values);
    values = copy;
    status = copy == NULL ? rp_last_status() : RP_OK;
  }
  target->storage->version++;
  if (status == RP_OK)
    status = rp_tensor_copy_elements(values, target);
  rp_tensor_release(values);
  return status;
}

RpStatus rp_tensor_fill(RpTensor *target, double value)
{
  static const int64_t strides[RP_MAX_RANK] = {0};
  union {
    float f;
    double d;
    int32_t i;
  } element;
  if (rp_tensor_check_writable(target) != RP_OK)
    return rp_last_status();
  if (target->is_mask)
    value = value != 0;
  if (target->dtype == RP_FLOAT32) {
    element.f = (float)value;
  } else if (target->dtype == RP_FLOAT64) {
    element.d = value;
  } else {
    if (!(value >= INT32_MIN && value <= INT32_MAX && value == (double)(int32_t)value))
      return rp_fail(RP_BAD_ARGUMENT, "fill: expected an integer that fits int32, got %g", value);
    element.i = (int32_t)value;
  }
  RpStorage storage = {.data = &element, .bytes = (int64_t)sizeof element, .references = 1};
  RpTensor one = {.references = 1, .dtype = target->dtype, .rank = target->rank};
  memcpy(one.shape, target->shape, sizeof one.shape);
  memcpy(one.strides, strides, sizeof one.strides);
  one.storage = &storage;
  target->storage->version++;
  return rp_tensor_copy_elements(&one, target);
}

RpTensor *rp_tensor_full(RpDtype dtype, int rank, const int64_t *shape, double value)
{
  RpTensor *tensor = rp_tensor_new(dtype, rank, shape);
  return tensor != NULL ? rp_tensor_unless_failed(rp_tensor_fill(tensor, value), tensor) : NULL;
}
