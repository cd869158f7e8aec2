/*
** The interrupt flag. A signal handler raises it; long kernels look at it
** between tiles, stop, and the operation returns RP_INTERRUPTED.
*/
#ifndef RP_INTERRUPT_H
#define RP_INTERRUPT_H

#include <stdbool.h>

#include "core/base/status.h"

/* Raise the flag. Safe in a signal handler. */
void rp_interrupt_raise(void);

/* Lower the flag; the binding does so when it reports the interrupt. */
void rp_interrupt_clear(void);

/* Is the flag up? Cheap enough for every tile of a kernel. */
bool rp_interrupted(void);

/* RP_OK, or RP_INTERRUPTED with its message when the flag is up. */
RpStatus rp_interrupt_status(void);

#endif
