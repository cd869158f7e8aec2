/* Views of tensors: new shapes, permuted axes, ranges and strides. */
#include "bindings/foreign.h"
#include "bindings/registry.h"
#include "bindings/tensor.h"

#include "core/ops/ops.h"
#include "core/ops/strided.h"

RpTensor *rpl_without_axis(RpTensor *tensor, int axis)
{
  int64_t shape[RP_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < tensor->rank; i++)
    if (i != axis)
      shape[rank++] = tensor->shape[i];
  return rp_op_reshape(tensor, rank, shape);
}

/* The tensor without its axes of size 1. */
static RpTensor *without_units(RpTensor *tensor)
{
  int64_t shape[RP_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < tensor->rank; i++)
    if (tensor->shape[i] != 1)
      shape[rank++] = tensor->shape[i];
  return rp_op_reshape(tensor, rank, shape);
}

/*
** function tensor:view(shape)
** The same elements, row by row, in another shape; `reshape` does the same. Shares storage if the
** strides allow it, otherwise copies.
**
** Errors: a shape with a different number of elements; more than one -1.
**
**     > roper.arange(0, 6):view{2, -1}
**     float32 [2, 3]
**     0 1 2
**     3 4 5
** @param shape integer[] or the sizes as separate arguments; one may be -1: it is computed from the
**   number of elements
** @return tensor y
*/
static int tensor_view(lua_State *L)
{
  if (lua_istable(L, 2))
    rpl_check_count(L, "view", 2);
  int64_t shape[RP_MAX_RANK];
  const int rank = rpl_check_shape(L, 2, -1, shape);
  lua_settop(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_reshape(rpl_check_tensor(L, 1), rank, shape);
  return rpl_return_tensor(L, slot);
}

/*
** function tensor:transpose(a, b)
** The tensor with two axes swapped. Shares storage.
**
** Errors: an axis that the tensor does not have.
**
**     > roper.tensor{{1, 2}, {3, 4}}:transpose(1, 2)
**     float32 [2, 2]
**     1 3
**     2 4
** @param a integer an axis, 1-based, negative from the end
** @param b integer the other axis
** @return tensor y
*/
static RpTensor *tensor_transpose(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int a = rpl_check_axis(L, 2, tensor->rank), b = rpl_check_axis(L, 3, tensor->rank);
  int order[RP_MAX_RANK];
  for (int i = 0; i < tensor->rank; i++)
    order[i] = i == a ? b : i == b ? a : i;
  return rp_op_permute(tensor, order);
}

/*
** function tensor:permute(axes)
** The tensor with its axes in another order. Shares storage.
**
** Errors: axes that do not contain each axis of the tensor exactly once.
**
**     > roper.zeros{2, 3, 4}:permute{3, 1, 2}:shape()
**     {4, 2, 3}
** @param axes integer[] or separate arguments; axis i of the result is axis axes[i] of the tensor
** @return tensor y
*/
static int tensor_permute(lua_State *L)
{
  if (lua_istable(L, 2))
    rpl_check_count(L, "permute", 2);
  int64_t axes[RP_MAX_RANK];
  int order[RP_MAX_RANK];
  const int count = rpl_check_shape(L, 2, 1, axes);
  lua_settop(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  if (count != tensor->rank)
    return luaL_error(L, "permute: expected %d axes for shape %s, got %d", tensor->rank,
                      rp_tensor_shape_text(tensor), count);
  for (int i = 0; i < tensor->rank; i++)
    order[i] = axes[i] <= tensor->rank ? (int)axes[i] - 1 : tensor->rank;
  *slot = rp_op_permute(tensor, order);
  return rpl_return_tensor(L, slot);
}

/*
** function tensor:narrow(axis, start, size)
** A range of consecutive indices of one axis. Shares storage.
**
** Errors: an axis that the tensor does not have; a range outside the axis.
**
**     > roper.arange(0, 6):narrow(1, 3, 2)
**     float32 [2]
**     2 3
** @param axis integer 1-based, negative from the end
** @param start integer the first index, 1-based
** @param size integer the number of indices
** @return tensor y
*/
static RpTensor *tensor_narrow(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, tensor->rank);
  const int64_t start = rpl_check_range(L, 3, "start", 1, INT64_MAX);
  const int64_t size = rpl_check_range(L, 4, "size", 0, INT64_MAX);
  return rp_op_narrow(tensor, axis, start - 1, size);
}

/*
** function tensor:expand(shape)
** The tensor broadcast to a shape: axes of size 1 are repeated, new axes are added in front. Shares
** storage.
**
** Errors: a shape that the tensor does not broadcast to.
**
**     > roper.tensor{1, 2}:expand{2, 2}
**     float32 [2, 2]
**     1 2
**     1 2
** @param shape integer[] or the sizes as separate arguments
** @return tensor y of that shape
*/
static int tensor_expand(lua_State *L)
{
  if (lua_istable(L, 2))
    rpl_check_count(L, "expand", 2);
  int64_t shape[RP_MAX_RANK];
  const int rank = rpl_check_shape(L, 2, 0, shape);
  lua_settop(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_expand(rpl_check_tensor(L, 1), rank, shape);
  return rpl_return_tensor(L, slot);
}

/*
** function tensor:squeeze(axis)
** The tensor without one axis of size 1, or without all axes of size 1. Shares storage.
**
** Errors: an axis that the tensor does not have, or of another size.
**
**     > roper.zeros{2, 1, 3}:squeeze(2):shape()
**     {2, 3}
** @param axis? integer 1-based, negative from the end; all axes of size 1 by default
** @return tensor y
*/
static RpTensor *tensor_squeeze(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  if (lua_isnil(L, 2))
    return without_units(tensor);
  const int axis = rpl_check_axis(L, 2, tensor->rank);
  if (tensor->shape[axis] != 1)
    luaL_error(L, "squeeze: expected size 1 on axis %d, got shape %s", axis + 1,
               rp_tensor_shape_text(tensor));
  return rpl_without_axis(tensor, axis);
}

/*
** function tensor:unsqueeze(axis)
** The tensor with a new axis of size 1. Shares storage.
**
** Errors: an axis that the result does not have; a tensor of 8 axes, the maximum.
**
**     > roper.zeros{2, 3}:unsqueeze(2):shape()
**     {2, 1, 3}
** @param axis integer its index in the result, 1-based, negative from the end
** @return tensor y
*/
static RpTensor *tensor_unsqueeze(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, tensor->rank + 1);
  if (tensor->rank == RP_MAX_RANK)
    luaL_error(L, "unsqueeze: expected fewer than %d axes, got shape %s", RP_MAX_RANK,
               rp_tensor_shape_text(tensor));
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i <= tensor->rank; i++)
    shape[i] = i == axis ? 1 : tensor->shape[i < axis ? i : i - 1];
  return rp_op_reshape(tensor, tensor->rank + 1, shape);
}

