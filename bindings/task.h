/* The task userdata: a pointer to an RpTask, or NULL after it was collected. */
#ifndef RPL_TASK_H
#define RPL_TASK_H

#include "bindings/check.h"
#include "tasks/task.h"

#define RPL_TASK "roper.task"

/* Push a value of option `i` of a kind: the name of a choice, a boolean for a switch, otherwise an
   integer. */
void rpl_push_task_value(lua_State *L, const RpTaskKind *kind, int i, int64_t value);

#endif
