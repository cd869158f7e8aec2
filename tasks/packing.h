/*
** Loss floor of tasks whose problems are independent: the best predictor always
** knows its position in a problem, and rows packed with problems are a renewal
** process.
*/
#ifndef RP_TASK_PACKING_H
#define RP_TASK_PACKING_H

#include <stdint.h>

#include "core/base/status.h"

enum { RP_LONGEST_PROBLEM = 640 };

/* Distribution of one problem, by number of characters n; 0 where not set. */
typedef struct RpProblemLaw {
  double chance[RP_LONGEST_PROBLEM + 1];  /* that it has n characters */
  double entropy[RP_LONGEST_PROBLEM + 1]; /* expected nats of the character after the first n */
} RpProblemLaw;

/*
** Nats per token, averaged over tokens 2 to `length` (>= 2) of a packed row.
** With E(m) the expected entropy of the first m tokens:
**   E(m) = entropy[0] + ... + entropy[m - 1] + sum_n chance[n] E(m - n),
**   nats = (E(length) - entropy[0]) / (length - 1).
*/
RpStatus rp_packed_floor(const RpProblemLaw *law, int64_t length, double *nats);

#endif
