/* The relations of two elements, a row each: COMPARE(id, name, relation); as in unary.h. */

/*
** function roper.eq(a, b)
** 1 where a is equal to b, else 0: a mask, outside the graph. `==` gives one boolean: do two
** tensors have one shape and equal elements? Beside a number it is false always, whatever the
** tensor holds; compare its `item()`.
**
** Errors: float32 beside float64, or beside an int32 that it does not hold; shapes that do not
** broadcast: sizes must be equal or 1.
**
**     > roper.tensor{1, 2, 3}:eq(2)
**     int32 [3], mask
**     0 1 0
** @param a tensor|number int32 beside floats takes their dtype
** @param b tensor|number broadcast with a; at least one of them a tensor
** @return tensor mask int32, of the broadcast shape
*/
COMPARE(EQ, "eq", a == b)

/*
** function roper.ne(a, b)
** 1 where a is different from b, else 0; outside the graph.
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
** `<` and `<=` compare single numbers and give a boolean.
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
** `<` and `<=` compare single numbers and give a boolean.
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
** 1 where neither a nor b is 0, else 0; of masks, a & b does the same.
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
** 1 where a or b is not 0, else 0; of masks, a | b does the same.
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
** 1 where one of a and b is 0, else 0; of masks, a ~ b does the same.
**
**     > roper.tensor{0, 0, 1, 1}:logical_xor(roper.tensor{0, 1, 0, 1})
**     int32 [4], mask
**     0 1 1 0
** @like roper.eq
*/
COMPARE(XOR, "logical_xor", (a != 0) != (b != 0))

#undef COMPARE
