/* The tensor userdata: properties, copies, conversion, access to elements. */
#include "bindings/tensor.h"

#include "bindings/registry.h"
#include "core/base/memory.h"
#include "core/ops/ops.h"
#include "core/tensor/copy.h"

static int tensor_gc(lua_State *L)
{
  RpTensor **slot = luaL_checkudata(L, 1, RPL_TENSOR);
  RpTensor *tensor = *slot;
  *slot = NULL;
  rp_tensor_release(tensor);
  return 0;
}

/*
** @class tensor
** An array of numbers with 0 to 8 axes. Axes and indices are 1-based; negative ones count from the
** end. Views share storage: writing to a view changes the tensor, and vice versa.
**
** `x[i]` is the slice at index i of the first axis. `x[{i, {from, to}, {}}]` takes an index of the
** first axis, a range of the second and all of the third. `x[mask]` selects the elements where a
** mask is 1. `x[indices]`, with any other int32 tensor, selects slices by index; see
** `?tensor:is_mask`. Masks and index tensors can also be elements of a list; two index tensors on
** adjacent axes select by pairs of indices. A number or a tensor can be assigned to all of these.
** Assignment is not differentiable: if y is a parameter or depends on one, assign y:detach(). `#x`
** is the size of the first axis.
**
** `+ - * / ^ %` are element-wise and broadcast; so are `& | ~`, for masks only. `==` is true if two
** tensors have the same shape and equal elements. `<` and `<=` compare tensors of one element and
** return a boolean. `x[1] == 2` is always false, because Lua does not call a tensor's `==` for a
** number; write `x[1]:item() == 2`.
**
**     > x = roper.tensor{{1, 2, 3}, {4, 5, 6}}
**     > x[2]
**     float32 [3]
**     4 5 6
**     > x[{{}, 2}]
**     float32 [2]
**     2 5
**     > x[{1, {2, 3}}] = 0
**     > x + 10
**     float32 [2, 3]
**     11 10 10
**     14 15 16
**     > x[x:gt(4)] = -1
**     > x[roper.tensor({2, 1}, "int32")]
**     float32 [2, 3]
**      4 -1 -1
**      1  0  0
** @field grad? tensor the gradient of a parameter, to which `backward` adds; assign nil to clear it
** @operator add(tensor|number): tensor
** @operator sub(tensor|number): tensor
** @operator mul(tensor|number): tensor
** @operator div(tensor|number): tensor
** @operator pow(tensor|number): tensor
** @operator mod(tensor|number): tensor
** @operator band(tensor): tensor
** @operator bor(tensor): tensor
** @operator bxor(tensor): tensor
** @operator bnot: tensor
** @operator unm: tensor
** @operator len: integer
*/

#define SHAPE "roper.shape" /* metatable of the results of tensor:shape; Lua sets its fields */

/*
** function tensor:shape()
** The sizes of the axes. The list prints, can be concatenated with strings, and is equal to any
** list of the same sizes.
**
**     > x = roper.zeros{2, 3}
**     > x:shape()
**     {2, 3}
**     > "shape " .. x:shape()
**     "shape {2, 3}"
**     > x:shape() == {2, 3}
**     true
**     > #x:shape(), x:shape()[1]
**     2	2
** @return integer[] sizes
*/
static int tensor_shape(lua_State *L)
{
  rpl_check_count(L, "shape", 1);
  const RpTensor tensor = *rpl_check_tensor(L, 1);
  lua_createtable(L, tensor.rank, 0);
  for (int i = 0; i < tensor.rank; i++) {
    lua_pushinteger(L, tensor.shape[i]);
    lua_rawseti(L, -2, i + 1);
  }
  luaL_setmetatable(L, SHAPE);
  return 1;
}

