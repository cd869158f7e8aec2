/* Constructors of tensors: from nested tables, filled with a number, ranges, identity matrices. */
#include <math.h>

#include "core/tensor/copy.h"
#include "core/tensor/create.h"

#include "bindings/registry.h"

/* Read the shape of a nested table from the first element of each level. Returns the rank. */
static int nested_shape(lua_State *L, int index, int64_t *shape)
{
  int rank = 0;
  lua_pushvalue(L, index);
  while (lua_istable(L, -1)) {
    if (rank == RP_MAX_RANK)
      luaL_error(L, "tensor: expected at most %d nested levels", RP_MAX_RANK);
    shape[rank++] = luaL_len(L, -1);
    lua_geti(L, -1, 1);
    lua_remove(L, -2);
  }
  lua_pop(L, 1);
  return rank;
}

/* Write the numbers of the nested table on top of the stack to `data`, from *at on; advance *at. */
static void read_nested(lua_State *L, int rank, const int64_t *shape, int axis, double *data,
                        int64_t *at)
{
  if (axis == rank) {
    int is_number;
    data[*at] = lua_tonumberx(L, -1, &is_number);
    if (!is_number || lua_type(L, -1) != LUA_TNUMBER)
      luaL_error(L, "tensor: expected a number as element %I, got %s", (lua_Integer)*at + 1,
                 luaL_typename(L, -1));
    ++*at;
    return;
  }
  if (!lua_istable(L, -1) || luaL_len(L, -1) != shape[axis])
    luaL_error(L, "tensor: expected every list of level %d to have %I elements, got %s", axis + 1,
               (lua_Integer)shape[axis],
               lua_istable(L, -1) ? lua_pushfstring(L, "%I", luaL_len(L, -1))
                                  : luaL_typename(L, -1));
  luaL_checkstack(L, 8, "tensor: too deeply nested");
  rpl_check_list(L, -1, 1, shape[axis], axis == 0 ? "dtype" : NULL);
  for (int64_t i = 1; i <= shape[axis]; i++) {
    if (i % RPL_STRIDE == 0)
      rpl_check_interrupt(L);
    lua_geti(L, -1, i);
    read_nested(L, rank, shape, axis + 1, data, at);
    lua_pop(L, 1);
  }
}

/*
** function roper.tensor(data, dtype)
** A new tensor from a number, nested lists or another tensor. Instead of the second argument, the
** outer list may have a field `dtype`.
**
** Errors: lists of unequal lengths; an element that is not a number; a number that int32 cannot
** represent; a field other than `dtype`.
**
**     > roper.tensor{{1, 2.5}, {3, 4}}
**     float32 [2, 2]
**     1.0000 2.5000
**     3.0000 4.0000
**     > roper.tensor({1, 2}, "int32")
**     int32 [2]
**     1 2
**     > roper.tensor{1, 2, dtype = "float64"}
**     float64 [2]
**     1 2
** @param data number|table|tensor nested lists of equal lengths; a tensor is copied
** @param dtype? "float32"|"float64"|"int32" = "float32"; for a tensor, its own dtype
** @return tensor x
*/
static RpTensor *tensor(lua_State *L)
{
  if (!lua_istable(L, 1) && lua_type(L, 1) != LUA_TNUMBER) {
    const RpDtype dtype = rpl_optional_dtype(L, 2, rpl_check_tensor(L, 1)->dtype);
    RpTensor *copy = rp_tensor_convert(rpl_check_tensor(L, 1), dtype);
    if (copy != NULL && !lua_isnoneornil(L, 2))
      copy->is_mask = false;
    return copy;
  }
  RpDtype dtype =
      lua_istable(L, 1) ? rpl_list_dtype(L, 1, 2) : rpl_optional_dtype(L, 2, RP_FLOAT32);
  int64_t shape[RP_MAX_RANK], at = 0;
  const int rank = nested_shape(L, 1, shape);
  RpTensor **values = rpl_new_tensor(L);
  *values = rp_tensor_new(RP_FLOAT64, rank, shape);
  if (*values == NULL)
    return NULL;
  lua_pushvalue(L, 1);
  read_nested(L, rank, shape, 0, rp_tensor_data(*values), &at);
  return rp_tensor_exactly("tensor", *values, dtype);
}

static RpTensor *new_with(lua_State *L, double value)
{
  int64_t shape[RP_MAX_RANK];
  RpDtype dtype;
  const int rank = rpl_check_sizes(L, shape, &dtype);
  return rp_tensor_full(dtype, rank, shape, value);
}

