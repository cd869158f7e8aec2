/* Content hash, not cryptographic: 64-bit FNV-1a (Fowler, Noll, Vo 1991). */
#ifndef RP_HASH_H
#define RP_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The hash of an empty input. */
#define RP_HASH_START UINT64_C(0xcbf29ce484222325)

/* Continue the hash `before` with `bytes` bytes of data. */
uint64_t rp_hash(uint64_t before, const void *data, size_t bytes);

#endif