/*
** function tensor:size(axis)
** The size of one axis.
**
** Errors: an axis that the tensor does not have.
**
**     > roper.zeros{2, 3}:size(-1)
**     3
** @param axis integer 1-based, negative from the end
** @return integer size
*/
static int tensor_size(lua_State *L)
{
  rpl_check_count(L, "size", 2);
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  lua_pushinteger(L, tensor->shape[rpl_check_axis(L, 2, tensor->rank)]);
  return 1;
}

/*
** function tensor:dtype()
** The type of the elements.
**
**     > roper.zeros{2}:dtype()
**     "float32"
** @return "float32"|"float64"|"int32" name
*/
static int tensor_dtype(lua_State *L)
{
  rpl_check_count(L, "dtype", 1);
  lua_pushstring(L, rp_dtype_name(rpl_check_tensor(L, 1)->dtype));
  return 1;
}

/*
** function tensor:rank()
** The number of axes, 0 for a scalar.
**
**     > roper.zeros{2, 3}:rank()
**     2
** @return integer rank
*/
static int tensor_rank(lua_State *L)
{
  rpl_check_count(L, "rank", 1);
  lua_pushinteger(L, rpl_check_tensor(L, 1)->rank);
  return 1;
}

/*
** function tensor:is_mask()
** True if the tensor is a mask. `x[mask]` selects the elements of x where the mask is 1. As a key,
** any other int32 tensor contains indices, even if it contains only 0 and 1.
**
** Comparisons and logical functions return masks; `x:ne(0)` converts any tensor to a mask. Views,
** copies and selected elements of masks are masks. So are booleans loaded from a file and, if all
** operands are masks, the results of `cat`, `stack`, `where`, `maximum`, `minimum` and `*`. Other
** arithmetic and `:to` return ordinary numbers. A mask contains only 0 and 1: any other number
** written to it becomes 1.
**
**     > roper.tensor{1, 2}:gt(1):is_mask()
**     true
**     > x, flags = roper.tensor{5, 6, 7}, roper.tensor({1, 0, 1}, "int32")
**     > x[flags:ne(0)]
**     float32 [2]
**     5 7
** @return boolean is_mask
*/
static int tensor_is_mask(lua_State *L)
{
  rpl_check_count(L, "is_mask", 1);
  lua_pushboolean(L, rpl_check_tensor(L, 1)->is_mask);
  return 1;
}

/*
** function tensor:count()
** The number of elements; `numel` does the same.
**
**     > roper.zeros{2, 3}:count()
**     6
** @return integer count
*/
static int tensor_count(lua_State *L)
{
  rpl_check_count(L, "count", 1);
  lua_pushinteger(L, rp_tensor_count(rpl_check_tensor(L, 1)));
  return 1;
}

/*
** function tensor:numel()
** The number of elements; the same as `count`.
**
**     > roper.zeros{2, 3}:numel()
**     6
** @return integer count
*/
static int tensor_numel(lua_State *L)
{
  rpl_check_count(L, "numel", 1);
  return tensor_count(L);
}

static int tensor_length(lua_State *L)
{
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  if (tensor->rank == 0)
    return luaL_error(L, "#: expected a tensor of at least one axis, got a scalar");
  lua_pushinteger(L, tensor->shape[0]);
  return 1;
}

