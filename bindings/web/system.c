#include "core/base/system.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of the 4 GB that 32 bits address; the rest is for Lua and the scripts. */
size_t rp_system_memory(void)
{
  return (size_t)3 << 30;
}

void rp_system_processor(char *name, size_t size)
{
  const char *browser = getenv("ROPER_BROWSER");
  if (browser != NULL)
    snprintf(name, size, "%s", browser);
}

bool rp_system_random(void *data, size_t bytes)
{
  return getentropy(data, bytes) == 0;
}

long rp_system_process(void)
{
  return 1;
}

/* There is one thread. */
void rp_system_enter(void)
{
}

void rp_system_leave(void)
{
}

int rp_system_threads(void)
{
  return 1;
}

int rp_system_processors(void)
{
  return 1;
}

int rp_system_thread(void)
{
  return 0;
}

int64_t rp_system_waited(void)
{
  return 0;
}

/* No other process shares the files. */
bool rp_system_lock_file(int descriptor, bool waits)
{
  (void)descriptor, (void)waits;
  return true;
}

int rp_system_duplicate(int descriptor)
{
  (void)descriptor;
  errno = ENOSYS;
  return -1;
}
