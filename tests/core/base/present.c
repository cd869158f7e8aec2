/* present MILLISECONDS PERCENT...: prints rp_present(2) every 10 ms of intervals in which threads
   wait for a core for PERCENT of the time. The clock and the files of Linux are simulated. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/threads.h"

static long long now = 1000000000000, waited = 7000000000; /* nanoseconds */

int clock_gettime(clockid_t clock, struct timespec *time)
{
  (void)clock;
  time->tv_sec = now / 1000000000;
  time->tv_nsec = now % 1000000000;
  return 0;
}

FILE *fopen(const char *path, const char *mode)
{
  static char text[100];
  (void)path;
  snprintf(text, sizeof text, "5 %lld 5\n", waited);
  return fmemopen(text, sizeof text, mode);
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
