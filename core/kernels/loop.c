#include "core/kernels/loop.h"

#include <stdbool.h>

#include "core/base/interrupt.h"

enum { CHUNK = 1 << 15 }; /* elements between two checks of the interrupt flag */

void rp_loop_collapse(RpLoop *loop)
{
  int rank = 0;
  for (int axis = 0; axis < loop->rank; axis++) {
    if (loop->shape[axis] == 1)
      continue;
    bool merges = rank > 0;
    for (int i = 0; merges && i < loop->operands; i++)
      merges = loop->strides[i][rank - 1] == loop->strides[i][axis] * loop->shape[axis];
    if (merges)
      loop->shape[rank - 1] *= loop->shape[axis];
    else
      loop->shape[rank++] = loop->shape[axis];
    for (int i = 0; i < loop->operands; i++)
      loop->strides[i][rank - 1] = loop->strides[i][axis];
  }
  if (rank == 0) {
    loop->shape[0] = 1;
    for (int i = 0; i < loop->operands; i++)
      loop->strides[i][0] = 1;
    rank = 1;
  }
  loop->rank = rank;
}

/* Move the pointers by some indices of an axis. */
static inline void move(const RpLoop *loop, const size_t *sizes, int axis, int64_t by,
                        void **pointers)
{
  for (int i = 0; i < loop->operands; i++)
    pointers[i] = (char *)pointers[i] + by * loop->strides[i][axis] * (int64_t)sizes[i];
}

/* Run elements begin .. end - 1 of the loop, in row-major order. */
static void run_chunk(const RpLoop *loop, RpRow row, const void *context, void *const *data,
                      const size_t *sizes, int64_t begin, int64_t end)
{
  const int last = loop->rank - 1;
  int64_t inner_strides[RP_MAX_OPERANDS], at[RP_MAX_RANK], rest = begin;
  void *pointers[RP_MAX_OPERANDS];
  for (int i = 0; i < loop->operands; i++) {
    inner_strides[i] = loop->strides[i][last];
    pointers[i] = data[i];
  }
  for (int axis = last; axis >= 0; axis--) {
    at[axis] = rest % loop->shape[axis];
    rest /= loop->shape[axis];
    move(loop, sizes, axis, at[axis], pointers);
  }
  while (begin < end) {
    int64_t n = loop->shape[last] - at[last];
    if (n > end - begin)
      n = end - begin;
    row(context, n, pointers, inner_strides);
    begin += n;
    move(loop, sizes, last, -at[last], pointers); /* to the beginning of the next row */
    at[last] = 0;
    for (int axis = last - 1; axis >= 0 && begin < end; axis--) {
      const int64_t by = at[axis] + 1 < loop->shape[axis] ? 1 : -at[axis];
      move(loop, sizes, axis, by, pointers);
      at[axis] += by;
      if (by == 1)
        break;
    }
  }
}

RpStatus rp_loop_run(const RpLoop *loop, RpWork work, RpRow row, const void *context,
                     void *const *data, const size_t *sizes)
{
  int64_t count = 1;
  for (int axis = 0; axis < loop->rank; axis++)
    count *= loop->shape[axis];
  int64_t chunks = (count + CHUNK - 1) / CHUNK;
  const RpTeam team = rp_team(work, (double)count);
#pragma omp parallel for schedule(static) num_threads(rp_present(team))
  for (int64_t chunk = 0; chunk < chunks; chunk++) {
    if (chunks > 1 && rp_interrupted()) /* a single chunk is too short to interrupt */
      continue;
    int64_t begin = chunk * CHUNK;
    int64_t end = begin + CHUNK < count ? begin + CHUNK : count;
    run_chunk(loop, row, context, data, sizes, begin, end);
  }
  return chunks > 1 ? rp_interrupt_status() : RP_OK;
}
