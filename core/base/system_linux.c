#define _GNU_SOURCE /* flock, getentropy, syscall */
#include "core/base/system.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Lower a limit to the number in a file, if there is one. */
static void lower(size_t *limit, const char *path)
{
  uint64_t bytes;
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return;
  if (fscanf(file, "%" SCNu64, &bytes) == 1 && bytes < *limit)
    *limit = (size_t)bytes;
  fclose(file);
}

/*
** Lower a limit to those of a control group and of all groups above it. `entry` is a line of
** /proc/self/cgroup, NUMBER:CONTROLLERS:GROUP. In version 2 of control groups, it names no
** controllers.
*/
static void lower_to_group(size_t *limit, char *entry)
{
  const char *controllers = strchr(entry, ':');
  char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
  if (group == NULL)
    return;
  *group++ = '\0';
  group[strcspn(group, "\n")] = '\0';
  const bool is_second = controllers[1] == '\0';
  if (!is_second && strstr(controllers, "memory") == NULL)
    return;
  for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
    char path[5000];
    *end = '\0';
    snprintf(path, sizeof path,
             is_second ? "/sys/fs/cgroup%s/memory.max"
                       : "/sys/fs/cgroup/memory%s/memory.limit_in_bytes",
             group);
    lower(limit, path);
  }
}

size_t rp_system_memory(void)
{
  size_t limit = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (file != NULL) {
    for (char entry[4500]; fgets(entry, sizeof entry, file) != NULL;)
      lower_to_group(&limit, entry);
    fclose(file);
  }
  return limit / 10 * 9;
}

/* The value of a field of /proc/cpuinfo in a line, or NULL. */
static const char *value_of(const char *field, char *line)
{
  char *value = strncmp(line, field, strlen(field)) == 0 ? strchr(line, ':') : NULL;
  if (value == NULL)
    return NULL;
  value[strcspn(value, "\n")] = '\0';
  return value + 1 + strspn(value + 1, " ");
}

/* A processor with the instruction set of ARM has numbers instead of a name. */
void rp_system_processor(char *name, size_t size)
{
  char implementer[16] = "";
  FILE *file = fopen("/proc/cpuinfo", "r");
  if (file == NULL)
    return;
  for (char line[256]; name[0] == '\0' && fgets(line, sizeof line, file) != NULL;) {
    const char *model = value_of("model name", line), *maker = value_of("CPU implementer", line);
    const char *part = value_of("CPU part", line);
    if (model != NULL)
      snprintf(name, size, "%s", model);
    else if (maker != NULL)
      snprintf(implementer, sizeof implementer, "%s", maker);
    else if (part != NULL)
      snprintf(name, size, "ARM, implementer %s, part %s", implementer, part);
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
  return getentropy(data, bytes) == 0;
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

/* The processors that Slurm gave to this task: more are visible if Slurm does not bind tasks. */
static int threads_of_task(void)
{
  const char *processors = getenv("SLURM_CPUS_PER_TASK");
  const long count = processors != NULL ? strtol(processors, NULL, 10) : 0;
  return count > 0 && count < omp_get_max_threads() ? (int)count : omp_get_max_threads();
}

int rp_system_threads(void)
{
  const int threads = getenv("OMP_NUM_THREADS") != NULL ? omp_get_max_threads() : threads_of_task();
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
