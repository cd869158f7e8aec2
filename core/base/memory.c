#include "core/base/memory.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "core/base/status.h"
#include "core/base/system.h"

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

static Link idle_by_age = {&idle_by_age, &idle_by_age};
static Link idle_by_class[CLASSES]; /* a head that contains NULL is an empty list */
static RpMemoryUse use;
static int64_t failures_after = -1;

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
    use.limit = rp_system_memory();
  if (size > use.limit)
    return NULL;
  evict(use.limit - size);
  if (use.live > use.limit - size)
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

void *rp_alloc(int64_t bytes)
{
  Header *header = NULL;
  rp_system_enter();
  if (is_granted() && (uint64_t)bytes <= PTRDIFF_MAX) {
    int size_class;
    size_t size = round_up((size_t)bytes, &size_class);
    header = take(size, size_class);
    if (header != NULL) {
      use.live += header->s.size;
      use.blocks++;
      if (use.live > use.peak)
        use.peak = use.live;
    }
  }
  RpMemoryUse now = use;
  rp_system_leave();
  if (header == NULL)
    return rp_refuse(RP_OUT_OF_MEMORY,
                     "out of memory: asked for %" PRId64 " bytes with %zu in use; the limit is %zu",
                     bytes, now.live, now.limit);
  return header + 1;
}

void *rp_alloc_array(int64_t count, size_t size)
{
  int64_t bytes;
  return rp_alloc(__builtin_mul_overflow(count, size, &bytes) ? INT64_MAX : bytes);
}

void rp_free(void *block)
{
  if (block == NULL)
    return;
  Header *header = (Header *)block - 1;
  rp_system_enter();
  use.live -= header->s.size;
  use.blocks--;
  make_idle(header);
  /* Keep what the peak needs and a little more, instead of blocks of every size used so far. */
  const size_t more = use.peak / 4 + ((size_t)64 << 20);
  evict(!KEEPS_IDLE ? 0 : use.peak < SIZE_MAX - more ? use.peak + more : SIZE_MAX);
  rp_system_leave();
}

void *rp_malloc(size_t bytes)
{
  rp_system_enter();
  bool granted = is_granted();
  rp_system_leave();
  void *block = granted ? malloc(bytes > 0 ? bytes : 1) : NULL;
  if (block == NULL)
    rp_fail(RP_OUT_OF_MEMORY, "out of memory: asked for %zu bytes", bytes);
  return block;
}

RpMemoryUse rp_memory_use(void)
{
  rp_system_enter();
  if (use.limit == 0)
    use.limit = rp_system_memory();
  RpMemoryUse now = use;
  rp_system_leave();
  return now;
}

void rp_memory_trim(void)
{
  rp_system_enter();
  evict(0);
  use.peak = use.live;
  rp_system_leave();
}

void rp_memory_set_limit(int64_t bytes)
{
  rp_system_enter();
  const size_t chosen = (uint64_t)bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
  use.limit = bytes > 0 ? chosen : rp_system_memory();
  rp_system_leave();
}

void rp_memory_fail_after(int64_t count)
{
  rp_system_enter();
  failures_after = count;
  rp_system_leave();
}
