/* The memory pool where size_t has 32 bits and the system allows all of them: prints the results of
   allocations. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/status.h"
#include "core/base/system.h"

#define size_t uint32_t
#undef SIZE_MAX
#define SIZE_MAX UINT32_MAX
#undef PTRDIFF_MAX
#define PTRDIFF_MAX INT32_MAX
#include "core/base/memory.c" // NOLINT(bugprone-suspicious-include)
#undef size_t

size_t rp_system_memory(void)
{
  return UINT32_MAX;
}

void rp_system_enter(void)
{
}

void rp_system_leave(void)
{
}

int main(void)
{
  const int64_t large = 1900000000, wraps = ((int64_t)1 << 32) + 8;
  printf("%d %d %d\n", rp_alloc(wraps) == NULL, rp_alloc(-1) == NULL,
         rp_alloc_array((int64_t)1 << 61, 16) == NULL);
  rp_memory_set_limit(wraps);
  printf("%d\n", rp_memory_use().limit == UINT32_MAX);
  void *a = rp_alloc(large), *b = rp_alloc(large);
  printf("%d %d %d\n", a != NULL, b != NULL, rp_alloc(large) == NULL);
  rp_free(b);
  printf("%d ", rp_memory_use().idle >= large);
  printf("%d\n", rp_alloc(large) == b);
  rp_free(b);
  rp_free(a);
  rp_memory_trim();
  printf("%s\n", rp_message());
  return 0;
}
