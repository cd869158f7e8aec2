/*
** Argument checks and errors shared by all bindings. A binding checks its
** arguments before it acquires anything, and creates the empty userdata before
** the core object that the userdata will own. A failed call of the core becomes a
** Lua error. 1-based axes and indices in arguments become 0-based here; the core
** reads index tensors as 1-based.
**
** A pointer from a userdata is valid until Lua runs. Creating a string, table or
** userdata may run finalizers, reading a list may run metamethods, and a callback
** may run any code; each of them can close the tensor (`<close>`). Therefore a
** function first reads lists, strings and options and creates its results. It
** fetches its tensors last, immediately before the call of the core. A tensor that
** is used for longer is held, that is, retained in another userdata, like the
** tensors in lists and options. Other pointers must refer to values on the stack.
*/
#ifndef RPL_CHECK_H
#define RPL_CHECK_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stdint.h>

#include "bindings/message.h"
#include "core/base/optional.h"
#include "core/tensor/tensor.h"

/*
** Raise the message of the core's last failure; never returns. For "interrupted",
** also lower the flag; for "out of memory", begin the message with the name of the
** running function.
*/
int rpl_raise(lua_State *L);

/* Raise unless `status` is RP_OK. */
void rpl_check(lua_State *L, RpStatus status);

enum { RPL_STRIDE = 1 << 16 }; /* iterations of a loop between two checks for Ctrl-C */

/* Raise "interrupted" if Ctrl-C was pressed; for long loops in a binding. */
void rpl_check_interrupt(lua_State *L);

/*
** The index in `choices` (ends with NULL) of the string at `index`, which is compared with its
** length, as Lua's strings may contain "\0"; -1 if it is none of them.
*/
int rpl_find_choice(lua_State *L, int index, const char *const *choices);

/* Push the message about a value that is none of the choices, with a suggestion, and return it. */
const char *rpl_push_refusal(lua_State *L, int index, const char *const *choices);

/*
** The index in `choices` of the argument at `index`, or `standard` if it is absent; raises an error
** for another value.
*/
int rpl_check_choice(lua_State *L, int index, const char *const *choices, int standard);

/* Raise if there are more than `most` arguments; push nil for missing ones. */
void rpl_check_count(lua_State *L, const char *function, int most);

/*
** The argument at `index`. Unlike the functions of Lua's auxiliary library, they do not convert
** strings to numbers or numbers to strings.
*/
lua_Integer rpl_check_integer(lua_State *L, int index);
lua_Number rpl_check_number(lua_State *L, int index);
const char *rpl_check_string(lua_State *L, int index, size_t *length); /* `length` may be NULL */

/* The same, or `standard` if it is absent. */
lua_Number rpl_optional_number(lua_State *L, int index, lua_Number standard);
bool rpl_optional_boolean(lua_State *L, int index, bool standard);

/* The 1-based axis at `index`, negative from the end, as 0-based; raises if it does not exist. */
int rpl_check_axis(lua_State *L, int index, int rank);

/* Set axes[i] for each axis i in the list at `index`; raises if it is empty or repeats an axis. */
void rpl_check_axes(lua_State *L, int index, int rank, bool axes[RP_MAX_RANK]);

/* The dtype named at `index`, or `standard` if absent. */
RpDtype rpl_optional_dtype(lua_State *L, int index, RpDtype standard);

/*
** Raise an error for argument number `argument` if the list at `index`, which is this
** argument or part of it, has keys other than 1 to `length` and the field `known` (if
** not NULL), so that misspelled fields are not ignored. A list with a metatable is not
** checked.
*/
void rpl_check_list(lua_State *L, int index, int argument, lua_Integer length, const char *known);

/* The field `dtype` of the list at `index`, or the argument at `dtype_index`, or float32. */
RpDtype rpl_list_dtype(lua_State *L, int index, int dtype_index);

/*
** Read sizes, each at least `smallest`: a list such as {2, 3} at `index`, or the
** arguments from `index` on. Returns the rank.
*/
int rpl_check_shape(lua_State *L, int index, int64_t smallest, int64_t shape[RP_MAX_RANK]);

/* Read a list of sizes >= 0, and the dtype as rpl_list_dtype does. Returns the rank. */
int rpl_check_form(lua_State *L, int index, int dtype_index, int64_t shape[RP_MAX_RANK],
                   RpDtype *dtype);

enum { RPL_SIZES = RP_MAX_RANK + 1 }; /* maximum number of arguments for rpl_check_sizes */

/* The same from all arguments: a list of sizes or separate sizes, then a dtype. */
int rpl_check_sizes(lua_State *L, int64_t shape[RP_MAX_RANK], RpDtype *dtype);

/* The integer at `index`, in [smallest, largest]; `what` is its name in the message. */
int64_t rpl_check_range(lua_State *L, int index, const char *what, int64_t smallest,
                        int64_t largest);

/* The path at `index`, a string without NUL bytes. */
const char *rpl_check_path(lua_State *L, int index);

/* Set a field of the table on top. */
void rpl_set_integer(lua_State *L, const char *name, int64_t value);

/* Each adds the functions of one file to the module table on top of the stack. */
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
void rpl_open_folder(lua_State *L);
void rpl_open_json(lua_State *L);
void rpl_open_machine(lua_State *L);
void rpl_open_coroutine(lua_State *L);
void rpl_open_interrupt(lua_State *L);
void rpl_open_readline(lua_State *L) RP_OPTIONAL; /* not in a page */
void rpl_open_tasks(lua_State *L);
void rpl_open_corpus(lua_State *L);
void rpl_open_hash(lua_State *L);
void rpl_open_suggest(lua_State *L);
void rpl_open_terminal(lua_State *L);
void rpl_open_ranks(lua_State *L) RP_OPTIONAL;   /* not without MPI */
void rpl_open_pattern(lua_State *L) RP_OPTIONAL; /* not without PCRE2 */

#endif
