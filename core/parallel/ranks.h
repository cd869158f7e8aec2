/*
** The processes that mpirun started together, the ranks, where roper is built
** with MPI. Nothing here is called before rp_ranks_join, and all of it from the
** thread that called that. What every rank must call, each calls in the same
** order.
*/
#ifndef RP_RANKS_H
#define RP_RANKS_H

#include <mpi.h>
#include <stdbool.h>

#include "core/base/status.h"

typedef struct RpRanks {
  int rank, size; /* this process, from 0; how many there are */
  double cores;   /* of this machine that this rank has, those that it shares in parts */
  int idle;       /* cores that mpirun has here, but bound no rank to */
} RpRanks;

/*
** Start MPI. Every rank must. From then on SIGTERM, by which mpirun ends the
** ranks, counts as Ctrl-C.
*/
RpStatus rp_ranks_join(RpRanks *ranks);

/* *value becomes the sum or the least of those of all ranks, the same on each. Every rank must. */
typedef enum RpRanksOp { RP_RANKS_SUM, RP_RANKS_LEAST } RpRanksOp;
RpStatus rp_ranks_combine(RpRanksOp op, double *value);

/*
** The end of a rank: the lowest that failed, which is the one to tell why; `size`
** where none did, and MPI has ended; -1 where not all are here after so many
** seconds. SIGTERM is ignored from then on. Where any failed, mpirun ends all
** once this process ends.
*/
int rp_ranks_leave(bool failed, double seconds);

/* RP_OK, or RP_NO_ANSWER with what MPI says. */
RpStatus rp_ranks_check(int code);

/* Wait for what MPI does; RP_INTERRUPTED after Ctrl-C. */
RpStatus rp_ranks_wait(MPI_Request *request);

#endif
