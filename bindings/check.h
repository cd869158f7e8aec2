/*
** What every binding shares: arguments are checked before anything is
** acquired, a userdata exists (empty) before the core object it will own, and
** a failed core call becomes a Lua error. 1-based turns 0-based here only.
**
** A pointer from a userdata lasts until Lua runs: a new string, table or
** userdata may run finalizers, a list its metamethods, a callback anything, and
** each of them can close the tensor (`<close>`). So a function reads lists,
** strings and options and makes its results first, and fetches its tensors
** last, right before the core call. What it needs across more than that it
** holds: retained in a userdata of its own, as the tensors in lists and options
** are. What else C points to stays on the stack.
*/
#ifndef RPL_CHECK_H
#define RPL_CHECK_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/tensor/tensor.h"

/*
** Raise the last core failure; "interrupted" also lowers the flag, and "out of
** memory" names the function that asked. Never returns.
*/
int rpl_raise(lua_State *L);

/* Raise unless `status` is RP_OK. */
void rpl_check(lua_State *L, RpStatus status);

enum { RPL_STRIDE = 1 << 16 }; /* rounds of a loop between two looks for Ctrl-C */

/* Raise "interrupted" when Ctrl-C was pressed; for long loops of a binding. */
void rpl_check_interrupt(lua_State *L);

/* Push the value at `index` as messages show it, a string in quotes, and return the text. */
const char *rpl_push_shown(lua_State *L, int index);

/* Raise when more than `most` arguments were given; absent ones are nil from then on. */
void rpl_check_count(lua_State *L, const char *function, int most);

/* A 1-based axis, negative from the end, as 0-based; raises outside the rank. */
int rpl_check_axis(lua_State *L, int index, int rank);

/* A list of such axes, each once and at least one of them: marks them in `axes`. */
void rpl_check_axes(lua_State *L, int index, int rank, bool axes[RP_MAX_RANK]);

/* A dtype by name, `standard` where absent. */
RpDtype rpl_optional_dtype(lua_State *L, int index, RpDtype standard);

/*
** Raise about an argument when the list at `index`, it or a part of it, holds
** more than its elements 1 to `length` and the field `known` (none where NULL):
** nothing goes unread. A list with a metatable may hold what it likes.
*/
void rpl_check_list(lua_State *L, int index, int argument, lua_Integer length, const char *known);

/* The field `dtype` of the list at `index`, or the argument at `dtype_index`, or float32. */
RpDtype rpl_list_dtype(lua_State *L, int index, int dtype_index);

/*
** A list of sizes, each at least `smallest`: {2, 3} or numbers from `index` on.
** Returns the rank.
*/
int rpl_check_shape(lua_State *L, int index, int64_t smallest, int64_t shape[RP_MAX_RANK]);

/* The sizes of a list from 0 on, and its dtype as by rpl_list_dtype. Returns the rank. */
int rpl_check_form(lua_State *L, int index, int dtype_index, int64_t shape[RP_MAX_RANK],
                   RpDtype *dtype);

enum { RPL_SIZES = RP_MAX_RANK + 1 }; /* how many arguments rpl_check_sizes takes */

/* The same from the first argument on, or sizes one by one and then a dtype; nothing else. */
int rpl_check_sizes(lua_State *L, int64_t shape[RP_MAX_RANK], RpDtype *dtype);

/* The whole number at `index` within [smallest, largest]; `what` names it in the message. */
int64_t rpl_check_range(lua_State *L, int index, const char *what, int64_t smallest,
                        int64_t largest);

/* The path at `index`: a string that C can take, without a NUL inside. */
const char *rpl_check_path(lua_State *L, int index);

/* Set a field of the table on top. */
void rpl_set_integer(lua_State *L, const char *name, int64_t value);

/* Register functions: each file of bindings/ adds its own to the module table on top. */
void rpl_open_tensor(lua_State *L);
void rpl_open_view(lua_State *L);
void rpl_open_index(lua_State *L);
void rpl_open_create(lua_State *L);
void rpl_open_elementwise(lua_State *L);
void rpl_open_reduce(lua_State *L);
void rpl_open_operations(lua_State *L);
void rpl_open_attention(lua_State *L);
void rpl_open_graph(lua_State *L);
void rpl_open_position(lua_State *L);
void rpl_open_optimizer(lua_State *L);
void rpl_open_random(lua_State *L);
void rpl_open_file(lua_State *L);
void rpl_open_json(lua_State *L);
void rpl_open_machine(lua_State *L);
void rpl_open_coroutine(lua_State *L);
void rpl_open_interrupt(lua_State *L);
void rpl_open_readline(lua_State *L);
void rpl_open_task(lua_State *L);
void rpl_open_tasks(lua_State *L);
void rpl_open_corpus(lua_State *L);
void rpl_open_hash(lua_State *L);
void rpl_open_terminal(lua_State *L);
__attribute__((weak)) void rpl_open_ranks(lua_State *L); /* NULL where built without MPI */

#endif