/*
** function tensor:is_contiguous()
** True if the elements are stored row by row without gaps.
**
**     > roper.zeros{2, 3}:transpose(1, 2):is_contiguous()
**     false
** @return boolean is_contiguous
*/
static int tensor_is_contiguous(lua_State *L)
{
  rpl_check_count(L, "is_contiguous", 1);
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

/*
** function tensor:item()
** The element of a tensor with one element, as a Lua number. Use it in conditions: `x[1] == 2.5` is
** always false, because Lua never compares a tensor with a number, and a tensor is always true in
** an `if`.
**
** Errors: a tensor with any other number of elements.
**
**     > x = roper.tensor{{2.5}}
**     > x[1][1] == 2.5
**     false
**     > x[1][1]:item() == 2.5
**     true
** @return number value an integer if the dtype is int32
*/
static int tensor_item(lua_State *L)
{
  rpl_check_count(L, "item", 1);
  static const int64_t first[RP_MAX_RANK] = {0};
  const RpTensor *tensor = rpl_check_tensor(L, 1);
  if (rp_tensor_count(tensor) != 1)
    return luaL_error(L, "item: expected a tensor of one element, got shape %s",
                      rp_tensor_shape_text(tensor));
  push_element(L, tensor, first);
  return 1;
}

/*
** Raise if the tables would exceed the memory limit. The storage of an empty or expanded tensor
** does not limit its shape.
*/
static void check_tables(lua_State *L, const RpTensor *tensor)
{
  enum { TABLE = 56, VALUE = 16 }; /* bytes in Lua 5.4 */
  double bytes = 0, tables = 1;
  for (int axis = 0; axis < tensor->rank; axis++) {
    bytes += tables * (TABLE + VALUE * (double)tensor->shape[axis]);
    tables *= (double)tensor->shape[axis];
  }
  const RpMemoryUse use = rp_memory_use();
  if (bytes <= (double)use.limit - (double)use.live)
    return;
  rp_fail(RP_OUT_OF_MEMORY,
          "out of memory: tables of shape %s take %.0f bytes, with %zu in use, "
          "limit %zu",
          rp_tensor_shape_text(tensor), bytes, use.live, use.limit);
  rpl_raise(L);
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
    if (index[axis] % RPL_STRIDE == 0)
      rpl_check_interrupt(L);
    push_table(L, tensor, axis + 1, index);
    lua_rawseti(L, -2, index[axis] + 1);
  }
}

/*
** function tensor:totable()
** The elements as nested tables; for a scalar, a number.
**
** Errors: tables that would exceed the memory limit.
**
**     > roper.tensor{{1, 2}, {3, 4}}:totable()
**     {{1.0, 2.0}, {3.0, 4.0}}
** @return table|number values
*/
static int tensor_totable(lua_State *L)
{
  rpl_check_count(L, "totable", 1);
  int64_t index[RP_MAX_RANK] = {0};
  RpTensor **held = rpl_new_tensor(L);
  *held = rp_tensor_retain(rpl_check_tensor(L, 1));
  check_tables(L, *held);
  push_table(L, *held, 0, index);
  return 1;
}

/*
** function tensor:contiguous()
** The tensor itself if it is contiguous, otherwise a contiguous copy, through which gradients flow.
**
**     > roper.zeros{2, 3}:transpose(1, 2):contiguous():is_contiguous()
**     true
** @return tensor y
*/
static RpTensor *tensor_contiguous(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  return rp_tensor_is_contiguous(tensor) ? rp_tensor_retain(tensor)
                                         : rp_op_convert(tensor, tensor->dtype);
}

/*
** function tensor:clone()
** A copy with its own storage, through which gradients flow.
**
**     > x = roper.ones{2}
**     > y = x:clone():fill(5)
**     > x
**     float32 [2]
**     1 1
** @return tensor y
*/
static RpTensor *tensor_clone(lua_State *L)
{
  RpTensor *tensor = rpl_check_tensor(L, 1);
  return rp_op_convert(tensor, tensor->dtype);
}

/*
** function tensor:detach()
** A tensor that shares the storage but is outside the graph: no gradient flows through it.
**
**     > roper.ones{2}:parameter():detach():is_parameter()
**     false
** @return tensor y
*/
static RpTensor *tensor_detach(lua_State *L)
{
  return rp_tensor_detach(rpl_check_tensor(L, 1));
}

/* Clear the mask flag of a new tensor, unless it is NULL. */
static RpTensor *as_numbers(RpTensor *tensor)
{
  if (tensor != NULL)
    tensor->is_mask = false;
  return tensor;
}

