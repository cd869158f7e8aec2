/*
** Memory pool. Freed blocks are kept by size class and reused: at the sizes
** of a training step, the page faults of a fresh block cost more than the
** arithmetic done in it.
*/
#ifndef RP_MEMORY_H
#define RP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
** Allocate at least `bytes` bytes, aligned to 64, contents undefined. Zero bytes
** give a valid block. The caller owns it and returns it with rp_free. NULL with
** RP_OUT_OF_MEMORY if the limit is reached or the system has no memory.
*/
void *rp_alloc(size_t bytes);

/* Return a block to the pool; NULL is allowed. */
void rp_free(void *block);

/*
** malloc, for blocks that another library frees with free(): outside the pool
** and its limit. NULL with RP_OUT_OF_MEMORY if it fails.
*/
void *rp_malloc(size_t bytes);

typedef struct RpMemoryUse {
  size_t live;   /* bytes allocated and not yet freed */
  size_t idle;   /* bytes kept for reuse */
  size_t peak;   /* largest `live` since the start or the last trim */
  size_t limit;  /* live + idle never exceed this */
  size_t blocks; /* number of live blocks */
} RpMemoryUse;

RpMemoryUse rp_memory_use(void);

/* Return all idle blocks to the system and reset `peak` to `live`. */
void rp_memory_trim(void);

/*
** Set the limit in bytes; 0 restores the default, nine tenths of the machine's
** memory or of the control group's limit, whichever is smaller. Beyond that
** Linux might kill the process; a failed allocation does not.
*/
void rp_memory_set_limit(size_t bytes);

/*
** For tests: let `count` more allocations succeed and fail all later ones, until
** the next call. A negative count fails none.
*/
void rp_memory_fail_after(int64_t count);

#endif
