/* The tensor userdata: facts, views, indexing, reading and writing. */
#include <string.h>

#include "bindings/check.h"
#include "core/base/memory.h"
#include "core/ops/ops.h"

/*
** The Lua collector sees a tensor as a few bytes. Collect when live tensor
** memory has grown by half since the last collection (and by 64 MiB at least),
** so that a loop that drops tensors runs in constant memory.
*/
static void collect_if_grown(lua_State *L)
{
  static size_t collect_at = (size_t)64 << 20;
  size_t live = rp_memory_use().live;
  if (live < collect_at)
    return;
  lua_gc(L, LUA_GCCOLLECT);
  live = rp_memory_use().live;
  const size_t least = (size_t)64 << 20;
  collect_at = live + (live / 2 > least ? live / 2 : least);
}

RpTensor **rpl_new_tensor(lua_State *L)
{
  collect_if_grown(L);
  RpTensor **slot = lua_newuserdatauv(L, sizeof *slot, 0);
  *slot = NULL;
  luaL_setmetatable(L, RPL_TENSOR);
  return slot;
}

RpTensor *rpl_push_scalar(lua_State *L, int index, RpDtype dtype)
{
  if (dtype == RP_INT32)
    rpl_check_range(L, index, "with int32", INT32_MIN, INT32_MAX);
  const double value = luaL_checknumber(L, index);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_full(dtype, 0, NULL, value);
  if (*slot == NULL)
    rpl_raise(L);
  return *slot;
}

int rpl_return_tensor(lua_State *L, RpTensor **slot)
{
  return *slot != NULL ? 1 : rpl_raise(L);
}

static int tensor_gc(lua_State *L)
{
  RpTensor **slot = luaL_checkudata(L, 1, RPL_TENSOR);
  RpTensor *tensor = *slot;
  *slot = NULL;
  rp_tensor_release(tensor);
  return 0;
}

/* ---- facts ---- */

