/* present [WORK STEP TIME PERCENT]...: for intervals of TIME, prints every STEP how many of two
   threads share WORK, all in microseconds. Meanwhile threads wait for a core for PERCENT of the
   time. The clock and the system are simulated. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/system.h"
#include "core/base/threads.h"

static long long now = 1000000000000, waited = 7000000000; /* nanoseconds */

int clock_gettime(clockid_t clock, struct timespec *time)
{
  (void)clock;
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}

int64_t rp_system_waited(void)
{
  return waited;
}

int rp_system_threads(void)
{
  return 2;
}

int rp_system_processors(void)
{
  return 2;
}

int main(int count, char **arguments)
{
  for (int i = 1; i + 3 < count; i += 4) {
    const double work = 1000 * atof(arguments[i]);
    const long long step = 1000 * atoll(arguments[i + 1]);
    for (long long left = 1000 * atoll(arguments[i + 2]); left > 0; left -= step) {
      now += step;
      waited += step / 100 * atol(arguments[i + 3]);
      putchar('0' + rp_present(rp_team(RP_WORK_FUNCTIONS, work / 2)));
    }
  }
  return 0;
}
