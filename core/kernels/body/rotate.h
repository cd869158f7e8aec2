/* Rotation of tensors. */
#ifndef RP_BODY_ROTATE_H
#define RP_BODY_ROTATE_H

#include "core/kernels/body/row.h"

static RpStatus rotate(const RpTable *table, bool back, int64_t batch, int64_t heads, int64_t time,
                       int64_t features, const RpHeads *x, const RpHeads *y)
{
#pragma omp parallel for schedule(static) if (batch * heads * time * features > 1 << 13)
  for (int64_t row = 0; row < batch * heads * time; row++) {
    if (rp_interrupted())
      continue;
    const int64_t t = row % time, h = row / time % heads, b = row / time / heads;
    rotate_vector(table, back, b, t, features,
                  (const REAL *)x->data + b * x->batch + h * x->head + t * x->time,
                  (REAL *)y->data + b * y->batch + h * y->head + t * y->time);
  }
  return rp_interrupt_status();
}

#endif