static int tensor_shape(lua_State *L)
{
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  lua_createtable(L, tensor->rank, 0);
  for (int i = 0; i < tensor->rank; i++) {
    lua_pushinteger(L, tensor->shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

/* size(axis): one entry of shape() */
static int tensor_size(lua_State *L)
{
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  lua_pushinteger(L, tensor->shape[rpl_check_axis(L, 2, tensor->rank)]);
  return 1;
}

static int tensor_dtype(lua_State *L)
{
  lua_pushstring(L, rp_dtype_name(rpl_check_tensor(L, 1)->dtype));
  return 1;
}

static int tensor_rank(lua_State *L)
{
  lua_pushinteger(L, rpl_check_tensor(L, 1)->rank);
  return 1;
}

static int tensor_count(lua_State *L)
{
  lua_pushinteger(L, rp_tensor_count(rpl_check_tensor(L, 1)));
  return 1;
}

static int tensor_length(lua_State *L)
{
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  if (tensor->rank == 0)
    return luaL_error(L, "#: expected a tensor of at least one axis, got a scalar");
  lua_pushinteger(L, tensor->shape[0]);
  return 1;
}

static int tensor_is_contiguous(lua_State *L)
{
  lua_pushboolean(L, rp_tensor_is_contiguous(rpl_check_tensor(L, 1)));
  return 1;
}

static void push_element(lua_State *L, const RpTensor *tensor, const int64_t *index)
{
  const double value = rp_tensor_get(tensor, index);
  if (tensor->dtype == RP_INT32)
    lua_pushinteger(L, (lua_Integer)value);
  else
    lua_pushnumber(L, value);
}

/* item(): the number that a tensor of one element holds */
static int tensor_item(lua_State *L)
{
  static const int64_t first[RP_MAX_RANK] = {0};
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  if (rp_tensor_count(tensor) != 1)
    return luaL_error(L, "item: expected a tensor of one element, got shape %s",
                      rp_tensor_shape_text(tensor));
  push_element(L, tensor, first);
  return 1;
}

static void push_table(lua_State *L, const RpTensor *tensor, int axis, int64_t *index)
{
  if (axis == tensor->rank) {
    push_element(L, tensor, index);
    return;
  }
  luaL_checkstack(L, 4, "totable");
  lua_createtable(L, tensor->shape[axis] < 1 << 20 ? (int)tensor->shape[axis] : 0, 0);
  for (index[axis] = 0; index[axis] < tensor->shape[axis]; index[axis]++) {
    push_table(L, tensor, axis + 1, index);
    lua_rawseti(L, -2, index[axis] + 1);
  }
}

static int tensor_totable(lua_State *L)
{
  int64_t index[RP_MAX_RANK] = {0};
  push_table(L, rpl_check_tensor(L, 1), 0, index);
  return 1;
}

/* ---- views ---- */

static int tensor_view(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  int64_t shape[RP_MAX_RANK];
  const int rank = rpl_check_shape(L, 2, -1, shape);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_reshape(tensor, rank, shape);
  return rpl_return_tensor(L, slot);
}

static int tensor_transpose(lua_State *L)
{
  rpl_check_count(L, "transpose", 3);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int a = rpl_check_axis(L, 2, tensor->rank), b = rpl_check_axis(L, 3, tensor->rank);
  int order[RP_MAX_RANK];
  for (int i = 0; i < tensor->rank; i++)
    order[i] = i == a ? b : i == b ? a : i;
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_permute(tensor, order);
  return rpl_return_tensor(L, slot);
}

static int tensor_permute(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  int64_t axes[RP_MAX_RANK];
  int order[RP_MAX_RANK];
  const int count = rpl_check_shape(L, 2, 1, axes);
  if (count != tensor->rank)
    return luaL_error(L, "permute: expected %d axes for shape %s, got %d", tensor->rank,
                      rp_tensor_shape_text(tensor), count);
  for (int i = 0; i < tensor->rank; i++)
    order[i] = axes[i] <= tensor->rank ? (int)axes[i] - 1 : tensor->rank;
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_permute(tensor, order);
  return rpl_return_tensor(L, slot);
}

/* narrow(axis, start, size), start from 1 */
static int tensor_narrow(lua_State *L)
{
  rpl_check_count(L, "narrow", 4);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, tensor->rank);
  const int64_t start = rpl_check_range(L, 3, "start", 1, INT64_MAX);
  const int64_t size = rpl_check_range(L, 4, "size", 0, INT64_MAX);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_narrow(tensor, axis, start - 1, size);
  return rpl_return_tensor(L, slot);
}

static int tensor_expand(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  int64_t shape[RP_MAX_RANK];
  const int rank = rpl_check_shape(L, 2, 0, shape);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_expand(tensor, rank, shape);
  return rpl_return_tensor(L, slot);
}

/* Replace *slot by a reshaped tensor. */
static void reshape_slot(lua_State *L, RpTensor **slot, int rank, const int64_t *shape)
{
  RpTensor *next = rp_op_reshape(*slot, rank, shape);
  if (next == NULL)
    rpl_raise(L);
  rp_tensor_release(*slot);
  *slot = next;
}

/* *slot without its axis, which has size 1. */
static void drop_axis(lua_State *L, RpTensor **slot, int axis)
{
  int64_t shape[RP_MAX_RANK];
  int rank = 0;
  for (int i = 0; i < (*slot)->rank; i++)
    if (i != axis)
      shape[rank++] = (*slot)->shape[i];
  reshape_slot(L, slot, rank, shape);
}

static int tensor_squeeze(lua_State *L)
{
  rpl_check_count(L, "squeeze", 2);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, tensor->rank);
  if (tensor->shape[axis] != 1)
    return luaL_error(L, "squeeze: expected size 1 on axis %d, got shape %s", axis + 1,
                      rp_tensor_shape_text(tensor));
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_retain(tensor);
  drop_axis(L, slot, axis);
  return 1;
}

/* unsqueeze(axis): a new axis of size 1 that becomes axis `axis` */
static int tensor_unsqueeze(lua_State *L)
{
  rpl_check_count(L, "unsqueeze", 2);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, tensor->rank + 1);
  if (tensor->rank == RP_MAX_RANK)
    return luaL_error(L, "unsqueeze: expected fewer than %d axes, got shape %s", RP_MAX_RANK,
                      rp_tensor_shape_text(tensor));
  int64_t shape[RP_MAX_RANK];
  for (int i = 0; i <= tensor->rank; i++)
    shape[i] = i == axis ? 1 : tensor->shape[i < axis ? i : i - 1];
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_reshape(tensor, tensor->rank + 1, shape);
  return rpl_return_tensor(L, slot);
}

/* Packed, and still in the graph. */
static int tensor_contiguous(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_is_contiguous(tensor) ? rp_tensor_retain(tensor)
                                          : rp_op_convert(tensor, tensor->dtype);
  return rpl_return_tensor(L, slot);
}

static int tensor_clone(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_convert(tensor, tensor->dtype);
  return rpl_return_tensor(L, slot);
}

static int tensor_detach(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_detach(tensor);
  return rpl_return_tensor(L, slot);
}

static int tensor_to(lua_State *L)
{
  rpl_check_count(L, "to", 2);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  luaL_checkstring(L, 2);
  const RpDtype dtype = rpl_optional_dtype(L, 2, tensor->dtype);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = dtype == tensor->dtype ? rp_tensor_retain(tensor) : rp_op_convert(tensor, dtype);
  return rpl_return_tensor(L, slot);
}

/* ---- indexing: x[i], x[{i, {from, to}, {}}] ---- */

