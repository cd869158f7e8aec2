/* A tensor as a value of Lua: a userdata that owns it, and tensors among arguments. */
#ifndef RPL_HANDLE_H
#define RPL_HANDLE_H

#include "bindings/check.h"

#define RPL_TENSOR "roper.tensor"

/* The tensor at `index`; calls no Lua. */
RpTensor *rpl_check_tensor(lua_State *L, int index);

/* The same or NULL, and then *got says what is there instead; for messages of one's own. */
RpTensor *rpl_to_tensor(lua_State *L, int index, const char **got);

/* The same, NULL where the argument is nil. */
RpTensor *rpl_optional_tensor(lua_State *L, int index);

/*
** Hold the tensor on top in a userdata of its own, which takes its place; NULL as from
** rpl_to_tensor.
*/
RpTensor *rpl_hold_tensor(lua_State *L, const char **got);

/*
** The tensors of the list at `index`, 0 to `most` of them; `function` names the
** caller in messages. Pushes two values, which keep the array and hold the
** tensors.
*/
RpTensor **rpl_push_tensors(lua_State *L, int index, const char *function, int most, int *count);

/* Push an empty tensor userdata; the caller fills the slot, or raises and it stays empty. */
RpTensor **rpl_new_tensor(lua_State *L);

/* Push the number at `index` as a scalar tensor; int32 takes whole numbers only. */
RpTensor *rpl_push_scalar(lua_State *L, int index, RpDtype dtype);

/* Push the table of the methods of tensors. */
void rpl_push_methods(lua_State *L);

#endif
