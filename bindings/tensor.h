/* Functions shared by the files that implement the tensor userdata. */
#ifndef RPL_TENSOR_H
#define RPL_TENSOR_H

#include "bindings/handle.h"

/* Push the number or tensor at `index` as a tensor; a number gets the dtype. */
RpTensor *rpl_push_values(lua_State *L, int index, RpDtype dtype, const char *what);

/* A view of the tensor without one of its axes, which has size 1. */
RpTensor *rpl_without_axis(RpTensor *tensor, int axis);

#endif
