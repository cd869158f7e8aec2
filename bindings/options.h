/* Options in a table of Lua, checked by name and type. */
#ifndef RPL_OPTIONS_H
#define RPL_OPTIONS_H

#include "bindings/handle.h"

/* An option table at a stack index (nil or absent counts as empty). */
typedef struct RplOptions {
  lua_State *L;
  int index;
  const char *function;
} RplOptions;

/* Check that `index` holds an option table with no name outside `names` (ends with NULL). */
RplOptions rpl_options(lua_State *L, int index, const char *function, const char *const *names);

bool rpl_option_boolean(const RplOptions *options, const char *name, bool standard);
double rpl_option_number(const RplOptions *options, const char *name, double standard);
int64_t rpl_option_integer(const RplOptions *options, const char *name, int64_t standard,
                           int64_t smallest, int64_t largest);
/* Left on the stack, which keeps it alive. */
const char *rpl_option_string(const RplOptions *options, const char *name, const char *standard);
/* NULL where absent; held on the stack. */
RpTensor *rpl_option_tensor(const RplOptions *options, const char *name);
/* Push the option's value (nil where absent) and return its type; metamethods play no part. */
int rpl_option_push(const RplOptions *options, const char *name);

#endif
