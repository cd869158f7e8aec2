/* Option tables, checked by name and type. */
#ifndef RPL_OPTIONS_H
#define RPL_OPTIONS_H

#include "bindings/handle.h"

/* An option table at a stack index; index is 0 if there is none. */
typedef struct RplOptions {
  lua_State *L;
  int index;
  const char *function;
} RplOptions;

/* Raise unless the value at `index` is nil, absent or a table with keys in `names`, which ends with
   NULL. */
RplOptions rpl_options(lua_State *L, int index, const char *function, const char *const *names);

bool rpl_option_boolean(const RplOptions *options, const char *name, bool standard);
double rpl_option_number(const RplOptions *options, const char *name, double standard);
int64_t rpl_option_integer(const RplOptions *options, const char *name, int64_t standard,
                           int64_t smallest, int64_t largest);
/* The value remains on the stack, which keeps the string alive. */
const char *rpl_option_string(const RplOptions *options, const char *name, const char *standard);
/* One of `choices` (ends with NULL), the first by default. */
const char *rpl_option_choice(const RplOptions *options, const char *name,
                              const char *const *choices);
/* NULL if absent; a userdata on the stack holds the tensor. */
RpTensor *rpl_option_tensor(const RplOptions *options, const char *name);
/* Push the option's value, or nil if absent, and return its type. Does not call metamethods. */
int rpl_option_push(const RplOptions *options, const char *name);

#endif
