#include "core/base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char last_message[1024];
static _Thread_local RpStatus last_status = RP_OK;

RpStatus rp_fail(RpStatus status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_message, sizeof last_message, format, arguments);
  va_end(arguments);
  last_status = status;
  return status;
}

const char *rp_message(void)
{
  return last_message;
}

RpStatus rp_last_status(void)
{
  return last_status;
}
