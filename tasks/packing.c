#include "tasks/packing.h"

#include "core/base/memory.h"

RpStatus rp_packed_floor(const RpProblemLaw *law, int64_t length, double *nats)
{
  double *total = rp_alloc_array(length + 1, sizeof *total);
  if (total == NULL)
    return RP_OUT_OF_MEMORY;
  int shortest = 0, longest = RP_LONGEST_PROBLEM;
  while (law->chance[shortest] == 0)
    shortest++;
  while (law->chance[longest] == 0)
    longest--;
  double first_problem = 0;
  total[0] = 0;
  for (int64_t m = 1; m <= length; m++) {
    if (m <= longest)
      first_problem += law->entropy[m - 1];
    total[m] = first_problem;
    for (int n = shortest; n <= longest && n <= m; n++)
      total[m] += law->chance[n] * total[m - n];
  }
  *nats = (total[length] - law->entropy[0]) / (double)(length - 1);
  rp_free(total);
  return RP_OK;
}

double rp_repeated_floor(const double *entropy, int64_t problem, int64_t length)
{
  double total = -entropy[0];
  for (int64_t i = 0; i < problem && i < length; i++) {
    const int64_t times = length / problem + (i < length % problem);
    total += entropy[i] * (double)times;
  }
  return total / (double)(length - 1);
}
