#define _GNU_SOURCE /* flock, syscall */
#include "core/base/system.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

size_t rp_system_memory(void)
{
  size_t limit = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
  if (file != NULL) {
    uint64_t group;
    if (fscanf(file, "%" SCNu64, &group) == 1 && group < limit)
      limit = (size_t)group;
    fclose(file);
  }
  return limit / 10 * 9;
}

void rp_system_processor(char *name, size_t size)
{
  static const char field[] = "model name";
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL)
    return;
  for (char line[256]; fgets(line, sizeof line, file) != NULL;) {
    const char *value = strncmp(line, field, sizeof field - 1) == 0 ? strchr(line, ':') : NULL;
    if (value == NULL)
      continue;
    value += 1 + strspn(value + 1, " ");
    snprintf(name, size, "%.*s", (int)strcspn(value, "\n"), value);
    break;
  }
  fclose(file);
}

bool rp_system_allows_amx(void)
{
#ifdef SYS_arch_prctl
  enum { ARCH_REQ_XCOMP_PERM = 0x1023, XFEATURE_XTILEDATA = 18 }; /* Linux's names */
  return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0;
#else
  return false;
#endif
}

bool rp_system_random(void *data, size_t bytes)
{
  return getrandom(data, bytes, 0) == (ssize_t)bytes;
}

long rp_system_process(void)
{
  return (long)getpid();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void rp_system_enter(void)
{
  pthread_mutex_lock(&lock);
}

void rp_system_leave(void)
{
  pthread_mutex_unlock(&lock);
}

int rp_system_threads(void)
{
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  return threads;
}

int rp_system_processors(void)
{
  return omp_get_num_procs();
}

int rp_system_thread(void)
{
  return omp_get_thread_num();
}

int64_t rp_system_waited(void)
{
  int64_t total = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL)
    return 0;
  for (struct dirent *entry; (entry = readdir(tasks)) != NULL;) {
    char path[64];
    int64_t waited;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
    FILE *file = entry->d_name[0] != '.' ? fopen(path, "r") : NULL;
    if (file == NULL)
      continue;
    if (fscanf(file, "%*d %" SCNd64, &waited) == 1)
      total += waited;
    fclose(file);
  }
  closedir(tasks);
  return total;
}

bool rp_system_lock_file(int descriptor, bool waits)
{
  return flock(descriptor, LOCK_EX | (waits ? 0 : LOCK_NB)) == 0;
}

int rp_system_duplicate(int descriptor)
{
  return fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
}
