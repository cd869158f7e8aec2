/*
** Memory pool. Freed blocks are kept by size class and reused: in a training
** step, the page faults of a new block cost more than the arithmetic done in it.
*/
#ifndef RP_MEMORY_H
#define RP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
** Allocate at least `bytes` bytes, aligned to 64, contents undefined. The block is
** valid even for 0 bytes. The caller releases it with rp_free. NULL with
** RP_OUT_OF_MEMORY if the limit would be exceeded, if pointers cannot address that many
** bytes, or if the system has no memory. Compute `bytes` and `count` in int64_t: where
** size_t has 32 bits, a product of size_t would lose bits before they are checked.
*/
void *rp_alloc(int64_t bytes);

/* rp_alloc for `count` elements of `size` bytes each. */
void *rp_alloc_array(int64_t count, size_t size);

/* Return a block to the pool; NULL is allowed. */
void rp_free(void *block);

/*
** malloc, for blocks that another library releases with free(). These do not
** belong to the pool and do not count towards its limit. NULL with
** RP_OUT_OF_MEMORY if malloc fails.
*/
void *rp_malloc(size_t bytes);

typedef struct RpMemoryUse {
  size_t live;   /* bytes allocated and not yet freed */
  size_t idle;   /* bytes kept for reuse */
  size_t peak;   /* largest `live` since the start or the last trim */
  size_t limit;  /* no allocation may raise live + idle above this */
  size_t blocks; /* number of live blocks */
} RpMemoryUse;

RpMemoryUse rp_memory_use(void);

/* Return all idle blocks to the system and reset `peak` to `live`. */
void rp_memory_trim(void);

/*
** Set the limit in bytes; 0 restores the default, that of the system: a process that
** uses more may be killed, whereas a failed allocation is an error.
*/
void rp_memory_set_limit(int64_t bytes);

/*
** For tests: until the next call, let `count` more allocations succeed and all
** later ones fail. With a negative count, none fails.
*/
void rp_memory_fail_after(int64_t count);

#endif
