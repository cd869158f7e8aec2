#include "core/tensor/create.h"

#include <math.h>

#include "core/base/interrupt.h"
#include "core/kernels/kernels.h"
#include "core/tensor/copy.h"

enum { STRIDE = 1 << 16 }; /* elements between two checks of the interrupt flag */

RpTensor *rp_tensor_exactly(const char *name, const RpTensor *values, RpDtype dtype)
{
  const double *data = rp_tensor_data(values);
  for (int64_t i = 0; dtype == RP_INT32 && i < rp_tensor_count(values); i++)
    if (!(data[i] >= INT32_MIN && data[i] <= INT32_MAX && data[i] == floor(data[i])))
      return rp_refuse(RP_BAD_ARGUMENT,
                       "%s: expected integers of 32 bits for int32, got %.14g as element %lld",
                       name, data[i], (long long)i + 1);
  return rp_tensor_convert(values, dtype);
}

RpTensor *rp_tensor_arange(double first, double last, double step, RpDtype dtype)
{
  const double span = ceil((last - first) / step);
  if (step == 0 || !(span < 1e15) || isinf(span))
    return rp_refuse(
        RP_BAD_ARGUMENT,
        "arange: expected a finite range and a step other than 0, got %.14g to %.14g by %.14g",
        first, last, step);
  const int64_t count = span > 0 ? (int64_t)span : 0;
  RpTensor *values = rp_tensor_new(RP_FLOAT64, 1, &count), *y = NULL;
  if (values == NULL)
    return NULL;
  double *data = rp_tensor_data(values);
  for (int64_t i = 0; i < count && (i % STRIDE != 0 || !rp_interrupted()); i++)
    data[i] = first + (double)i * step;
  if (rp_interrupt_status() == RP_OK)
    y = rp_tensor_exactly("arange", values, dtype);
  rp_tensor_release(values);
  return y;
}

RpTensor *rp_tensor_linspace(double first, double last, int64_t count, RpDtype dtype)
{
  RpTensor *values = rp_tensor_new(RP_FLOAT64, 1, &count), *y = NULL;
  if (values == NULL)
    return NULL;
  double *data = rp_tensor_data(values);
  const int64_t end = count - 1;
  const double half = (last / 2 - first / 2) / (double)end; /* half a step: a step may overflow */
  for (int64_t i = 0; i < count && (i % STRIDE != 0 || !rp_interrupted()); i++)
    data[i] = i <= end / 2 ? first + 2 * (double)i * half : last - 2 * (double)(end - i) * half;
  if (rp_interrupt_status() == RP_OK)
    y = rp_tensor_exactly("linspace", values, dtype);
  rp_tensor_release(values);
  return y;
}

RpTensor *rp_tensor_eye(int64_t n, RpDtype dtype)
{
  const int64_t shape[] = {n, n}, step = n + 1;
  RpTensor *y = rp_tensor_full(dtype, 2, shape, 0);
  RpTensor *diagonal = y != NULL ? rp_tensor_view(y, 1, &n, &step, 0) : NULL;
  RpStatus status = diagonal != NULL ? rp_tensor_fill(diagonal, 1) : rp_last_status();
  rp_tensor_release(diagonal);
  return rp_tensor_unless_failed(status, y);
}

typedef RpStatus (*Draw)(RpRandom random, int64_t n, void *y);

static RpTensor *drawn(RpRandom *random, Draw draw, RpDtype dtype, int rank, const int64_t *shape)
{
  RpTensor *y = rp_tensor_new(dtype, rank, shape);
  if (y == NULL)
    return NULL;
  const RpRandom from = *random;
  random->counter += (uint64_t)(rp_tensor_count(y) + 1) / 2;
  return rp_tensor_unless_failed(draw(from, rp_tensor_count(y), rp_tensor_data(y)), y);
}

RpTensor *rp_tensor_uniform(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape)
{
  return drawn(random, rp_kernels(dtype)->uniform, dtype, rank, shape);
}

RpTensor *rp_tensor_normal(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape)
{
  return drawn(random, rp_kernels(dtype)->normal, dtype, rank, shape);
}

RpTensor *rp_tensor_randint(RpRandom *random, int32_t low, int32_t high, int rank,
                            const int64_t *shape)
{
  RpTensor *y = rp_tensor_new(RP_INT32, rank, shape);
  if (y == NULL)
    return NULL;
  int32_t *data = rp_tensor_data(y);
  const uint32_t bound = (uint32_t)high - (uint32_t)low + 1;
  for (int64_t i = 0; i < rp_tensor_count(y) && (i % STRIDE != 0 || !rp_interrupted()); i++)
    data[i] = (int32_t)(low + (int64_t)rp_random_below(random, bound));
  return rp_tensor_unless_failed(rp_interrupt_status(), y);
}
