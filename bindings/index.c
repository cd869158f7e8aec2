/* Indexing: x[i], x[{i, {from, to}, {}}], to read and to write; x.grad. */
#include <string.h>

#include "bindings/tensor.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"

/* A 1-based place on an axis, negative from the end, as 0-based. */
static int64_t place(lua_State *L, int index, const RpTensor *tensor, int axis)
{
  int is_integer;
  const lua_Integer at = lua_tointegerx(L, index, &is_integer);
  const int64_t size = tensor->shape[axis];
  if (!is_integer || at == 0 || at > size || at < -size)
    luaL_error(L, "index: expected a place from 1 to %I (or -1 to -%I) on axis %d of %s, got %s",
               (lua_Integer)size, (lua_Integer)size, axis + 1, rp_tensor_shape_text(tensor),
               rpl_push_shown(L, index));
  return at > 0 ? at - 1 : at + size;
}

/* Put a view of *slot in its place. */
static void replace(lua_State *L, RpTensor **slot, RpTensor *view)
{
  if (view == NULL)
    rpl_raise(L);
  rp_tensor_release(*slot);
  *slot = view;
}

/* Narrow axis `axis` of *slot by the value on top; true when the axis should go. */
static bool narrow_slot(lua_State *L, RpTensor **slot, int axis)
{
  const RpTensor *tensor = *slot;
  int64_t from = 0, to = tensor->shape[axis] - 1;
  const bool is_range = lua_istable(L, -1);
  if (is_range && luaL_len(L, -1) > 0) {
    if (luaL_len(L, -1) != 2)
      luaL_error(L, "index: expected a range {from, to} or {} on axis %d", axis + 1);
    lua_geti(L, -1, 1);
    lua_geti(L, -2, 2);
    from = place(L, -2, tensor, axis);
    to = place(L, -1, tensor, axis);
    lua_pop(L, 2);
    if (to < from)
      luaL_error(L, "index: the range on axis %d ends before it begins", axis + 1);
  } else if (!is_range) {
    from = to = place(L, -1, tensor, axis);
  }
  replace(L, slot, rp_op_narrow(*slot, axis, from, to - from + 1));
  return !is_range;
}

/* Push the view that the key at 2 selects from the tensor at 1. */
static RpTensor *push_selected(lua_State *L, bool detached)
{
  const int key = 2;
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  *slot = detached ? rp_tensor_detach(tensor) : rp_tensor_retain(tensor);
  if (*slot == NULL)
    rpl_raise(L);
  const bool is_list = lua_istable(L, key);
  const lua_Integer count = is_list ? luaL_len(L, key) : 1;
  if (count > (*slot)->rank)
    luaL_error(L, "index: expected at most %d places for shape %s, got %I", (*slot)->rank,
               rp_tensor_shape_text(*slot), count);
  int axis = 0;
  for (lua_Integer i = 1; i <= count; i++) {
    if (is_list)
      lua_geti(L, key, i);
    else
      lua_pushvalue(L, key);
    if (narrow_slot(L, slot, axis))
      replace(L, slot, rpl_without_axis(*slot, axis));
    else
      axis++;
    lua_pop(L, 1);
  }
  rpl_return_tensor(L, slot);
  return *slot;
}

static int tensor_index(lua_State *L)
{
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TSTRING) {
    push_selected(L, false);
    return 1;
  }
  if (strcmp(lua_tostring(L, 2), "grad") == 0) {
    RpTensor **slot = rpl_new_tensor(L);
    RpTensor *gradient = rpl_check_tensor(L, 1)->gradient;
    if (gradient == NULL)
      return 0;
    *slot = rp_tensor_retain(gradient);
    return 1;
  }
  rpl_check_tensor(L, 1);
  lua_pushvalue(L, 2);
  lua_gettable(L, lua_upvalueindex(1)); /* its metatable may raise where there is nothing */
  return 1;
}

static int tensor_newindex(lua_State *L)
{
  lua_settop(L, 3);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (strcmp(lua_tostring(L, 2), "grad") != 0 || !lua_isnil(L, 3))
      return luaL_error(L, "a tensor has no field \"%s\" to set; only grad = nil",
                        lua_tostring(L, 2));
    rp_tensor_release(tensor->gradient);
    tensor->gradient = NULL;
    return 0;
  }
  rpl_check(L, rp_tensor_check_writable(tensor));
  RpTensor *target = push_selected(L, true);
  rpl_check(L, rp_tensor_assign(target, rpl_push_values(L, 3, target->dtype)));
  return 0;
}

void rpl_open_index(lua_State *L)
{
  luaL_getmetatable(L, RPL_TENSOR);
  lua_getfield(L, -1, "methods");
  lua_pushcclosure(L, tensor_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, tensor_newindex);
  lua_setfield(L, -2, "__newindex");
  lua_pop(L, 1);
}
