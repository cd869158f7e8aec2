/* Entropy in nats. */
#ifndef RP_TASK_ENTROPY_H
#define RP_TASK_ENTROPY_H

#include <math.h>

/* -p log p, what an outcome of probability p adds to an entropy; 0 for p = 0. */
static inline double rp_entropy_term(double p)
{
  return p > 0 ? -p * log(p) : 0;
}

#endif
