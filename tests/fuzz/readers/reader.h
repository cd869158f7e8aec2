/* What the targets of libFuzzer share: an input as a file, and a limit on memory. */
#ifndef RP_FUZZ_READER_H
#define RP_FUZZ_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called by libFuzzer for each input; always returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The path of a file that contains `size` bytes of data, until the next call. */
const char *fuzz_file(const void *data, size_t size);

/* End the process with a message unless `holds`; libFuzzer then keeps the input. */
void fuzz_require(bool holds, const char *property);

/* End the process if the last message does not begin with `function`, or if blocks leaked. */
void fuzz_settle(const char *function);

#endif
