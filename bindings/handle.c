#include "bindings/handle.h"

#include "bindings/foreign.h"
#include "core/base/memory.h"
#include "core/tensor/copy.h"

/*
** For the garbage collector of Lua, a tensor takes a few bytes. Run a collection if
** the memory of live tensors has grown by half, and by at least 64 MiB, since the
** last one, so that a loop that drops tensors runs in constant memory.
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
  RpTensor **slot = lua_newuserdatauv(L, sizeof *slot, 1);
  *slot = NULL;
  luaL_setmetatable(L, RPL_TENSOR);
  return slot;
}

RpTensor *rpl_push_scalar(lua_State *L, int index, RpDtype dtype)
{
  if (dtype == RP_INT32)
    rpl_check_range(L, index, "with int32", INT32_MIN, INT32_MAX);
  const double value = rpl_check_number(L, index);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_full(dtype, 0, NULL, value);
  if (*slot == NULL)
    rpl_raise(L);
  return *slot;
}

void rpl_push_methods(lua_State *L)
{
  luaL_getmetatable(L, RPL_TENSOR);
  lua_getfield(L, -1, "methods");
  lua_remove(L, -2);
}

RpTensor *rpl_check_tensor(lua_State *L, int index)
{
  RpTensor **slot = luaL_testudata(L, index, RPL_TENSOR);
  if (slot == NULL)
    luaL_typeerror(L, index, "tensor");
  luaL_argcheck(L, *slot != NULL, index, "this tensor was already collected");
  return *slot;
}

RpTensor *rpl_to_tensor(lua_State *L, int index, const char **got)
{
  RpTensor **slot = luaL_testudata(L, index, RPL_TENSOR);
  if (slot == NULL)
    *got = luaL_typename(L, index);
  else if (*slot == NULL)
    *got = "one that was already collected";
  return slot != NULL ? *slot : NULL;
}

RpTensor *rpl_optional_tensor(lua_State *L, int index)
{
  return lua_isnoneornil(L, index) ? NULL : rpl_check_tensor(L, index);
}

RpTensor *rpl_hold_tensor(lua_State *L, const char **got)
{
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *tensor = rpl_to_tensor(L, -2, got);
  if (tensor == NULL)
    return NULL;
  *slot = rp_tensor_retain(tensor);
  rpl_return_tensor(L, slot);
  lua_remove(L, -2);
  return tensor;
}

RpTensor **rpl_push_tensors(lua_State *L, int index, const char *function, int most, int *count)
{
  luaL_checktype(L, index, LUA_TTABLE);
  const lua_Integer length = luaL_len(L, index);
  if (length < 0 || length > most)
    luaL_error(L, "%s: expected a list of at most %d tensors, got %I", function, most, length);
  rpl_check_list(L, index, index, length, NULL);
  *count = (int)length;
  RpTensor **list = lua_newuserdatauv(L, ((size_t)length + 1) * sizeof *list, 0);
  lua_createtable(L, *count, 0);
  for (int i = 0; i < *count; i++) {
    const char *got;
    lua_geti(L, index, i + 1);
    list[i] = rpl_hold_tensor(L, &got);
    if (list[i] == NULL)
      luaL_error(L, "%s: expected a tensor as element %d, got %s", function, i + 1, got);
    lua_rawseti(L, -2, i + 1);
  }
  return list;
}
