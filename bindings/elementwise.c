/* Element-wise functions and comparisons, from the rows in core/kernels/operation. */
#include "core/tensor/elementwise.h"

#include "bindings/registry.h"
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

/*
** Raise an error for `a < b` or `a <= b` of tensors with several elements. Lua evaluates x > 0 as
** 0 < x; if the left operand has one element, the message names the method of x to use instead.
*/
static int refuse_comparison(lua_State *L, RpCompare op, const RpTensor *a, const RpTensor *b)
{
  const char *const less = op == RP_LT ? "lt" : "le", *const greater = op == RP_LT ? "gt" : "ge";
  if (rp_tensor_count(a) != 1 && rp_tensor_count(b) != 1) {
    const char *const shape = lua_pushstring(L, rp_tensor_shape_text(a));
    return luaL_error(L,
                      "< and > return one boolean, got tensors of shapes %s and %s; x:%s(y) and "
                      "x:%s(y) compare each element",
                      shape, rp_tensor_shape_text(b), less, greater);
  }
  const bool is_swapped = rp_tensor_count(a) == 1;
  return luaL_error(L,
                    "< and > return one boolean, got a tensor of shape %s; x:%s(number) compares "
                    "each element",
                    rp_tensor_shape_text(is_swapped ? b : a), is_swapped ? greater : less);
}

/* Lua converts the results of < and <= to one boolean, so both operands must have one element. */
static int compare_scalars(lua_State *L, RpCompare op)
{
  RpTensor *a, *b;
  lua_settop(L, 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  if (rp_tensor_count(a) != 1 || rp_tensor_count(b) != 1)
    return refuse_comparison(L, op, a, b);
  *slot = rp_tensor_compare(op, a, b);
  if (*slot == NULL)
    return rpl_raise(L);
  lua_pushboolean(L, *(const int32_t *)rp_tensor_data(*slot) != 0);
  return 1;
}

/* == of two userdata. Lua does not call this if an operand is another type: the result is false. */
static int is_equal(lua_State *L)
{
  const char *got;
  bool equal = false;
  RpTensor *a = rpl_to_tensor(L, 1, &got), *b = rpl_to_tensor(L, 2, &got);
  if (a != NULL && b != NULL)
    rpl_check(L, rp_tensor_equal(a, b, &equal));
  lua_pushboolean(L, equal);
  return 1;
}

/* & | ~, of masks only: on other integers, these operators are bitwise in Lua. */
static RpTensor *compare_masks(lua_State *L)
{
  for (int i = 1; i <= 2; i++) {
    const char *got = NULL;
    RpTensor *operand = rpl_to_tensor(L, i, &got);
    if (operand == NULL || !operand->is_mask)
      luaL_error(L, "& | ~: expected masks, as comparisons return, got %s",
                 operand != NULL ? rp_dtype_name(operand->dtype) : got);
  }
  return rp_tensor_compare((RpCompare)rpl_operation(L), rpl_check_tensor(L, 1),
                           rpl_check_tensor(L, 2));
}

/* ~ of a mask compares it with 0. Lua passes the operand twice. */
static RpTensor *invert(lua_State *L)
{
  RpTensor *a, *b;
  lua_pushinteger(L, 0);
  lua_replace(L, 2);
  if (!rpl_check_tensor(L, 1)->is_mask)
    luaL_error(L, "~: expected a mask, as comparisons return; :logical_not() takes any tensor");
  rpl_operands(L, 1, &a, &b);
  return rp_tensor_compare(RP_EQ, a, b);
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
    {"__add", 2, binary, RP_ADD},
    {"__sub", 2, binary, RP_SUBTRACT},
    {"__mul", 2, binary, RP_MULTIPLY},
    {"__div", 2, binary, RP_DIVIDE},
    {"__pow", 2, binary, RP_POWER},
    {"__mod", 2, binary, RP_REMAINDER},
    {"__band", 2, compare_masks, RP_AND},
    {"__bor", 2, compare_masks, RP_OR},
    {"__bxor", 2, compare_masks, RP_XOR},
    {"__bnot", 2, invert, 0},
    {NULL, 0, NULL, 0},
};

static const luaL_Reg relations[] = {
    {"__eq", is_equal}, {"__lt", is_less}, {"__le", is_at_most}, {NULL, NULL}};

void rpl_open_elementwise(lua_State *L)
{
  rpl_add_operations(L, table);
  luaL_getmetatable(L, RPL_TENSOR);
  rpl_set_operations(L, events);
  luaL_setfuncs(L, relations, 0);
  lua_pop(L, 1);
}
