#include "tasks/registry.h"

#include <stddef.h>

/* One line per kind, in alphabetical order; its file defines `rp_task_NAME`. */
#define EVERY_KIND(KIND)                                                                           \
  KIND(addition)                                                                                   \
  KIND(copy)                                                                                       \
  KIND(needle)                                                                                     \
  KIND(recall)                                                                                     \
  KIND(selective_copy)                                                                             \
  KIND(state_tracking)                                                                             \
  KIND(substring_index)                                                                            \
  KIND(substring_prefix)

#define DECLARATION(name) extern const RpTaskKind rp_task_##name;
EVERY_KIND(DECLARATION)

#define ENTRY(name) &rp_task_##name,
const RpTaskKind *const rp_task_kinds[] = {EVERY_KIND(ENTRY) NULL};
