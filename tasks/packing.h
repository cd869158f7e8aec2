/*
** Loss floor of tasks whose problems are independent of each other. The best predictor
** always knows its position in a problem, and a row filled with problems is a renewal
** process.
*/
#ifndef RP_TASK_PACKING_H
#define RP_TASK_PACKING_H

#include <stdint.h>

#include "core/base/status.h"

enum { RP_LONGEST_PROBLEM = 640 };

/* Lengths and entropies of a random problem, indexed by a number of characters n. */
typedef struct RpProblemLaw {
  double chance[RP_LONGEST_PROBLEM + 1];  /* probability that the problem has n characters */
  double entropy[RP_LONGEST_PROBLEM + 1]; /* expected nats of character n + 1, 0 if it has none */
} RpProblemLaw;

/*
** Set *nats to the floor: nats per token, averaged over tokens 2 to `length` (>= 2) of
** a row. RP_OUT_OF_MEMORY or RP_OK. With E(m) the expected entropy of the first m
** tokens:
**   E(m) = entropy[0] + ... + entropy[m - 1] + sum_n chance[n] E(m - n),
**   nats = (E(length) - entropy[0]) / (length - 1).
*/
RpStatus rp_packed_floor(const RpProblemLaw *law, int64_t length, double *nats);

/*
** The floor, as above, if all problems have `problem` characters. entropy[i] is the
** expected nats of character i + 1.
*/
double rp_repeated_floor(const double *entropy, int64_t problem, int64_t length);

#endif
