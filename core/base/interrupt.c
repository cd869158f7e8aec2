#include "core/base/interrupt.h"

#include <stdatomic.h>

static atomic_bool raised;

void rp_interrupt_raise(void)
{
  atomic_store_explicit(&raised, true, memory_order_relaxed);
}

void rp_interrupt_clear(void)
{
  atomic_store_explicit(&raised, false, memory_order_relaxed);
}

bool rp_interrupted(void)
{
  return atomic_load_explicit(&raised, memory_order_relaxed);
}

RpStatus rp_interrupt_status(void)
{
  return rp_interrupted() ? rp_fail(RP_INTERRUPTED, "interrupted") : RP_OK;
}
