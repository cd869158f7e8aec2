/*
** Ranks: the processes that mpirun starts together, if roper is built with MPI. Call
** rp_ranks_join first, and the other functions from the same thread. Every rank must
** call the functions marked "on every rank", in the same order.
*/
#ifndef RP_RANKS_H
#define RP_RANKS_H

#include <mpi.h>
#include <stdbool.h>

#include "core/base/status.h"

typedef struct RpRanks {
  int rank, size; /* this process, from 0, and the number of processes */
  double cores;   /* cores of this machine for this rank; a shared core counts as a fraction */
  int idle;       /* cores of this machine that mpirun may use, but bound no rank to */
} RpRanks;

/*
** Start MPI, on every rank. From then on SIGTERM, which mpirun sends to end the
** ranks, has the effect of Ctrl-C.
*/
RpStatus rp_ranks_join(RpRanks *ranks);

/* Replace *value with its sum or minimum over all ranks; on every rank. */
typedef enum RpRanksOp { RP_RANKS_SUM, RP_RANKS_LEAST } RpRanksOp;
RpStatus rp_ranks_combine(RpRanksOp op, double *value);

/*
** Leave MPI; on every rank. Returns `size` if no rank failed, after finalizing MPI;
** otherwise the lowest rank that failed, which should report the error; or -1 if not
** all ranks called this within `seconds`. SIGTERM is ignored from then on. If any
** rank failed, mpirun ends all of them as soon as this process ends.
*/
int rp_ranks_leave(bool failed, double seconds);

/* RP_OK, or RP_NO_ANSWER with MPI's message for an error code. */
RpStatus rp_ranks_check(int code);

/* Wait for a request to complete; RP_INTERRUPTED after Ctrl-C. */
RpStatus rp_ranks_wait(MPI_Request *request);

#endif
