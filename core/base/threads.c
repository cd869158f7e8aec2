#include "core/base/threads.h"

#include <omp.h>

static int threads; /* 0 before first use */

int rp_threads(void)
{
  if (threads == 0) {
    threads = omp_get_max_threads();
    omp_set_num_threads(1);
  }
  return threads;
}

int rp_most_threads(void)
{
  const int processors = omp_get_num_procs();
  return processors > 16 ? 4 * processors : 64;
}

RpStatus rp_set_threads(int count)
{
  if (count < 1 || count > rp_most_threads())
    return rp_fail(RP_BAD_ARGUMENT, "threads: expected 1 to %d, got %d", rp_most_threads(), count);
  rp_threads();
  threads = count;
  return RP_OK;
}

int rp_team(RpWork work, double count)
{
  /* Nanoseconds of one thread with AVX-512; other kernels take up to four times as long. */
  static const double cost[] = {
      [RP_WORK_ELEMENTS] = 0.4, [RP_WORK_FUNCTIONS] = 2, [RP_WORK_FLOPS] = 0.02};
  /* Waking a thread takes 20 to 60 us (measured on Zen 4); one that still spins, 1 us. */
  const double least = 50e3;
  const double team = cost[work] * count / least;
  return team < 2 ? 1 : team < rp_threads() ? (int)team : rp_threads();
}
