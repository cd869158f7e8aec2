#define _GNU_SOURCE
#include "tests/fuzz/readers/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/memory.h"
#include "core/base/status.h"

enum { LIMIT = 1 << 24 }; /* bytes, more than any input of the corpus needs */

void fuzz_require(bool holds, const char *property)
{
  if (holds)
    return;
  fprintf(stderr, "expected: %s; the last message: %s\n", property, rp_message());
  abort();
}

const char *fuzz_file(const void *data, size_t size)
{
  static char path[64];
  static int descriptor = -1;
  if (descriptor < 0) {
    rp_memory_set_limit(LIMIT);
    descriptor = memfd_create("input", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  }
  bool is_written =
      ftruncate(descriptor, 0) == 0 && pwrite(descriptor, data, size, 0) == (ssize_t)size;
  fuzz_require(is_written, "a temporary file");
  return path;
}

void fuzz_settle(const char *function)
{
  fuzz_require(rp_memory_use().blocks == 0, "no leaked block");
  const char *message = rp_message();
  if (strstr(message, "out of memory") == NULL)
    fuzz_require(strncmp(message, function, strlen(function)) == 0, function);
}
