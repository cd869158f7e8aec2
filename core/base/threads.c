#define _POSIX_C_SOURCE 200809L
#include "core/base/threads.h"

#include <stdint.h>
#include <time.h>

#include "core/base/system.h"

#ifdef RP_ALWAYS_PARALLEL
enum { ALWAYS_PARALLEL = 1 }; /* tests find races only if small tensors are shared too */
#else
enum { ALWAYS_PARALLEL = 0 };
#endif

static int threads; /* 0 before first use */

int rp_threads(void)
{
  if (threads == 0)
    threads = rp_system_threads();
  return threads;
}

int rp_most_threads(void)
{
  const int processors = rp_system_processors();
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

RpTeam rp_team(RpWork work, double count)
{
  /* Nanoseconds of one thread with AVX-512; other kernels take up to four times as long. */
  static const double cost[] = {
      [RP_WORK_ELEMENTS] = 0.4, [RP_WORK_FUNCTIONS] = 2, [RP_WORK_FLOPS] = 0.02};
  const double least = ALWAYS_PARALLEL ? 10 : 10e3;
  const int most = rp_threads();
  const double whole = cost[work] * count, parts = whole / least;
  const int size = parts < 2 ? 1 : parts < most ? (int)parts : most;
  return (RpTeam){size, whole / size};
}

static int64_t nanoseconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The interval being watched, and what the last one led to; of each thread that calls kernels. */
typedef struct Watch {
  int64_t begin, waited; /* the clock, and rp_system_waited(), at its begin */
  int64_t alone_until, pause;
  int64_t awake_until; /* when threads that finish their parts will have stopped spinning */
} Watch;

int rp_present(RpTeam team)
{
  enum { SHORTEST = 50000000, LONGEST = 200000000, FIRST_PAUSE = 250000000, SHARE = 8 };
  /*
  ** Waking a thread takes 20 to 60 us (measured on Zen 4), starting one that still spins 1 us. With
  ** GOMP_SPINCOUNT=10000, threads spin for 200 us (measured on Zen 3); half of it is assumed.
  */
  enum { WAKING = 50000, SPINNING = 100000 };
  static const int64_t last_pause = 4000000000;
  static _Thread_local Watch watch;
  if (team.size == 1 || ALWAYS_PARALLEL)
    return team.size;
  const int64_t now = nanoseconds_now(), elapsed = now - watch.begin;
  if (now < watch.alone_until || (now > watch.awake_until && team.each < WAKING))
    return 1;
  watch.awake_until = now + (int64_t)team.each + SPINNING;
  if (elapsed < SHORTEST)
    return team.size;
  const int64_t waited = rp_system_waited() - watch.waited;
  watch.begin = now;
  watch.waited += waited;
  if (elapsed > LONGEST) /* after a pause, or without work in between */
    return team.size;
  if (waited * SHARE < elapsed) {
    watch.pause = 0;
    return team.size;
  }
  watch.pause = watch.pause == 0 ? FIRST_PAUSE : 2 * watch.pause;
  watch.pause = watch.pause < last_pause ? watch.pause : last_pause;
  watch.alone_until = now + watch.pause;
  return 1;
}
