#include "bindings/registry.h"

#include "bindings/foreign.h"
#include "core/tensor/copy.h"

static const RplOperation *row_of(lua_State *L)
{
  return lua_touserdata(L, lua_upvalueindex(1));
}

int rpl_operation(lua_State *L)
{
  return row_of(L)->operation;
}

static int call_row(lua_State *L)
{
  const RplOperation *row = row_of(L);
  rpl_check_count(L, row->name, row->most);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = row->make(L);
  lua_settop(L, row->most + 1);
  return rpl_return_tensor(L, slot);
}

/* Replace the tensor at `index` with its conversion to another dtype. */
static void promote(lua_State *L, int index, RpDtype dtype)
{
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_promote("promotion", rpl_check_tensor(L, index), dtype);
  if (*slot == NULL)
    rpl_raise(L);
  lua_replace(L, index);
}

void rpl_operands(lua_State *L, int first, RpTensor **a, RpTensor **b)
{
  const int second = first + 1;
  const int number = lua_type(L, first) == LUA_TNUMBER ? first : second;
  const int other = number == first ? second : first;
  RpDtype dtype = rpl_check_tensor(L, other)->dtype;
  if (lua_type(L, number) == LUA_TNUMBER) {
    int is_whole;
    lua_tointegerx(L, number, &is_whole);
    if (dtype == RP_INT32 && !is_whole)
      promote(L, other, dtype = RP_FLOAT32);
    rpl_push_scalar(L, number, dtype);
    lua_replace(L, number);
  } else if (dtype == RP_INT32) {
    promote(L, other, rpl_check_tensor(L, number)->dtype);
  } else if (rpl_check_tensor(L, number)->dtype == RP_INT32) {
    promote(L, number, dtype);
  }
  *a = rpl_check_tensor(L, first);
  *b = rpl_check_tensor(L, second);
}

void rpl_set_operations(lua_State *L, const RplOperation *table)
{
  for (; table->name != NULL; table++) {
    lua_pushlightuserdata(L, (void *)table);
    lua_pushcclosure(L, call_row, 1);
    lua_setfield(L, -2, table->name);
  }
}

void rpl_add_operations(lua_State *L, const RplOperation *table)
{
  rpl_set_operations(L, table);
  rpl_push_methods(L);
  for (; table->name != NULL; table++) {
    lua_getfield(L, -2, table->name);
    lua_setfield(L, -2, table->name);
  }
  lua_pop(L, 1);
}
