/* Functions along an axis: reductions, softmax, cumulative sums, sorting; a table row for each. */
#include "core/tensor/reduce.h"
#include "core/tensor/sort.h"

#include "bindings/registry.h"
#include "core/ops/ops.h"

/* Read the arguments (x, axis, keep); a nil axis means all axes. */
static RpTensor *check_reduction(lua_State *L, int *axis, bool *keep)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  *axis = lua_isnoneornil(L, 2) ? RP_ALL_AXES : rpl_check_axis(L, 2, x->rank);
  *keep = rpl_optional_boolean(L, 3, false);
  return x;
}

static RpTensor *reduce(lua_State *L)
{
  const RpReduction op = (RpReduction)rpl_operation(L);
  int axis;
  bool keep, axes[RP_MAX_RANK];
  if (lua_istable(L, 2)) {
    rpl_check_axes(L, 2, rpl_check_tensor(L, 1)->rank, axes);
    return rp_op_reduce_axes(op, rpl_check_tensor(L, 1), axes, rpl_optional_boolean(L, 3, false));
  }
  RpTensor *x = check_reduction(L, &axis, &keep);
  return rp_op_reduce(op, x, axis, keep);
}

/* The 1-based indices of extrema. */
static RpTensor *argument(lua_State *L)
{
  int axis;
  bool keep;
  RpTensor *x = check_reduction(L, &axis, &keep);
  return rp_tensor_indices((RpReduction)rpl_operation(L), x, axis, keep, 1);
}

static RpTensor *softmax(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  const int axis = lua_isnoneornil(L, 2) ? x->rank - 1 : rpl_check_axis(L, 2, x->rank);
  return rp_op_softmax(x, axis, rpl_operation(L) != 0);
}

static RpTensor *cumulative_sum(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  const int axis = rpl_check_axis(L, 2, x->rank);
  return rp_op_cumulative_sum(x, axis);
}

static RpTensor *argsort(lua_State *L)
{
  RpTensor *x = rpl_check_tensor(L, 1);
  luaL_argcheck(L, x->rank > 0, 1, "expected at least one axis, got a scalar");
  const int axis = lua_isnil(L, 2) ? x->rank - 1 : rpl_check_axis(L, 2, x->rank);
  return rp_tensor_argsort(x, axis, rpl_optional_boolean(L, 3, false), 1);
}

