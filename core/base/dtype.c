#include "core/base/dtype.h"

#include <string.h>

static const struct {
  const char *name;
  size_t size;
} dtypes[RP_DTYPES] = {
    [RP_FLOAT32] = {"float32", 4},
    [RP_FLOAT64] = {"float64", 8},
    [RP_INT32] = {"int32", 4},
};

const char *rp_dtype_name(RpDtype dtype)
{
  return dtypes[dtype].name;
}

bool rp_dtype_from_name(const char *name, RpDtype *dtype)
{
  for (int i = 0; i < RP_DTYPES; i++) {
    if (strcmp(dtypes[i].name, name) == 0) {
      *dtype = (RpDtype)i;
      return true;
    }
  }
  return false;
}

size_t rp_dtype_size(RpDtype dtype)
{
  return dtypes[dtype].size;
}

bool rp_dtype_is_float(RpDtype dtype)
{
  return dtype != RP_INT32;
}
