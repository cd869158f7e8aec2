/* present MILLISECONDS PERCENT...: prints rp_present(2) every 10 ms of intervals in which threads
   wait for a core for PERCENT of the time. The clock and the system are simulated. */
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
  for (int i = 1; i + 1 < count; i += 2)
    for (long left = atol(arguments[i]); left > 0; left -= 10) {
      now += 10000000;
      waited += 100000 * atol(arguments[i + 1]);
      putchar('0' + rp_present(2));
    }
  return 0;
}
