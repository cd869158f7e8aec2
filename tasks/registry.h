/* The kinds of task there are. */
#ifndef RP_TASK_REGISTRY_H
#define RP_TASK_REGISTRY_H

#include "tasks/task.h"

/* All kinds, ended by NULL. */
extern const RpTaskKind *const rp_task_kinds[];

#endif
