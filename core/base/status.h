/*
** Status codes and error messages. A core function that fails returns a status
** (or NULL) and leaves a message that says what was expected and what it got.
** The core never prints, exits or jumps; the bindings raise Lua errors.
*/
#ifndef RP_STATUS_H
#define RP_STATUS_H

#include <stddef.h>

typedef enum RpStatus {
  RP_OK = 0,
  RP_BAD_ARGUMENT,  /* a shape, dtype, range or option that does not fit */
  RP_OUT_OF_MEMORY, /* an allocation failed */
  RP_BAD_FILE,      /* unreadable, truncated or malformed file */
  RP_INTERRUPTED,   /* the interrupt flag was raised while a kernel ran */
  RP_NO_ANSWER      /* another process, or the connection to it, failed */
} RpStatus;

/*
** Record a failure for this thread and return `status`; callers write
** `return rp_fail(...)`. The message is truncated to 1023 bytes.
*/
__attribute__((format(printf, 2, 3))) RpStatus rp_fail(RpStatus status, const char *format, ...);

/* rp_fail for functions that return a pointer: returns NULL. */
#define rp_refuse(...) (rp_fail(__VA_ARGS__), NULL)

/* The message of this thread's last failure; never NULL. */
const char *rp_message(void);

/* The status of this thread's last failure. */
RpStatus rp_last_status(void);

#endif
