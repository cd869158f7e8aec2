#include "core/base/size.h"

bool rp_size_product(int count, const int64_t *sizes, int64_t *product)
{
  *product = 1;
  for (int i = 0; i < count; i++)
    if (sizes[i] < 0 || __builtin_mul_overflow(*product, sizes[i] > 0 ? sizes[i] : 1, product) ||
        *product > RP_LARGEST_SIZE)
      return false;
  return true;
}
