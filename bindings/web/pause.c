/*
** Ctrl-C in a page. Nothing interrupts a worker from outside, and while it computes it reads no
** messages. Therefore the virtual machine (rpw_poll) and long kernels (rp_interrupt_poll) look at
** the clock now and then, and pause to let the worker read its messages, one of which may call
** rpl_interrupt_press.
*/
#include "bindings/web/page.h"

#include <time.h>

#include "bindings/interrupt.h"
#include "core/base/interrupt.h"

/* Between two looks at the clock: jumps and calls of Lua code, and questions of kernels. */
enum { JUMPS = 5000, POLLS = 8 };

RPW_IMPORT(rest) void rpw_rest(void);

int rpw_jumps_left = JUMPS;
void rpw_look(lua_State *L);

static int64_t period; /* nanoseconds between two pauses, or 0 */
static int64_t begin;  /* when the last pause ended */
static bool can_suspend;

int64_t rpw_now(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void rpw_proceed(void)
{
  begin = rpw_now();
}

static bool is_due(void)
{
  return period > 0 && rpw_now() - begin > period;
}

static void suspend_if_due(void)
{
  if (is_due()) {
    rpw_rest();
    rpw_proceed();
  }
}

static void poll_kernel(void)
{
  static int left = POLLS;
  if (--left < 0) {
    left = POLLS;
    suspend_if_due();
  }
}

void rpw_set_pauses(int milliseconds, bool suspends)
{
  period = (int64_t)milliseconds * 1000000;
  can_suspend = suspends;
  rp_interrupt_poll = suspends ? poll_kernel : NULL;
}

static void pause_code(lua_State *L, lua_Debug *where)
{
  (void)where;
  lua_sethook(L, NULL, 0, 0);
  rpl_pause(L);
}

void rpw_look(lua_State *L)
{
  rpw_jumps_left = JUMPS;
  if (can_suspend)
    suspend_if_due();
  else if (is_due() && lua_gethook(L) == NULL)
    lua_sethook(L, pause_code, LUA_MASKCOUNT, 1);
}

bool rpl_listen(void)
{
  return true;
}

void rpl_stop_listening(void)
{
}

/* A page has no input. */
bool rpl_wait_for_input(int descriptor)
{
  (void)descriptor;
  return true;
}

RPW_EXPORT(rpw_interrupt) void rpw_interrupt(void)
{
  rpl_interrupt_press();
}
