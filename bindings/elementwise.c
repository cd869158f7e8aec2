/* Functions of each element, differentiable ones and comparisons: the rows of operation/. */
#include "core/tensor/elementwise.h"

#include "bindings/operations.h"
#include "core/ops/ops.h"

static int unary(lua_State *L)
{
  const RpUnary op = (RpUnary)rpl_operation(L);
  /* Lua passes the operand of a unary metamethod twice. */
  rpl_check_count(L, rp_unary_name(op), op == RP_NEGATE ? 2 : 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_unary(op, rpl_check_tensor(L, 1));
  return rpl_return_tensor(L, slot);
}

static int binary(lua_State *L)
{
  const RpBinary op = (RpBinary)rpl_operation(L);
  RpTensor *a, *b;
  rpl_check_count(L, rp_binary_name(op), 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  *slot = rp_op_binary(op, a, b);
  return rpl_return_tensor(L, slot);
}

static int compare(lua_State *L)
{
  const RpCompare op = (RpCompare)rpl_operation(L);
  RpTensor *a, *b;
  rpl_check_count(L, rp_compare_name(op), 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  *slot = rp_tensor_compare(op, a, b);
  return rpl_return_tensor(L, slot);
}

/* a < b and a <= b in Lua give one boolean, so both must be single numbers. */
static int compare_scalars(lua_State *L)
{
  RpTensor *a, *b;
  lua_settop(L, 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  if (rp_tensor_count(a) != 1 || rp_tensor_count(b) != 1)
    return luaL_error(L,
                      "< and <= compare single numbers, got shapes %s and %s; use :lt() or :le()",
                      rp_tensor_shape_text(a), rp_tensor_shape_text(b));
  *slot = rp_tensor_compare((RpCompare)rpl_operation(L), a, b);
  if (*slot == NULL)
    return rpl_raise(L);
  lua_pushboolean(L, *(const int32_t *)rp_tensor_data(*slot) != 0);
  return 1;
}

static const RplOperation table[] = {
#define UNARY(id, name, ...) {name, unary, RP_##id},
#define FORMAT(...)
#include "core/kernels/operation/unary.h"
#define BINARY(id, name, ...) {name, binary, RP_##id},
#include "core/kernels/operation/binary.h"
#define COMPARE(id, name, ...) {name, compare, RP_##id},
#include "core/kernels/operation/compare.h"
    {NULL, NULL, 0},
};

static const RplOperation events[] = {
    {"__unm", unary, RP_NEGATE},
    {"__add", binary, RP_ADD},
    {"__sub", binary, RP_SUBTRACT},
    {"__mul", binary, RP_MULTIPLY},
    {"__div", binary, RP_DIVIDE},
    {"__pow", binary, RP_POWER},
    {"__lt", compare_scalars, RP_LT},
    {"__le", compare_scalars, RP_LE},
    {NULL, NULL, 0},
};

void rpl_open_elementwise(lua_State *L)
{
  rpl_add_operations(L, table);
  rpl_add_events(L, events);
}
