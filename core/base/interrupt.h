/*
** The interrupt flag. A signal handler raises it; long kernels check it
** between tiles and stop, and the operation returns RP_INTERRUPTED.
*/
#ifndef RP_INTERRUPT_H
#define RP_INTERRUPT_H

#include <stdbool.h>

#include "core/base/status.h"

/* Raise the flag. Safe in a signal handler. */
void rp_interrupt_raise(void);

/* Lower the flag; false if it was not raised. The bindings do so when they report the interrupt. */
bool rp_interrupt_clear(void);

/*
** If this is not NULL, rp_interrupted calls it first, thousands of times a second while kernels
** run. For platforms without signals: it may raise the flag. Set it before kernels run.
*/
extern void (*rp_interrupt_poll)(void);

/* True if the flag is raised. Cheap enough to call for every tile of a kernel. */
bool rp_interrupted(void);

/* RP_OK, or RP_INTERRUPTED with its message if the flag is raised. */
RpStatus rp_interrupt_status(void);

#endif
