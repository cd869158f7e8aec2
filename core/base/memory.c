#define _POSIX_C_SOURCE 200809L
#include "core/base/memory.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/status.h"

enum {
  ALIGNMENT = 64,
  PAGE = 4096,
  STEPS = 8,           /* size classes per doubling: rounding wastes at most 1/8 */
  CLASSES = 64 * STEPS /* enough for every size_t */
};

#ifdef RP_POOL_NONE
enum { KEEPS_IDLE = 0 }; /* a sanitizer detects use after free only of blocks that are freed */
#else
enum { KEEPS_IDLE = 1 };
#endif

typedef union Header Header;

/* A link of a circular list. The head of the list is also a link. */
typedef struct Link {
  struct Link *next, *previous;
} Link;

/* Header in front of every block; one alignment unit, which keeps the data aligned. */
union Header {
  struct {
    Link by_age;   /* in the list of all idle blocks, newest first */
    Link by_class; /* in the list of idle blocks of one size class */
    size_t size;   /* of the whole block, header included */
    int size_class;
  } s;
  unsigned char padding[ALIGNMENT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Link idle_by_age = {&idle_by_age, &idle_by_age};
static Link idle_by_class[CLASSES]; /* a head that contains NULL is an empty list */
static RpMemoryUse use;
static int64_t failures_after = -1;

static size_t system_limit(void)
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

/* Round up to the next of STEPS sizes per doubling and set *size_class. */
static size_t round_up(size_t bytes, int *size_class)
{
  size_t units = (bytes + sizeof(Header) + ALIGNMENT - 1) / ALIGNMENT;
  if (units < STEPS) {
    *size_class = (int)units;
    return units * ALIGNMENT;
  }
  int shift = 0;
  while (units >> shift >= (size_t)2 * STEPS)
    shift++;
  size_t mantissa = (units + ((size_t)1 << shift) - 1) >> shift;
  if (mantissa == (size_t)2 * STEPS) {
    shift++;
    mantissa = STEPS;
  }
  *size_class = (shift + 1) * STEPS + (int)(mantissa - STEPS);
  return (mantissa << shift) * ALIGNMENT;
}

static void insert(Link *head, Link *link)
{
  if (head->next == NULL)
    head->next = head->previous = head;
  link->next = head->next;
  link->previous = head;
  head->next->previous = link;
  head->next = link;
}

static void unlink_from_ring(Link *link)
{
  link->previous->next = link->next;
  link->next->previous = link->previous;
}

static void make_idle(Header *header)
{
  insert(&idle_by_age, &header->s.by_age);
  insert(&idle_by_class[header->s.size_class], &header->s.by_class);
  use.idle += header->s.size;
}

static void end_idle(Header *header)
{
  unlink_from_ring(&header->s.by_age);
  unlink_from_ring(&header->s.by_class);
  use.idle -= header->s.size;
}

/* Free the blocks that have been idle longest until live and idle blocks fit in `budget` bytes. */
static void evict(size_t budget)
{
  while (use.idle > 0 && use.live + use.idle > budget) {
    Header *oldest = (Header *)idle_by_age.previous; /* by_age is the first member */
    end_idle(oldest);
    free(oldest);
  }
}

/* Take an idle block of the class or, for a page or more, of a class up to twice the size: every
   page of fresh memory costs a fault. NULL if there is none. */
static Header *take_idle(size_t size, int size_class)
{
  int largest = size < PAGE ? size_class : size_class + STEPS;
  for (int c = size_class; c <= largest && c < CLASSES; c++) {
    Link *idle = &idle_by_class[c];
    if (idle->next != NULL && idle->next != idle) {
      Header *header = (Header *)((char *)idle->next - offsetof(Header, s.by_class));
      end_idle(header);
      return header;
    }
  }
  return NULL;
}

static Header *take(size_t size, int size_class)
{
  Header *idle = take_idle(size, size_class);
  if (idle != NULL)
    return idle;
  if (use.limit == 0)
    use.limit = system_limit();
  if (size > use.limit)
    return NULL;
  evict(use.limit - size);
  if (use.live + size > use.limit)
    return NULL;
  Header *header = aligned_alloc(ALIGNMENT, size);
  if (header == NULL) {
    evict(0);
    header = aligned_alloc(ALIGNMENT, size);
  }
  if (header != NULL) {
    header->s.size = size;
    header->s.size_class = size_class;
  }
  return header;
}

/* True if the next allocation may succeed. Decrements the count of rp_memory_fail_after. */
static bool is_granted(void)
{
  if (failures_after > 0)
    failures_after--;
  else if (failures_after == 0)
    return false;
  return true;
}

void *rp_alloc(size_t bytes)
{
  Header *header = NULL;
  pthread_mutex_lock(&lock);
  if (is_granted() && bytes <= SIZE_MAX / 2) {
    int size_class;
    size_t size = round_up(bytes, &size_class);
    header = take(size, size_class);
    if (header != NULL) {
      use.live += header->s.size;
      use.blocks++;
      if (use.live > use.peak)
        use.peak = use.live;
    }
  }
  RpMemoryUse now = use;
  pthread_mutex_unlock(&lock);
  if (header == NULL)
    return rp_refuse(RP_OUT_OF_MEMORY,
                     "out of memory: asked for %zu bytes with %zu in use; the limit is %zu", bytes,
                     now.live, now.limit);
  return header + 1;
}

void rp_free(void *block)
{
  if (block == NULL)
    return;
  Header *header = (Header *)block - 1;
  pthread_mutex_lock(&lock);
  use.live -= header->s.size;
  use.blocks--;
  make_idle(header);
  /* Keep what the peak needs and a little more, instead of blocks of every size used so far. */
  evict(KEEPS_IDLE ? use.peak + use.peak / 4 + ((size_t)64 << 20) : 0);
  pthread_mutex_unlock(&lock);
}

void *rp_malloc(size_t bytes)
{
  pthread_mutex_lock(&lock);
  bool granted = is_granted();
  pthread_mutex_unlock(&lock);
  void *block = granted ? malloc(bytes > 0 ? bytes : 1) : NULL;
  if (block == NULL)
    rp_fail(RP_OUT_OF_MEMORY, "out of memory: asked for %zu bytes", bytes);
  return block;
}

RpMemoryUse rp_memory_use(void)
{
  pthread_mutex_lock(&lock);
  if (use.limit == 0)
    use.limit = system_limit();
  RpMemoryUse now = use;
  pthread_mutex_unlock(&lock);
  return now;
}

void rp_memory_trim(void)
{
  pthread_mutex_lock(&lock);
  evict(0);
  use.peak = use.live;
  pthread_mutex_unlock(&lock);
}

void rp_memory_set_limit(size_t bytes)
{
  pthread_mutex_lock(&lock);
  use.limit = bytes > 0 ? bytes : system_limit();
  pthread_mutex_unlock(&lock);
}

void rp_memory_fail_after(int64_t count)
{
  pthread_mutex_lock(&lock);
  failures_after = count;
  pthread_mutex_unlock(&lock);
}
