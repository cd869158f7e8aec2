/*
** Pooled memory. Freed blocks are kept by size class and handed out again:
** at the sizes of a training step the page faults of a fresh block cost more
** than the arithmetic done in it.
*/
#ifndef RP_MEMORY_H
#define RP_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
** A block of at least `bytes` bytes, aligned to 64, contents undefined; NULL
** with RP_OUT_OF_MEMORY when the limit or the system refuses. Zero bytes give
** a valid block. The caller owns it and returns it with rp_free.
*/
void *rp_alloc(size_t bytes);

/* Give a block back to the pool; NULL is allowed. */
void rp_free(void *block);

/*
** malloc, for what another library frees by free: outside the pool and its
** limit. NULL with RP_OUT_OF_MEMORY.
*/
void *rp_malloc(size_t bytes);

typedef struct RpMemoryUse {
  size_t live;   /* bytes handed out and not yet given back */
  size_t idle;   /* bytes kept for reuse */
  size_t peak;   /* largest `live` since the start or the last trim */
  size_t limit;  /* live + idle never pass this */
  size_t blocks; /* number of live blocks */
} RpMemoryUse;

RpMemoryUse rp_memory_use(void);

/* Return all idle blocks to the system, and restart `peak` from `live`. */
void rp_memory_trim(void);

/*
** Set the limit in bytes. The default is nine tenths of the smaller of the
** machine's memory and the control group's: past it the kernel would end the
** process, which a refused allocation does not.
*/
void rp_memory_set_limit(size_t bytes);

/*
** For tests: let `count` more allocations succeed, then refuse every one
** until called again; a negative count refuses none.
*/
void rp_memory_fail_after(int64_t count);

#endif
