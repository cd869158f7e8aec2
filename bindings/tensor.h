/* What the files that make the tensor userdata share. */
#ifndef RPL_TENSOR_H
#define RPL_TENSOR_H

#include "bindings/check.h"

/* Add to the methods of tensors. */
void rpl_add_methods(lua_State *L, const luaL_Reg *methods);

/* A number or a tensor, at `index`, as a tensor of the dtype given, on top of the stack. */
RpTensor *rpl_push_values(lua_State *L, int index, RpDtype dtype);

/* Take from *slot an axis of size 1. */
void rpl_drop_axis(lua_State *L, RpTensor **slot, int axis);

#endif
