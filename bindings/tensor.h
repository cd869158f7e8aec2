/* What the files that make the tensor userdata share. */
#ifndef RPL_TENSOR_H
#define RPL_TENSOR_H

#include "bindings/handle.h"

/* A number or a tensor, at `index`, as a tensor of the dtype given, on top of the stack. */
RpTensor *rpl_push_values(lua_State *L, int index, RpDtype dtype);

/* A view without an axis of size 1. */
RpTensor *rpl_without_axis(RpTensor *tensor, int axis);

#endif
