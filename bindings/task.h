/* The task userdata: a pointer to an RpTask, or NULL after it was collected. */
#ifndef RPL_TASK_H
#define RPL_TASK_H

#include "bindings/check.h"
#include "tasks/task.h"

#define RPL_TASK "roper.task"

/* Push the value of a task's option: a boolean for a switch, otherwise an integer. */
void rpl_push_task_value(lua_State *L, const RpTaskOption *option, int64_t value);

#endif
