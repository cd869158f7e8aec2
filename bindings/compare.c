/* Comparisons, element by element or of single numbers. */
#include "bindings/operations.h"
#include "core/tensor/elementwise.h"

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
    /*
    ** function roper.eq(a, b)
    ** 1 where a is equal to b, else 0; outside the graph.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:eq(2)
    **     int32 [3]
    **     0 1 0
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"eq", compare, RP_EQ},
    /*
    ** function roper.ne(a, b)
    ** 1 where a is different from b, else 0; outside the graph.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:ne(2)
    **     int32 [3]
    **     1 0 1
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"ne", compare, RP_NE},
    /*
    ** function roper.lt(a, b)
    ** 1 where a is less than b, else 0; outside the graph.
    ** `<` and `<=` compare single numbers and give a boolean.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:lt(2)
    **     int32 [3]
    **     1 0 0
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"lt", compare, RP_LT},
    /*
    ** function roper.le(a, b)
    ** 1 where a is at most b, else 0; outside the graph.
    ** `<` and `<=` compare single numbers and give a boolean.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:le(2)
    **     int32 [3]
    **     1 1 0
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"le", compare, RP_LE},
    /*
    ** function roper.gt(a, b)
    ** 1 where a is greater than b, else 0; outside the graph.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:gt(2)
    **     int32 [3]
    **     0 0 1
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"gt", compare, RP_GT},
    /*
    ** function roper.ge(a, b)
    ** 1 where a is at least b, else 0; outside the graph.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3}:ge(2)
    **     int32 [3]
    **     0 1 1
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y int32, of the broadcast shape
    */
    {"ge", compare, RP_GE},
    {NULL, NULL, 0},
};

static const RplOperation events[] = {
    {"__lt", compare_scalars, RP_LT}, {"__le", compare_scalars, RP_LE}, {NULL, NULL, 0}};

void rpl_open_compare(lua_State *L)
{
  rpl_add_operations(L, table);
  rpl_add_events(L, events);
}
