/*
** Element-wise functions of two arguments, one row each:
**
**     BINARY(id, name, f(a, b), reads, da, reads, db)
**
** BINARY rows take any dtype, FLOAT_BINARY rows only floats; see unary.h. da and
** db are the gradients of a and b, before the sum over broadcast axes. The `reads`
** before each states which values it uses besides dy, and the graph's node keeps: a
** combination of A, B and Y (y = f(a, b)); NOTHING; or PASS if the gradient is dy.
*/
/* clang-format would read a product as a declaration. */
/* clang-format off */
#ifndef FLOAT_BINARY
#define FLOAT_BINARY BINARY
#endif

/*
** function roper.add(a, b)
** a + b, element by element.
**
** Errors: float32 with float64, or with an int32 that float32 cannot represent; shapes that do not
** broadcast (sizes must be equal or 1).
**
**     > roper.tensor{1, 2} + 10
**     float32 [2]
**     11 12
** @param a tensor|number int32 with floats is converted to their dtype
** @param b tensor|number broadcast with a; at least one of them a tensor
** @return tensor y of the broadcast shape
*/
BINARY(ADD, "add", a + b, PASS, dy, PASS, dy)

/*
** function roper.sub(a, b)
** a - b, element by element.
**
**     > roper.tensor{1, 2} - roper.tensor{{1}, {2}}
**     float32 [2, 2]
**      0  1
**     -1  0
** @like roper.add
*/
BINARY(SUBTRACT, "sub", a - b, PASS, dy, NOTHING, -dy)

/*
** function roper.mul(a, b)
** a * b, element by element; `matmul` multiplies matrices.
**
**     > 2 * roper.tensor{1, 2}
**     float32 [2]
**     2 4
** @like roper.add
*/
BINARY(MULTIPLY, "mul", a * b, B, dy * b, A, dy * a)

/*
** function roper.maximum(a, b)
** The larger of a and b, element by element; `max` reduces one tensor.
**
**     > roper.tensor{-1, 2}:maximum(0)
**     float32 [2]
**     0 2
** @like roper.add
*/
BINARY(MAXIMUM, "maximum", IS_NAN(a) || a > b ? a : b, A | Y, a == y ? dy : 0, A | Y,
       a != y ? dy : 0)

/*
** function roper.minimum(a, b)
** The smaller of a and b, element by element; `min` reduces one tensor.
**
**     > roper.tensor{-1, 2}:minimum(0)
**     float32 [2]
**     -1  0
** @like roper.add
*/
BINARY(MINIMUM, "minimum", IS_NAN(a) || a < b ? a : b, A | Y, a == y ? dy : 0, A | Y,
       a != y ? dy : 0)

/*
** function roper.div(a, b)
** a / b, element by element, for floats.
**
**     > 1 / roper.tensor{1, 2, 0}
**     float32 [3]
**     1.0000 0.5000    inf
** @like roper.add
*/
FLOAT_BINARY(DIVIDE, "div", a / b, B, dy / b, B | Y, -y / b * dy)

/*
** function roper.pow(a, b)
** aᵇ, element by element, for floats; nan if a is negative and b is not an integer. The gradient of
** b is 0 where a = 0 and b ≥ 0.
**
**     > roper.tensor{1, 2, 3} ^ 2
**     float32 [3]
**     1 4 9
** @like roper.add
*/
FLOAT_BINARY(POWER, "pow", REAL_POW(a, b), A | B, b != 0 ? REAL_POW(a, b - 1) * b * dy : 0,
             A | B | Y, a != 0 || b < 0 ? REAL_LOG(a) * y * dy : 0)

/*
** function roper.remainder(a, b)
** The remainder a − b ⌊a / b⌋, with the sign of b, like % in Lua and Python; a % b does the same.
**
** Errors: int32 division by 0 (floats give nan); shapes that do not broadcast.
**
**     > roper.tensor{-3, 3.5} % 2
**     float32 [2]
**     1.0000 1.5000
** @param a tensor|number
** @param b tensor|number broadcast with a; at least one of them a tensor
** @return tensor y of the broadcast shape
*/
BINARY(REMAINDER, "remainder", remainder_of(a, b), PASS, dy, A | B | Y,
       -REAL_RINT((a - y) / b) * dy)

#undef BINARY
#undef FLOAT_BINARY
