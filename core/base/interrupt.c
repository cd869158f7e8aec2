#include "core/base/interrupt.h"

#include <stdatomic.h>
#include <stddef.h>

static atomic_bool raised;

void (*rp_interrupt_poll)(void);

void rp_interrupt_raise(void)
{
  atomic_store_explicit(&raised, true, memory_order_relaxed);
}

bool rp_interrupt_clear(void)
{
  return atomic_exchange_explicit(&raised, false, memory_order_relaxed);
}

bool rp_interrupted(void)
{
  if (rp_interrupt_poll != NULL)
    rp_interrupt_poll();
  return atomic_load_explicit(&raised, memory_order_relaxed);
}

RpStatus rp_interrupt_status(void)
{
  return rp_interrupted() ? rp_fail(RP_INTERRUPTED, "interrupted") : RP_OK;
}