/*
** function tensor:to(dtype)
** The tensor converted to a dtype; the tensor itself if it has that dtype already. The gradient is
** converted back. A mask becomes ordinary numbers 0 and 1.
**
** Errors: NaN or a number outside the range of int32.
**
**     > roper.tensor{1.7, -1.7}:to "int32"
**     int32 [2]
**      1 -1
** @param dtype "float32"|"float64"|"int32" int32 truncates towards 0
** @return tensor y
*/
static RpTensor *tensor_to(lua_State *L)
{
  rpl_check_string(L, 2, NULL);
  const RpDtype dtype = rpl_optional_dtype(L, 2, RP_FLOAT32);
  RpTensor *tensor = rpl_check_tensor(L, 1);
  return dtype == tensor->dtype && !tensor->is_mask ? rp_tensor_retain(tensor)
                                                    : as_numbers(rp_op_convert(tensor, dtype));
}

RpTensor *rpl_push_values(lua_State *L, int index, RpDtype dtype, const char *what)
{
  if (lua_type(L, index) == LUA_TNUMBER)
    return rpl_push_scalar(L, index, dtype);
  const char *got;
  RpTensor *tensor = rpl_to_tensor(L, index, &got);
  if (tensor == NULL)
    luaL_error(L, "%s: expected a number or a tensor, got %s", what, got);
  lua_pushvalue(L, index);
  return tensor;
}

/*
** function tensor:copy(source)
** Overwrite all elements with those of another tensor, or with a number.
**
** Errors: a source of another dtype (but int32 is converted to floats) or one that does not
** broadcast; a tensor computed from parameters; elements that share memory, as after `expand`.
**
**     > roper.zeros{2, 2}:copy(roper.tensor{1, 2})
**     float32 [2, 2]
**     1 2
**     1 2
** @param source tensor|number broadcast to the shape of this tensor
** @return tensor self
*/
static int tensor_copy(lua_State *L)
{
  rpl_check_count(L, "copy", 2);
  RpTensor *source = rpl_push_values(L, 2, rpl_check_tensor(L, 1)->dtype, "copy: source");
  rpl_check(L, rp_tensor_assign(rpl_check_tensor(L, 1), source));
  lua_settop(L, 1);
  return 1;
}

/*
** function tensor:fill(value)
** Overwrite all elements with a number.
**
** Errors: a number that int32 cannot represent; a tensor computed from parameters; elements that
** share memory, as after `expand`.
**
**     > roper.zeros{3}:fill(7)
**     float32 [3]
**     7 7 7
** @param value number
** @return tensor self
*/
static int tensor_fill(lua_State *L)
{
  rpl_check_count(L, "fill", 2);
  const double value = rpl_check_number(L, 2);
  rpl_check(L, rp_tensor_fill(rpl_check_tensor(L, 1), value));
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
                                     {"numel", tensor_numel},
                                     {"is_mask", tensor_is_mask},
                                     {"is_contiguous", tensor_is_contiguous},
                                     {"item", tensor_item},
                                     {"totable", tensor_totable},
                                     {"copy", tensor_copy},
                                     {"fill", tensor_fill},
                                     {NULL, NULL}};
  static const RplOperation operations[] = {{"contiguous", 1, tensor_contiguous, 0},
                                            {"clone", 1, tensor_clone, 0},
                                            {"detach", 1, tensor_detach, 0},
                                            {"to", 2, tensor_to, 0},
                                            {NULL, 0, NULL, 0}};
  static const luaL_Reg meta[] = {
      {"__gc", tensor_gc}, {"__close", tensor_gc}, {"__len", tensor_length}, {NULL, NULL}};
  luaL_newmetatable(L, RPL_TENSOR);
  luaL_setfuncs(L, meta, 0);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  rpl_set_operations(L, operations);
  lua_setfield(L, -2, "methods");
  lua_setfield(L, -2, "tensor_metatable");
  luaL_newmetatable(L, SHAPE);
  lua_setfield(L, -2, "shape_metatable");
}
