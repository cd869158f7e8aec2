/* Threads: how many there are, and how many share a piece of work. */
#ifndef RP_THREADS_H
#define RP_THREADS_H

#include "core/base/status.h"

/*
** Number of threads of kernels, at least 1. Default: OMP_NUM_THREADS, or one per core. Parallel
** regions must ask for their number of threads (num_threads): OpenMP's own number is 1, so that
** OpenBLAS starts no threads.
*/
int rp_threads(void);

/*
** The largest number of threads: 64, or four per processor if that is more. More
** threads would not be faster, and OpenMP ends the process if it cannot start one.
*/
int rp_most_threads(void);

/* Set the number of threads; RP_BAD_ARGUMENT outside 1 .. rp_most_threads(). */
RpStatus rp_set_threads(int threads);

/* What a piece of work consists of; threads.c has the time that each takes. */
typedef enum RpWork {
  RP_WORK_ELEMENTS,  /* elements that are read, changed and written */
  RP_WORK_FUNCTIONS, /* exponentials, logarithms, random draws */
  RP_WORK_FLOPS      /* operations of matrix products in cache */
} RpWork;

/* Threads that share a piece of work. */
typedef struct RpTeam {
  int size;    /* from 1 to rp_threads() */
  double each; /* nanoseconds of the work of each, an estimate */
} RpTeam;

/*
** The threads that should share `count` units of work: so many that each has enough to do. Their
** number depends on nothing else, so that sums by thread have the same bits again.
*/
RpTeam rp_team(RpWork work, double count);

/*
** The number of threads, from 1 to the size of a team, that take part now. It is 1 if they sleep
** and have less to do than waking them takes, and while other programs keep the cores so busy that
** threads wait for them: the rest of the team would then wait too. Results must depend on the team
** only, so its parts are shared among the threads that are present.
*/
int rp_present(RpTeam team);

#endif
