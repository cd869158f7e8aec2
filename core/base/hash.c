#include "core/base/hash.h"

uint64_t rp_hash(uint64_t before, const void *data, size_t bytes)
{
  const unsigned char *byte = data;
  uint64_t hash = before;
  for (size_t i = 0; i < bytes; i++)
    hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
  return hash;
}
