/* Entropy in nats. */
#ifndef RP_TASK_ENTROPY_H
#define RP_TASK_ENTROPY_H

#include <math.h>

/* -p log p, the term of the entropy for an outcome of probability p; 0 for p = 0. */
static inline double rp_entropy_term(double p)
{
  return p > 0 ? -p * log(p) : 0;
}

/* The probability that a count, uniform in 1 .. most, is at least `n` (0 .. most). */
static inline double rp_count_reaches(int n, int most)
{
  return n == 0 ? 1 : (double)(most - n + 1) / most;
}

/* The probability that a count, uniform in 1 .. most, is n, given that it is at least n. */
static inline double rp_count_ends(int n, int most)
{
  return n == 0 ? 0 : 1.0 / (most - n + 1);
}

/* The entropy of a choice between an end, with probability `end`, and `choices` outcomes that are
   equally likely. */
static inline double rp_entropy_or_end(double end, int choices)
{
  double more = 1 - end;
  return rp_entropy_term(end) + rp_entropy_term(more) + (more > 0 ? more * log(choices) : 0);
}

#endif
