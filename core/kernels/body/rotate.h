/* Rotation of tensors. */
#ifndef RP_BODY_ROTATE_H
#define RP_BODY_ROTATE_H

#include "core/kernels/body/row.h"

enum { ROTATED_TOGETHER = 16 }; /* vectors of a head between two checks of the interrupt flag */

/* The table of one head. */
static RpTable table_of_head(const RpTable *table, int64_t head)
{
  RpTable local = *table;
  if (table->pairs > 0) {
    local.cosine = (const REAL *)table->cosine + head * table->head_stride;
    local.sine = (const REAL *)table->sine + head * table->head_stride;
  }
  return local;
}

static RpStatus rotate(const RpTable *table, bool back, int64_t batch, int64_t heads, int64_t time,
                       int64_t features, const RpHeads *x, const RpHeads *y)
{
  const int64_t blocks = (time + ROTATED_TOGETHER - 1) / ROTATED_TOGETHER;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(batch * heads * time * features));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < batch * heads * blocks; unit++) {
    if (rp_interrupted())
      continue;
    const int64_t first = unit % blocks * ROTATED_TOGETHER;
    const int64_t h = unit / blocks % heads, b = unit / blocks / heads;
    const int64_t end = first + ROTATED_TOGETHER < time ? first + ROTATED_TOGETHER : time;
    const RpTable local = table_of_head(table, h);
    const REAL *from = (const REAL *)x->data + b * x->batch + h * x->head;
    REAL *to = (REAL *)y->data + b * y->batch + h * y->head;
    for (int64_t t = first; t < end; t++)
      rotate_vector(&local, back, b, t, features, from + t * x->time, to + t * y->time);
  }
  return rp_interrupt_status();
}

/* Add the gradients of the angles of one vector y: +-(dy_{t + pairs} y_t - dy_t y_{t + pairs}). */
static inline void add_angle_gradient(int64_t pairs, bool back, const REAL *restrict y,
                                      const REAL *restrict dy, double *restrict sum)
{
  const REAL sign = back ? -1 : 1;
  for (int64_t t = 0; t < pairs; t++)
    sum[t] += (double)(sign * (dy[t + pairs] * y[t] - dy[t] * y[t + pairs]));
}

/* Each unit owns some rows of dangle, and all vectors that were rotated by their angles. */
static RpStatus rotate_gradient(const RpTable *table, bool back, int64_t batch, int64_t heads,
                                int64_t time, int64_t features, const RpHeads *y, const RpHeads *dy,
                                const RpHeads *dx, double *dangle)
{
  const int64_t pairs = table->pairs;
  const int64_t groups = table->batch_stride != 0 ? batch : 1, together = batch / groups;
  const int64_t head_groups = table->head_stride != 0 ? heads : 1,
                heads_together = heads / head_groups;
  const int64_t blocks = (time + ROTATED_TOGETHER - 1) / ROTATED_TOGETHER;
  const RpTeam team = rp_team(RP_WORK_ELEMENTS, (double)(batch * heads * time * features));
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t unit = 0; unit < groups * head_groups * blocks; unit++) {
    const int64_t first = unit % blocks * ROTATED_TOGETHER;
    const int64_t g = unit / blocks / head_groups, k = unit / blocks % head_groups;
    const int64_t end = first + ROTATED_TOGETHER < time ? first + ROTATED_TOGETHER : time;
    double *sum = dangle + g * table->batch_stride + k * table->head_stride;
    for (int64_t t = first; t < end; t++)
      memset(sum + t * table->time_stride, 0, (size_t)pairs * sizeof *sum);
    for (int64_t b = g * together; b < (g + 1) * together; b++)
      for (int64_t h = k * heads_together; h < (k + 1) * heads_together; h++) {
        if (rp_interrupted())
          continue;
        const RpTable local = table_of_head(table, h);
        const REAL *result = (const REAL *)y->data + b * y->batch + h * y->head;
        const REAL *gradient = (const REAL *)dy->data + b * dy->batch + h * dy->head;
        for (int64_t t = first; t < end; t++) {
          add_angle_gradient(pairs, back, result + t * y->time, gradient + t * dy->time,
                             sum + t * table->time_stride);
          if (dx != NULL)
            rotate_vector(&local, !back, b, t, features, gradient + t * dy->time,
                          (REAL *)dx->data + b * dx->batch + h * dx->head + t * dx->time);
        }
      }
  }
  return rp_interrupt_status();
}

#endif
