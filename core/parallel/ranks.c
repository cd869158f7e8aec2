#define _GNU_SOURCE /* sched_getaffinity */
#include "core/parallel/ranks.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "core/base/interrupt.h"

static RpRanks here;
static MPI_Comm leaving; /* separate: a rank may fail during a call on the main communicator */

RpStatus rp_ranks_check(int code)
{
  char text[MPI_MAX_ERROR_STRING];
  int length;
  if (code == MPI_SUCCESS)
    return RP_OK;
  MPI_Error_string(code, text, &length);
  return rp_fail(RP_NO_ANSWER, "MPI: %s", text);
}

static double seconds_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/*
** Wait at most `seconds` and set *done to whether the request completed. MPI's own
** wait ignores Ctrl-C and occupies a core that another rank may need.
*/
static RpStatus wait_for(MPI_Request *request, double seconds, bool heed, bool *done)
{
  const double begin = seconds_now(), awake = 0.01;
  const struct timespec nap = {.tv_nsec = 50000};
  RpStatus status = RP_OK;
  int came = 0;
  for (double past = 0; status == RP_OK && past <= seconds; past = seconds_now() - begin) {
    status = rp_ranks_check(MPI_Test(request, &came, MPI_STATUS_IGNORE));
    if (came)
      break;
    if (status == RP_OK && heed)
      status = rp_interrupt_status();
    if (past < awake)
      sched_yield();
    else
      nanosleep(&nap, NULL);
  }
  *done = came != 0;
  return status;
}

RpStatus rp_ranks_wait(MPI_Request *request)
{
  bool done;
  return wait_for(request, INFINITY, true, &done);
}

static void as_interrupt(int number)
{
  (void)number;
  raise(SIGINT);
}

/* Count the idle cores, and those of this rank, each divided by the ranks that may use it. */
static RpStatus count_cores(RpRanks *ranks)
{
  cpu_set_t mine, launcher;
  int users[CPU_SETSIZE];
  MPI_Comm machine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) { /* perhaps too many cores for a cpu_set_t */
    CPU_ZERO(&mine);
    CPU_SET(0, &mine);
  }
  if (sched_getaffinity(getppid(), sizeof launcher, &launcher) != 0)
    launcher = mine;
  for (int i = 0; i < CPU_SETSIZE; i++)
    users[i] = CPU_ISSET(i, &mine) ? 1 : 0;
  int code = MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  if (code == MPI_SUCCESS) {
    code = MPI_Allreduce(MPI_IN_PLACE, users, CPU_SETSIZE, MPI_INT, MPI_SUM, machine);
    MPI_Comm_free(&machine);
  }
  for (int i = 0; i < CPU_SETSIZE; i++) {
    ranks->cores += CPU_ISSET(i, &mine) ? 1.0 / users[i] : 0;
    ranks->idle += CPU_ISSET(i, &launcher) && users[i] == 0;
  }
  return rp_ranks_check(code);
}

RpStatus rp_ranks_join(RpRanks *ranks)
{
  int provided;
  const struct sigaction action = {.sa_handler = as_interrupt};
  RpStatus status = rp_ranks_check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided));
  if (status != RP_OK)
    return status;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &here.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &here.size);
  sigaction(SIGTERM, &action, NULL);
  status = rp_ranks_check(MPI_Comm_dup(MPI_COMM_WORLD, &leaving));
  if (status == RP_OK)
    status = count_cores(&here);
  *ranks = here;
  return status;
}

RpStatus rp_ranks_combine(RpRanksOp op, double *value)
{
  static double shared; /* static, because MPI may still write to it after Ctrl-C */
  MPI_Request request;
  shared = *value;
  RpStatus status = rp_ranks_check(MPI_Iallreduce(MPI_IN_PLACE, &shared, 1, MPI_DOUBLE,
                                                  op == RP_RANKS_SUM ? MPI_SUM : MPI_MIN,
                                                  MPI_COMM_WORLD, &request));
  if (status == RP_OK)
    status = rp_ranks_wait(&request);
  *value = shared;
  return status;
}

int rp_ranks_leave(bool failed, double seconds)
{
  static int first;
  MPI_Request request;
  bool all = false;
  signal(SIGTERM, SIG_IGN);
  first = failed ? here.rank : here.size;
  RpStatus status =
      rp_ranks_check(MPI_Iallreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, leaving, &request));
  if (status == RP_OK)
    status = wait_for(&request, seconds, false, &all);
  if (status != RP_OK || !all)
    return -1;
  if (first == here.size)
    MPI_Finalize();
  return first;
}
