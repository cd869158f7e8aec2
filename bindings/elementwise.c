/* Functions of each element, differentiable ones and comparisons: the rows of operation/. */
#include "core/tensor/elementwise.h"

#include "bindings/operations.h"
#include "core/ops/ops.h"

static RpTensor *unary(lua_State *L)
{
  return rp_op_unary((RpUnary)rpl_operation(L), rpl_check_tensor(L, 1));
}

static RpTensor *binary(lua_State *L)
{
  RpTensor *a, *b;
  rpl_operands(L, 1, &a, &b);
  return rp_op_binary((RpBinary)rpl_operation(L), a, b);
}

static RpTensor *compare(lua_State *L)
{
  RpTensor *a, *b;
  rpl_operands(L, 1, &a, &b);
  return rp_tensor_compare((RpCompare)rpl_operation(L), a, b);
}

/* a < b and a <= b in Lua give one boolean, so both must be single numbers. */
static int compare_scalars(lua_State *L, RpCompare op)
{
  RpTensor *a, *b;
  lua_settop(L, 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  if (rp_tensor_count(a) != 1 || rp_tensor_count(b) != 1)
    return luaL_error(L,
                      "< and <= compare single numbers, got shapes %s and %s; use :lt() or :le()",
                      rp_tensor_shape_text(a), rp_tensor_shape_text(b));
  *slot = rp_tensor_compare(op, a, b);
  if (*slot == NULL)
    return rpl_raise(L);
  lua_pushboolean(L, *(const int32_t *)rp_tensor_data(*slot) != 0);
  return 1;
}

static int is_less(lua_State *L)
{
  return compare_scalars(L, RP_LT);
}

static int is_at_most(lua_State *L)
{
  return compare_scalars(L, RP_LE);
}

static const RplOperation table[] = {
#define UNARY(id, name, ...) {name, 1, unary, RP_##id},
#define FORMAT(...)
#include "core/kernels/operation/unary.h"
#define BINARY(id, name, ...) {name, 2, binary, RP_##id},
#include "core/kernels/operation/binary.h"
#define COMPARE(id, name, ...) {name, 2, compare, RP_##id},
#include "core/kernels/operation/compare.h"
    {NULL, 0, NULL, 0},
};

static const RplOperation events[] = {
    {"__unm", 2, unary, RP_NEGATE}, /* Lua passes the operand twice */
    {"__add", 2, binary, RP_ADD},      {"__sub", 2, binary, RP_SUBTRACT},
    {"__mul", 2, binary, RP_MULTIPLY}, {"__div", 2, binary, RP_DIVIDE},
    {"__pow", 2, binary, RP_POWER},    {NULL, 0, NULL, 0},
};

static const luaL_Reg relations[] = {{"__lt", is_less}, {"__le", is_at_most}, {NULL, NULL}};

void rpl_open_elementwise(lua_State *L)
{
  rpl_add_operations(L, table);
  luaL_getmetatable(L, RPL_TENSOR);
  rpl_set_operations(L, events);
  luaL_setfuncs(L, relations, 0);
  lua_pop(L, 1);
}
