/* Indexing and assignment: x[i], x[{i, {from, to}, {}}], x[indices], x[mask]; x.grad. */
#include <string.h>

#include "bindings/foreign.h"
#include "bindings/tensor.h"
#include "core/graph/graph.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"
#include "core/tensor/index.h"

/* Convert a 1-based index on an axis, negative from the end, to 0-based. */
static int64_t axis_index(lua_State *L, int index, const RpTensor *tensor, int axis)
{
  int is_integer;
  const lua_Integer at = lua_tointegerx(L, index, &is_integer);
  const int64_t size = tensor->shape[axis];
  if (!is_integer || at == 0 || at > size || at < -size)
    luaL_error(L, "index: expected an index from 1 to %I (or -1 to -%I) on axis %d of %s, got %s",
               (lua_Integer)size, (lua_Integer)size, axis + 1, rp_tensor_shape_text(tensor),
               rpl_push_shown(L, index));
  return at > 0 ? at - 1 : at + size;
}

/* Replace *slot with `view`, or raise if that is NULL. */
static void replace(lua_State *L, RpTensor **slot, RpTensor *view)
{
  if (view == NULL)
    rpl_raise(L);
  rp_tensor_release(*slot);
  *slot = view;
}

/* Narrow an axis of *slot to the index or range on top. Returns true for an index, whose axis is to
   be dropped. */
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
    from = axis_index(L, -2, tensor, axis);
    to = axis_index(L, -1, tensor, axis);
    lua_pop(L, 2);
    if (to < from)
      luaL_error(L, "index: the range on axis %d ends before it begins", axis + 1);
  } else if (!is_range) {
    from = to = axis_index(L, -1, tensor, axis);
  }
  replace(L, slot, rp_op_narrow(*slot, axis, from, to - from + 1));
  return !is_range;
}

/* The selection by the key of x[key]: a view, and the tensors in the key that index its axes. */
typedef struct Selection {
  RpTensor **view; /* on top of the stack if there are no tensors */
  int axis, count; /* the first axis that tensors index, and the number of tensors */
  RpTensor *keys[RP_MAX_RANK];
} Selection;

/*
** Add the tensor on top of the stack to the selection, and hold it there. It indexes `axis`; a mask
** also indexes axes after it. Returns the next axis.
*/
static int add_key(lua_State *L, Selection *selection, int axis, int next)
{
  RpTensor **held = rpl_new_tensor(L);
  RpTensor *key = *held = rp_tensor_retain(rpl_check_tensor(L, -2));
  lua_remove(L, -2);
  if (selection->count > 0 && axis != next)
    luaL_error(L, "index: expected tensors on adjacent axes, got one on axis %d", axis + 1);
  if (selection->count == 0)
    selection->axis = axis;
  selection->keys[selection->count++] = key;
  return axis + (key->is_mask && key->rank > 0 ? key->rank : 1);
}

/* Push the view of the tensor at 1 that the key at 2 selects, and hold the tensors in the key. */
static Selection push_selected(lua_State *L, bool detached)
{
  const int key = 2;
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  *slot = detached ? rp_tensor_detach(tensor) : rp_tensor_retain(tensor);
  if (*slot == NULL)
    rpl_raise(L);
  const bool is_list = lua_istable(L, key);
  const lua_Integer count = is_list ? luaL_len(L, key) : 1;
  Selection selection = {.view = slot};
  if (count > (*slot)->rank)
    luaL_error(L, "index: expected at most %d indices for shape %s, got %I", (*slot)->rank,
               rp_tensor_shape_text(*slot), count);
  int axis = 0, next = 0;
  for (lua_Integer i = 1; i <= count; i++) {
    if (axis >= (*slot)->rank)
      luaL_error(L, "index: expected nothing after a mask that covers the last axis");
    if (is_list)
      lua_geti(L, key, i);
    else
      lua_pushvalue(L, key);
    if (luaL_testudata(L, -1, RPL_TENSOR) != NULL) {
      axis = next = add_key(L, &selection, axis, next);
      continue;
    }
    if (narrow_slot(L, slot, axis))
      replace(L, slot, rpl_without_axis(*slot, axis));
    else
      axis++;
    lua_pop(L, 1);
  }
  return selection;
}

static int tensor_index(lua_State *L)
{
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TSTRING) {
    const Selection selection = push_selected(L, false);
    if (selection.count == 0)
      return rpl_return_tensor(L, selection.view);
    RpTensor **slot = rpl_new_tensor(L);
    *slot = rp_op_index(*selection.view, selection.axis, selection.count, selection.keys);
    return rpl_return_tensor(L, slot);
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
  lua_gettable(L, lua_upvalueindex(1)); /* its metatable raises an error for unknown names */
  return 1;
}

static int tensor_newindex(lua_State *L)
{
  lua_settop(L, 3);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (strcmp(lua_tostring(L, 2), "grad") != 0 || !lua_isnil(L, 3))
      return luaL_error(L, "cannot assign field \"%s\" of a tensor; only grad = nil is allowed",
                        lua_tostring(L, 2));
    rp_tensor_release(tensor->gradient);
    tensor->gradient = NULL;
    return 0;
  }
  rpl_check(L, rp_tensor_check_writable(tensor));
  RpTensor **given = luaL_testudata(L, 3, RPL_TENSOR);
  if (given != NULL && *given != NULL && rp_graph_records(1, given))
    return luaL_error(L, "assign: expected values outside the graph, got a tensor that requires a "
                         "gradient, which would be lost; store y:detach(), or combine tensors with "
                         "roper.stack, roper.cat or roper.where");
  const Selection target = push_selected(L, true);
  RpTensor *values = rpl_push_values(L, 3, (*target.view)->dtype, "assign");
  if (target.count == 0)
    rpl_check(L, rp_tensor_assign(*target.view, values));
  else
    rpl_check(L, rp_tensor_put(*target.view, target.axis, target.count, target.keys, values));
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
