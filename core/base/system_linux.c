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

/* The numbers in a file, at most two. Returns how many there are. */
static int read_numbers(const char *folder, const char *name, uint64_t numbers[2])
{
  char path[5100];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  if (file == NULL)
    return 0;
  const int count = fscanf(file, "%" SCNu64 " %" SCNu64, &numbers[0], &numbers[1]);
  fclose(file);
  return count < 0 ? 0 : count;
}

/* A resource that the control groups of Linux limit. */
typedef struct Resource {
  const char *controller;
  uint64_t (*limit_of)(const char *folder, bool is_second); /* UINT64_MAX if it is unlimited */
} Resource;

static uint64_t memory_limit(const char *folder, bool is_second)
{
  uint64_t bytes[2];
  const int count = read_numbers(folder, is_second ? "memory.max" : "memory.limit_in_bytes", bytes);
  return count > 0 ? bytes[0] : UINT64_MAX;
}

/* Processors, rounded up: the time for all threads in each period of time. */
static uint64_t processors_limit(const char *folder, bool is_second)
{
  uint64_t quota[2] = {0}, period[2] = {0};
  if (is_second) {
    read_numbers(folder, "cpu.max", quota);
    period[0] = quota[1];
  } else {
    read_numbers(folder, "cpu.cfs_quota_us", quota);
    read_numbers(folder, "cpu.cfs_period_us", period);
  }
  const bool is_limited = quota[0] > 0 && quota[0] <= INT64_MAX && period[0] > 0; /* or -1 */
  return is_limited ? (quota[0] + period[0] - 1) / period[0] : UINT64_MAX;
}

static const Resource memory = {"memory", memory_limit}, processors = {"cpu", processors_limit};

/* Is a word in a list that is separated by commas? */
static bool contains(const char *list, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = list; at != NULL; at = strchr(at, ',') != NULL ? strchr(at, ',') + 1 : NULL)
    if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
      return true;
  return false;
}

/*
** The lowest limit of a control group and of all groups above it. `entry` is a line of
** /proc/self/cgroup, NUMBER:CONTROLLERS:GROUP. In version 2 of control groups, it names no
** controllers.
*/
static uint64_t limit_of_group(const Resource *resource, char *entry)
{
  char *controllers = strchr(entry, ':');
  char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
  if (group == NULL)
    return UINT64_MAX;
  *group++ = '\0';
  group[strcspn(group, "\n")] = '\0';
  const bool is_second = controllers[1] == '\0';
  if (!is_second && !contains(controllers + 1, resource->controller))
    return UINT64_MAX;
  uint64_t lowest = UINT64_MAX;
  for (char *end = group + strlen(group); end != NULL; end = strrchr(group, '/')) {
    char folder[5000];
    *end = '\0';
    snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s%s", is_second ? "" : "/",
             is_second ? "" : resource->controller, group);
    const uint64_t limit = resource->limit_of(folder, is_second);
    lowest = limit < lowest ? limit : lowest;
  }
  return lowest;
}

/* The limit of a resource for this process, at most `limit`. */
static uint64_t limit_here(const Resource *resource, uint64_t limit)
{
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (file == NULL)
    return limit;
  for (char entry[4500]; fgets(entry, sizeof entry, file) != NULL;) {
    const uint64_t here = limit_of_group(resource, entry);
    limit = here < limit ? here : limit;
  }
  fclose(file);
  return limit;
}

size_t rp_system_memory(void)
{
  const uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  return (size_t)limit_here(&memory, all) / 10 * 9;
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

/*
** One for each processor on which this process may run, for which its control groups give it time,
** and that Slurm gave to this task: more are visible if Slurm does not bind tasks.
*/
static int threads_of_task(void)
{
  const int all = (int)limit_here(&processors, (uint64_t)omp_get_max_threads());
  const char *task = getenv("SLURM_CPUS_PER_TASK");
  const long count = task != NULL ? strtol(task, NULL, 10) : 0;
  return count > 0 && count < all ? (int)count : all;
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
