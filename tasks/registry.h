/* The kinds of task. */
#ifndef RP_TASK_REGISTRY_H
#define RP_TASK_REGISTRY_H

#include "tasks/task.h"

/* All kinds, terminated by NULL. */
extern const RpTaskKind *const rp_task_kinds[];

#endif