static const RplOperation table[] = {
    /*
    ** function roper.sum(x, axis, keep)
    ** The sum along one or more axes, or over all elements. Sums are computed in float64; the sum
    ** of integers is a float64 tensor, exact up to 2^53.
    **
    ** Errors: an empty list of axes; an axis that x does not have; the same axis twice.
    **
    **     > roper.tensor{{1, 2}, {3, 4}}:sum()
    **     10 (float32)
    **     > roper.ones{2, 3, 4}:sum{1, 3}
    **     float32 [3]
    **     8 8 8
    **     > roper.tensor{{1, 2}, {3, 4}}:sum(2)
    **     float32 [2]
    **     3 7
    ** @param x tensor
    ** @param axis? integer|integer[] 1-based, negative from the end; all axes by default
    ** @param keep? boolean = false; keep each reduced axis, with size 1
    ** @return tensor y without the reduced axes, unless `keep`
    */
    {"sum", 3, reduce, RP_SUM},
    /*
    ** function roper.mean(x, axis, keep)
    ** The mean along one or more axes, or over all elements; for integers, a float64 tensor.
    **
    ** Errors: an empty list of axes; an axis that x does not have; the same axis twice; no
    ** elements.
    **
    **     > roper.tensor{{1, 2}, {3, 5}}:mean(1, true)
    **     float32 [1, 2]
    **     2.0000 3.5000
    ** @param x tensor
    ** @param axis? integer|integer[] 1-based, negative from the end; all axes by default
    ** @param keep? boolean = false; keep each reduced axis, with size 1
    ** @return tensor y without the reduced axes, unless `keep`
    */
    {"mean", 3, reduce, RP_MEAN},
    /*
    ** function roper.max(x, axis, keep)
    ** The largest element along one or more axes, or of all elements. If several elements equal
    ** the maximum, only the first receives a gradient.
    **
    **     > roper.tensor{{1, 5}, {7, 4}}:max(2)
    **     float32 [2]
    **     5 7
    ** @like roper.mean
    */
    {"max", 3, reduce, RP_MAX},
    /*
    ** function roper.min(x, axis, keep)
    ** The smallest element along one or more axes, or of all elements. If several elements equal
    ** the minimum, only the first receives a gradient.
    **
    **     > roper.tensor{{1, 5}, {7, 4}}:min()
    **     1 (float32)
    ** @like roper.mean
    */
    {"min", 3, reduce, RP_MIN},
    /*
    ** function roper.argmax(x, axis, keep)
    ** The 1-based index of the largest element along an axis, of the first if several are equal.
    ** Without an axis, the index among all elements of x, counted row by row.
    **
    ** Errors: an axis that x does not have; no elements.
    **
    **     > roper.tensor{{1, 5}, {7, 4}}:argmax(2)
    **     int32 [2]
    **     2 1
    ** @param x tensor
    ** @param axis? integer 1-based, negative from the end; all axes by default
    ** @param keep? boolean = false; keep the reduced axis, with size 1
    ** @return tensor indices int32, without the reduced axis, unless `keep`
    */
    {"argmax", 3, argument, RP_MAX},
    /*
    ** function roper.argmin(x, axis, keep)
    ** The 1-based index of the smallest element along an axis, of the first if several are equal.
    ** Without an axis, the index among all elements of x, counted row by row.
    **
    **     > roper.tensor{{1, 5}, {7, 4}}:argmin(1)
    **     int32 [2]
    **     1 2
    ** @like roper.argmax
    */
    {"argmin", 3, argument, RP_MIN},
    /*
    ** function roper.softmax(x, axis)
    ** Exponentials, normalized to sum to 1 along an axis. The maximum is subtracted first, so large
    ** elements do not overflow.
    **
    **     yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)
    **
    ** Errors: an int32 or scalar x; an axis that x does not have.
    **
    **     > roper.tensor{0, 1, -math.huge}:softmax()
    **     float32 [3]
    **     0.2689 0.7311 0.0000
    ** @param x tensor of floats
    ** @param axis? integer = -1; 1-based, negative from the end
    ** @return tensor y of the shape of x
    */
    {"softmax", 2, softmax, 0},
    /*
    ** function roper.log_softmax(x, axis)
    ** The logarithm of `softmax`, accurate even if `softmax` underflows to 0 or x is large.
    **
    **     yᵢ = (xᵢ − max x) − log Σⱼ exp(xⱼ − max x)
    **
    **     > roper.tensor{0, 1000}:log_softmax()
    **     float32 [2]
    **     -1000     0
    ** @like roper.softmax
    */
    {"log_softmax", 2, softmax, 1},
    /*
    ** function roper.cumsum(x, axis)
    ** The cumulative sum along an axis; for integers, a float64 tensor.
    **
    **     yᵢ = x₁ + … + xᵢ
    **
    ** Errors: an axis that x does not have.
    **
    **     > roper.tensor{1, 2, 3}:cumsum(1)
    **     float32 [3]
    **     1 3 6
    ** @param x tensor
    ** @param axis integer 1-based, negative from the end
    ** @return tensor y of the shape of x
    */
    {"cumsum", 2, cumulative_sum, 0},
    /*
    ** function roper.argsort(x, axis, descending)
    ** The 1-based indices that sort x along an axis. Equal elements keep their order; NaN counts as
    ** larger than any number.
    **
    ** Errors: an axis that x does not have; a scalar x.
    **
    **     > roper.tensor{3, 1, 2}:argsort()
    **     int32 [3]
    **     2 3 1
    ** @param x tensor
    ** @param axis? integer = -1; 1-based, negative from the end
    ** @param descending? boolean = false; sort from the largest to the smallest
    ** @return tensor indices int32, 1-based, of the shape of x
    */
    {"argsort", 3, argsort, 0},
    {NULL, 0, NULL, 0},
};

void rpl_open_reduce(lua_State *L)
{
  rpl_add_operations(L, table);
}
