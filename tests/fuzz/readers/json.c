/* Parses any bytes as JSON; a value that parses is printed and parsed back. */
#include "core/base/json.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/readers/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
  const size_t print = JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_REAL_PRECISION(17);
  json_error_t error;
  json_t *tree, *again;
  if (rp_json_parse((const char *)data, size, flags, &tree, &error) != RP_OK)
    return 0;
  rp_json_begin();
  char *text = rp_json_print(tree, print);
  fuzz_require(text != NULL, "a value that was parsed can be printed");
  RpStatus status = rp_json_parse(text, strlen(text), flags, &again, &error);
  fuzz_require(status == RP_OK && json_equal(tree, again), "the same value after printing it");
  json_decref(tree);
  json_decref(again);
  free(text);
  return 0;
}
