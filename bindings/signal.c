/* Ctrl-C as SIGINT. */
#define _POSIX_C_SOURCE 200809L
#include "bindings/interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "core/base/interrupt.h"

static struct sigaction previous; /* action of SIGINT before rpl_listen */

static void handle_signal(int number)
{
  (void)number;
  rpl_interrupt_press();
}

static const struct sigaction pressing = {.sa_handler = handle_signal};

bool rpl_listen(void)
{
  return sigaction(SIGINT, &pressing, &previous) == 0;
}

void rpl_listen_again(void)
{
  sigaction(SIGINT, &pressing, NULL);
}

void rpl_stop_listening(void)
{
  sigaction(SIGINT, &previous, NULL);
}

bool rpl_wait_for_input(int descriptor)
{
  struct pollfd input = {.fd = descriptor, .events = POLLIN};
  int ready = 0;
  while (ready == 0 && !rp_interrupted()) {
    ready = poll(&input, 1, 100);
    if (ready < 0 && errno == EINTR)
      ready = 0;
  }
  return ready != 0;
}
