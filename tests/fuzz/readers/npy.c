/* Reads any bytes as an .npy file. */
#include "core/tensor/npy.h"

#include "core/base/status.h"
#include "tests/fuzz/readers/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  rp_fail(RP_BAD_FILE, "load_npy");
  rp_tensor_release(rp_npy_load(fuzz_file(data, size)));
  fuzz_settle("load_npy");
  return 0;
}