/*
** function roper.zeros(shape, dtype)
** A tensor filled with 0.
**
** Errors: a size that is not an integer or is negative; a field other than `dtype`.
**
**     > roper.zeros{2, 3}
**     float32 [2, 3]
**     0 0 0
**     0 0 0
**     > roper.zeros(2, "float64")
**     float64 [2]
**     0 0
** @param shape integer[] or the sizes as separate arguments; the list may have a field `dtype`
** @param dtype? "float32"|"float64"|"int32" = "float32"
** @return tensor x
*/
static RpTensor *zeros(lua_State *L)
{
  return new_with(L, 0);
}

/*
** function roper.ones(shape, dtype)
** A tensor filled with 1.
**
**     > roper.ones({2}, "int32")
**     int32 [2]
**     1 1
** @like roper.zeros
*/
static RpTensor *ones(lua_State *L)
{
  return new_with(L, 1);
}

/*
** function roper.full(shape, value, dtype)
** A tensor filled with one number.
**
** Errors: a size that is not an integer or is negative; a field other than `dtype`; a value
** that int32 cannot represent.
**
**     > roper.full({3}, math.pi)
**     float32 [3]
**     3.1416 3.1416 3.1416
** @param shape integer[] the list may have a field `dtype`
** @param value number
** @param dtype? "float32"|"float64"|"int32" = "float32"
** @return tensor x
*/
static RpTensor *full(lua_State *L)
{
  int64_t shape[RP_MAX_RANK];
  RpDtype dtype;
  const double value = rpl_check_number(L, 2);
  const int rank = rpl_check_form(L, 1, 3, shape, &dtype);
  return rp_tensor_full(dtype, rank, shape, value);
}

/*
** function roper.arange(first, last, step, dtype)
** The numbers first, first + step, ..., excluding last.
**
** Errors: a step of 0; a range that is not finite; a number that int32 cannot represent.
**
**     > roper.arange(0, 5)
**     float32 [5]
**     0 1 2 3 4
**     > roper.arange(1, 0, -0.25)
**     float32 [4]
**     1.0000 0.7500 0.5000 0.2500
** @param first number
** @param last number excluded
** @param step? number = 1
** @param dtype? "float32"|"float64"|"int32" = "float32"
** @return tensor x [count]
*/
static RpTensor *arange(lua_State *L)
{
  const double first = rpl_check_number(L, 1), last = rpl_check_number(L, 2);
  const double step = rpl_optional_number(L, 3, 1);
  const RpDtype dtype = rpl_optional_dtype(L, 4, RP_FLOAT32);
  return rp_tensor_arange(first, last, step, dtype);
}

/*
** function roper.linspace(first, last, count, dtype)
** Evenly spaced numbers, including first and last.
**
**     xᵢ = first + i (last − first) / (count − 1)
**
** Errors: a count below 2; a first or last that is not finite; a number that int32 cannot
** represent.
**
**     > roper.linspace(0, 1, 5)
**     float32 [5]
**     0.0000 0.2500 0.5000 0.7500 1.0000
** @param first number
** @param last number
** @param count integer at least 2
** @param dtype? "float32"|"float64"|"int32" = "float32"
** @return tensor x [count]
*/
static RpTensor *linspace(lua_State *L)
{
  const double first = rpl_check_number(L, 1), last = rpl_check_number(L, 2);
  luaL_argcheck(L, isfinite(first), 1, "expected a finite number");
  luaL_argcheck(L, isfinite(last), 2, "expected a finite number");
  const int64_t count = rpl_check_range(L, 3, "count", 2, INT64_MAX);
  const RpDtype dtype = rpl_optional_dtype(L, 4, RP_FLOAT32);
  return rp_tensor_linspace(first, last, count, dtype);
}

/*
** function roper.eye(n, dtype)
** The identity matrix.
**
** Errors: an n that is not an integer or is negative.
**
**     > roper.eye(2)
**     float32 [2, 2]
**     1 0
**     0 1
** @param n integer number of rows and columns
** @param dtype? "float32"|"float64"|"int32" = "float32"
** @return tensor I [n, n]
*/
static RpTensor *eye(lua_State *L)
{
  const int64_t n = rpl_check_range(L, 1, "n", 0, INT64_MAX - 1);
  const RpDtype dtype = rpl_optional_dtype(L, 2, RP_FLOAT32);
  return rp_tensor_eye(n, dtype);
}

void rpl_open_create(lua_State *L)
{
  static const RplOperation table[] = {{"tensor", 2, tensor, 0},     {"zeros", RPL_SIZES, zeros, 0},
                                       {"ones", RPL_SIZES, ones, 0}, {"full", 3, full, 0},
                                       {"arange", 4, arange, 0},     {"linspace", 4, linspace, 0},
                                       {"eye", 2, eye, 0},           {NULL, 0, NULL, 0}};
  rpl_set_operations(L, table);
}
