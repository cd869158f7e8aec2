/* Tensors in Lua: a userdata that owns a tensor, and tensors in arguments. */
#ifndef RPL_HANDLE_H
#define RPL_HANDLE_H

#include "bindings/check.h"

#define RPL_TENSOR "roper.tensor"

/* The tensor at `index`; calls no Lua. */
RpTensor *rpl_check_tensor(lua_State *L, int index);

/* The same, but for other values return NULL and set *got to a description for messages. */
RpTensor *rpl_to_tensor(lua_State *L, int index, const char **got);

/* The tensor at `index`, or NULL if that is nil or absent. */
RpTensor *rpl_optional_tensor(lua_State *L, int index);

/*
** Replace the tensor on top with a new userdata that holds the same tensor. Returns NULL like
** rpl_to_tensor.
*/
RpTensor *rpl_hold_tensor(lua_State *L, const char **got);

/*
** The tensors in the list at `index`, of at most `most`. `function` is the name of the
** caller for messages. Pushes two values, which own the array and hold the tensors.
*/
RpTensor **rpl_push_tensors(lua_State *L, int index, const char *function, int most, int *count);

/* Push an empty tensor userdata and return its slot, which the caller sets unless it raises. */
RpTensor **rpl_new_tensor(lua_State *L);

/* Push the number at `index` as a scalar tensor; raises if int32 cannot represent it. */
RpTensor *rpl_push_scalar(lua_State *L, int index, RpDtype dtype);

/* Push the table of tensor methods. */
void rpl_push_methods(lua_State *L);

#endif
