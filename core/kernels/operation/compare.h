/* Comparisons of two elements, one row each: COMPARE(id, name, relation); see unary.h. */

/*
** function roper.eq(a, b)
** 1 where a equals b, else 0: a mask, outside the graph. `==` returns one boolean: whether two
** tensors have the same shape and equal elements. `==` between a tensor and a number is always
** false; compare the tensor's `item()`.
**
** Errors: float32 with float64, or with an int32 that float32 cannot represent; shapes that do not
** broadcast (sizes must be equal or 1).
**
**     > roper.tensor{1, 2, 3}:eq(2)
**     int32 [3], mask
**     0 1 0
** @param a tensor|number int32 with floats is converted to their dtype
** @param b tensor|number broadcast with a; at least one of them a tensor
** @return tensor mask int32, of the broadcast shape
*/
COMPARE(EQ, "eq", a == b)

/*
** function roper.ne(a, b)
** 1 where a differs from b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:ne(2)
**     int32 [3], mask
**     1 0 1
** @like roper.eq
*/
COMPARE(NE, "ne", a != b)

/*
** function roper.lt(a, b)
** 1 where a is less than b, else 0; outside the graph.
** `<` and `<=` compare single numbers and return a boolean.
**
**     > roper.tensor{1, 2, 3}:lt(2)
**     int32 [3], mask
**     1 0 0
** @like roper.eq
*/
COMPARE(LT, "lt", a < b)

/*
** function roper.le(a, b)
** 1 where a is at most b, else 0; outside the graph.
** `<` and `<=` compare single numbers and return a boolean.
**
**     > roper.tensor{1, 2, 3}:le(2)
**     int32 [3], mask
**     1 1 0
** @like roper.eq
*/
COMPARE(LE, "le", a <= b)

/*
** function roper.gt(a, b)
** 1 where a is greater than b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:gt(2)
**     int32 [3], mask
**     0 0 1
** @like roper.eq
*/
COMPARE(GT, "gt", a > b)

/*
** function roper.ge(a, b)
** 1 where a is at least b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:ge(2)
**     int32 [3], mask
**     0 1 1
** @like roper.eq
*/
COMPARE(GE, "ge", a >= b)

/*
** function roper.logical_and(a, b)
** 1 where neither a nor b is 0, else 0; for masks, a & b does the same.
**
**     > x = roper.tensor{1, 2, 3}
**     > x[x:gt(1) & x:lt(3)]
**     float32 [1]
**     2
** @like roper.eq
*/
COMPARE(AND, "logical_and", a != 0 && b != 0)

/*
** function roper.logical_or(a, b)
** 1 where a or b is not 0, else 0; for masks, a | b does the same.
**
**     > x = roper.tensor{1, 2, 3}
**     > x[x:lt(2) | x:gt(2)]
**     float32 [2]
**     1 3
** @like roper.eq
*/
COMPARE(OR, "logical_or", a != 0 || b != 0)

/*
** function roper.logical_xor(a, b)
** 1 where exactly one of a and b is 0, else 0; for masks, a ~ b does the same.
**
**     > roper.tensor{0, 0, 1, 1}:logical_xor(roper.tensor{0, 1, 0, 1})
**     int32 [4], mask
**     0 1 1 0
** @like roper.eq
*/
COMPARE(XOR, "logical_xor", (a != 0) != (b != 0))

#undef COMPARE
