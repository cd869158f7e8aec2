#include "core/tensor/reduce.h"

#include "core/tensor/copy.h"

static const char *const names[] = {
    [RP_SUM] = "sum", [RP_MEAN] = "mean", [RP_MAX] = "max", [RP_MIN] = "min"};

const char *rp_reduction_name(RpReduction op)
{
  return names[op];
}

/* The sizes before, along and after an axis; all of it along where RP_ALL_AXES. */
static void split(const RpTensor *x, int axis, int64_t *outer, int64_t *n, int64_t *inner)
{
  *outer = *inner = *n = 1;
  for (int i = 0; i < x->rank; i++) {
    int64_t *part = axis == RP_ALL_AXES || i == axis ? n : i < axis ? outer : inner;
    *part *= x->shape[i];
  }
}

static int result_shape(const RpTensor *x, int axis, bool keep, int64_t *shape)
{
  int rank = 0;
  for (int i = 0; i < x->rank; i++) {
    const bool reduced = axis == RP_ALL_AXES || i == axis;
    if (!reduced || keep)
      shape[rank++] = reduced ? 1 : x->shape[i];
  }
  return rank;
}

RpTensor *rp_tensor_reduce(RpReduction op, RpTensor *x, int axis, bool keep, RpTensor **index)
{
  const bool sums = op == RP_SUM || op == RP_MEAN;
  int64_t outer, n, inner, shape[RP_MAX_RANK];
  if (index != NULL)
    *index = NULL;
  split(x, axis, &outer, &n, &inner);
  if (n == 0 && op != RP_SUM) {
    rp_fail(RP_BAD_ARGUMENT, "%s: expected at least one element, got shape %s", names[op],
            rp_tensor_shape_text(x));
    return NULL;
  }
  if (n > INT32_MAX && index != NULL) {
    rp_fail(RP_BAD_ARGUMENT, "%s: places past 2147483647 do not fit int32", names[op]);
    return NULL;
  }
  RpTensor *source =
      sums && x->dtype == RP_INT32 ? rp_tensor_convert(x, RP_FLOAT64) : rp_tensor_contiguous(x);
  if (source == NULL)
    return NULL;
  const int rank = result_shape(x, axis, keep, shape);
  RpTensor *y = rp_tensor_new(source->dtype, rank, shape);
  RpTensor *places = y != NULL && index != NULL ? rp_tensor_new(RP_INT32, rank, shape) : NULL;
  RpStatus status = y == NULL || (index != NULL && places == NULL) ? RP_OUT_OF_MEMORY : RP_OK;
  if (status == RP_OK && rp_tensor_count(y) > 0)
    status = rp_kernels(source->dtype)
                 ->reduce(op, outer, n, inner, rp_tensor_data(source), rp_tensor_data(y),
                          places != NULL ? rp_tensor_data(places) : NULL);
  rp_tensor_release(source);
  if (status != RP_OK) {
    rp_tensor_release(y);
    rp_tensor_release(places);
    return NULL;
  }
  if (index != NULL)
    *index = places;
  return y;
}

RpTensor *rp_tensor_cumulate(RpTensor *x, int axis, bool reverse)
{
  int64_t outer, n, inner;
  if (!rp_dtype_is_float(x->dtype)) {
    rp_fail(RP_BAD_ARGUMENT, "cumsum: expected float32 or float64, got int32");
    return NULL;
  }
  split(x, axis, &outer, &n, &inner);
  RpTensor *source = rp_tensor_contiguous(x);
  RpTensor *y = source != NULL ? rp_tensor_new_like(x) : NULL;
  RpStatus status = y != NULL ? RP_OK : RP_OUT_OF_MEMORY;
  if (status == RP_OK && rp_tensor_count(y) > 0)
    status = rp_kernels(x->dtype)->cumulate(outer, n, inner, reverse, rp_tensor_data(source),
                                            rp_tensor_data(y));
  rp_tensor_release(source);
  return rp_tensor_unless_failed(status, y);
}

RpTensor *rp_tensor_sum_to(RpTensor *gradient, int rank, const int64_t *shape)
{
  RpTensor *sum = rp_tensor_retain(gradient);
  while (sum != NULL) {
    int axis = 0;
    const int extra = sum->rank - rank;
    while (axis < sum->rank && axis >= extra && sum->shape[axis] == shape[axis - extra])
      axis++;
    if (axis == sum->rank)
      break;
    RpTensor *less = rp_tensor_reduce(RP_SUM, sum, axis, axis >= extra, NULL);
    rp_tensor_release(sum);
    sum = less;
  }
  return sum;
}