/*
** function tensor:as_strided(shape, strides, offset)
** A view of the elements with arbitrary strides. Element (i, j, ...) of the result, with indices
** from 0, is element offset + i strides[1] + j strides[2] + ... of the tensor, counted row by row
** from 0.
** If several indices refer to one element, its gradient is the sum over them. Shares storage if
** the tensor is contiguous, otherwise copies.
**
** Errors: an index outside the tensor; a number of strides that differs from the number of sizes; a
** number of elements that overflows.
**
**     > by_distance = roper.tensor{-2, -1, 0, 1, 2}
**     > by_distance:as_strided({3, 3}, {-1, 1}, 2)       -- element j - i + 2
**     float32 [3, 3]
**      0  1  2
**     -1  0  1
**     -2 -1  0
** @param shape integer[]
** @param strides integer[] one for each size, in elements; may be 0 or negative
** @param offset? integer = 0; the 0-based element at index (0, 0, ...)
** @return tensor y
*/
static RpTensor *tensor_as_strided(lua_State *L)
{
  RpStrides strides = {.offset = 0};
  luaL_checktype(L, 2, LUA_TTABLE);
  luaL_checktype(L, 3, LUA_TTABLE);
  strides.rank = rpl_check_shape(L, 2, 0, strides.shape);
  const int given = rpl_check_shape(L, 3, INT64_MIN, strides.strides);
  if (given != strides.rank)
    luaL_error(L, "as_strided: expected %d strides, one for each size, got %d", strides.rank,
               given);
  if (!lua_isnoneornil(L, 4))
    strides.offset = rpl_check_range(L, 4, "offset", 0, INT64_MAX);
  return rp_op_as_strided(rpl_check_tensor(L, 1), &strides);
}

void rpl_open_view(lua_State *L)
{
  static const RplOperation operations[] = {
      {"transpose", 3, tensor_transpose, 0},   {"narrow", 4, tensor_narrow, 0},
      {"squeeze", 2, tensor_squeeze, 0},       {"unsqueeze", 2, tensor_unsqueeze, 0},
      {"as_strided", 4, tensor_as_strided, 0}, {NULL, 0, NULL, 0}};
  static const luaL_Reg methods[] = {{"view", tensor_view},
                                     {"reshape", tensor_view},
                                     {"permute", tensor_permute},
                                     {"expand", tensor_expand},
                                     {NULL, NULL}};
  rpl_push_methods(L);
  luaL_setfuncs(L, methods, 0);
  rpl_set_operations(L, operations);
  lua_pop(L, 1);
}