/* A 1-based place on an axis, negative from the end, as 0-based. */
static int64_t place(lua_State *L, int index, const RpTensor *tensor, int axis)
{
  int is_integer;
  const lua_Integer at = lua_tointegerx(L, index, &is_integer);
  const int64_t size = tensor->shape[axis];
  if (!is_integer || at == 0 || at > size || at < -size)
    luaL_error(L, "index: expected a place from 1 to %I (or -1 to -%I) on axis %d of %s, got %s",
               (lua_Integer)size, (lua_Integer)size, axis + 1, rp_tensor_shape_text(tensor),
               luaL_tolstring(L, index, NULL));
  return at > 0 ? at - 1 : at + size;
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
  RpTensor *next = rp_op_narrow(*slot, axis, from, to - from + 1);
  if (next == NULL)
    rpl_raise(L);
  rp_tensor_release(*slot);
  *slot = next;
  return !is_range;
}

/* Push the view that the key at `key` selects from `tensor`. */
static RpTensor *push_selected(lua_State *L, RpTensor *tensor, int key, bool detached)
{
  RpTensor **slot = rpl_new_tensor(L);
  *slot = detached ? rp_tensor_detach(tensor) : rp_tensor_retain(tensor);
  if (*slot == NULL)
    rpl_raise(L);
  const bool is_list = lua_istable(L, key);
  const lua_Integer count = is_list ? luaL_len(L, key) : 1;
  if (count > tensor->rank)
    luaL_error(L, "index: expected at most %d places for shape %s, got %I", tensor->rank,
               rp_tensor_shape_text(tensor), count);
  int axis = 0;
  for (lua_Integer i = 1; i <= count; i++) {
    if (is_list)
      lua_geti(L, key, i);
    else
      lua_pushvalue(L, key);
    if (narrow_slot(L, slot, axis))
      drop_axis(L, slot, axis);
    else
      axis++;
    lua_pop(L, 1);
  }
  return *slot;
}

static int tensor_index(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  if (lua_type(L, 2) != LUA_TSTRING) {
    push_selected(L, tensor, 2, false);
    return 1;
  }
  if (strcmp(lua_tostring(L, 2), "grad") == 0) {
    if (tensor->gradient == NULL)
      return 0;
    RpTensor **slot = rpl_new_tensor(L);
    *slot = rp_tensor_retain(tensor->gradient);
    return 1;
  }
  lua_pushvalue(L, 2);
  lua_rawget(L, lua_upvalueindex(1));
  return 1;
}

/* A number or a tensor, at `index`, as a tensor of the dtype given, on top of the stack. */
static RpTensor *push_values(lua_State *L, int index, RpDtype dtype)
{
  if (lua_type(L, index) == LUA_TNUMBER)
    return rpl_push_scalar(L, index, dtype);
  RpTensor *tensor = rpl_check_tensor(L, index);
  lua_pushvalue(L, index);
  return tensor;
}

static int tensor_newindex(lua_State *L)
{
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
  RpTensor *target = push_selected(L, tensor, 2, true);
  rpl_check(L, rp_tensor_assign(target, push_values(L, 3, tensor->dtype)));
  return 0;
}

/* copy(source): write a tensor or a number over the elements; returns the tensor */
static int tensor_copy(lua_State *L)
{
  rpl_check_count(L, "copy", 2);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  rpl_check(L, rp_tensor_assign(tensor, push_values(L, 2, tensor->dtype)));
  lua_settop(L, 1);
  return 1;
}

static int tensor_fill(lua_State *L)
{
  rpl_check_count(L, "fill", 2);
  rpl_check(L, rp_tensor_fill(rpl_check_tensor(L, 1), luaL_checknumber(L, 2)));
  lua_settop(L, 1);
  return 1;
}

void rpl_open_tensor(lua_State *L)
{
  static const luaL_Reg methods[] = {{"shape", tensor_shape},
                                     {"size", tensor_size},
                                     {"dtype", tensor_dtype},
                                     {"rank", tensor_rank},
                                     {"count", tensor_count},
                                     {"is_contiguous", tensor_is_contiguous},
                                     {"item", tensor_item},
                                     {"totable", tensor_totable},
                                     {"view", tensor_view},
                                     {"transpose", tensor_transpose},
                                     {"permute", tensor_permute},
                                     {"narrow", tensor_narrow},
                                     {"expand", tensor_expand},
                                     {"squeeze", tensor_squeeze},
                                     {"unsqueeze", tensor_unsqueeze},
                                     {"contiguous", tensor_contiguous},
                                     {"clone", tensor_clone},
                                     {"detach", tensor_detach},
                                     {"to", tensor_to},
                                     {"copy", tensor_copy},
                                     {"fill", tensor_fill},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", tensor_gc},
                                  {"__close", tensor_gc},
                                  {"__len", tensor_length},
                                  {"__newindex", tensor_newindex},
                                  {NULL, NULL}};
  luaL_newmetatable(L, RPL_TENSOR);
  luaL_setfuncs(L, meta, 0);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "methods");
  lua_pushcclosure(L, tensor_index, 1);
  lua_setfield(L, -2, "__index");
  lua_setfield(L, -2, "tensor_metatable");
}
