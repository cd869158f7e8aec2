/* The relations of two elements, a row each: COMPARE(id, name, relation); as in unary.h. */

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
COMPARE(EQ, "eq", a == b)

/*
** function roper.ne(a, b)
** 1 where a is different from b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:ne(2)
**     int32 [3]
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
**     int32 [3]
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
**     int32 [3]
**     1 1 0
** @like roper.eq
*/
COMPARE(LE, "le", a <= b)

/*
** function roper.gt(a, b)
** 1 where a is greater than b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:gt(2)
**     int32 [3]
**     0 0 1
** @like roper.eq
*/
COMPARE(GT, "gt", a > b)

/*
** function roper.ge(a, b)
** 1 where a is at least b, else 0; outside the graph.
**
**     > roper.tensor{1, 2, 3}:ge(2)
**     int32 [3]
**     0 1 1
** @like roper.eq
*/
COMPARE(GE, "ge", a >= b)

#undef COMPARE
