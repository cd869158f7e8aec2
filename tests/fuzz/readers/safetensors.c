/* Reads any bytes as a safetensors file. */
#include "core/tensor/safetensors.h"

#include "core/base/status.h"
#include "tests/fuzz/readers/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  RpSafetensors contents;
  rp_fail(RP_BAD_FILE, "load_safetensors");
  rp_safetensors_load(fuzz_file(data, size), &contents);
  rp_safetensors_release(&contents);
  fuzz_settle("load_safetensors");
  return 0;
}
