/* The task userdata: a slot with an RpTask, NULL once it was collected. */
#ifndef RPL_TASK_H
#define RPL_TASK_H

#include "bindings/check.h"
#include "tasks/task.h"

#define RPL_TASK "roper.task"

#endif
