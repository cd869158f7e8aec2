/*
** Element-wise functions of one argument, one row each:
**
**     UNARY(id, name, keeps, f(x), slope)
**
** UNARY rows take any dtype, FLOAT_UNARY rows only floats. Kernels, tensors, graph
** and bindings are generated from these rows: a file that includes this one defines
** the macros first. `slope` is the derivative, and slope * dy is the gradient.
** `keeps` is the value that `slope` reads and that the graph's node keeps: x, y (y =
** f(x)) or nothing. For int32, f is computed in 64 bits, and a result that does not
** fit int32 is an error.
*/
/* clang-format would read a product as a declaration. */
/* clang-format off */
#ifndef FLOAT_UNARY
#define FLOAT_UNARY UNARY
#endif
#ifndef FORMAT
#define FORMAT FLOAT_UNARY
#endif

/*
** function roper.neg(x)
** −x of each element; -x does the same.
**
**     > -roper.tensor{1, -2}
**     float32 [2]
**     -1  2
** @param x tensor
** @return tensor y of the shape of x
*/
UNARY(NEGATE, "neg", nothing, -x, -1)

/*
** function roper.abs(x)
** |x| of each element.
**
**     > roper.tensor{-3, 2}:abs()
**     float32 [2]
**     3 2
** @like roper.neg
*/
UNARY(ABS, "abs", x, REAL_ABS(x), x > 0 ? 1 : x < 0 ? -1 : 0)

/*
** function roper.sign(x)
** -1, 0 or 1 for each element; its gradient is 0.
**
**     > roper.tensor{-3, 0, 2}:sign()
**     float32 [3]
**     -1  0  1
** @like roper.neg
*/
UNARY(SIGN, "sign", nothing, x > 0 ? 1 : x < 0 ? -1 : x, 0)

/*
** function roper.square(x)
** x² of each element.
**
**     > roper.tensor{-3, 2}:square()
**     float32 [2]
**     9 4
** @like roper.neg
*/
UNARY(SQUARE, "square", x, x * x, 2 * x)

/*
** function roper.floor(x)
** The largest integer not greater than each element; its gradient is 0.
**
**     > roper.tensor{-1.5, 1.5}:floor()
**     float32 [2]
**     -2  1
** @like roper.neg
*/
UNARY(FLOOR, "floor", nothing, REAL_FLOOR(x), 0)

/*
** function roper.ceil(x)
** The smallest integer not less than each element; its gradient is 0.
**
**     > roper.tensor{-1.5, 1.5}:ceil()
**     float32 [2]
**     -1  2
** @like roper.neg
*/
UNARY(CEIL, "ceil", nothing, REAL_CEIL(x), 0)

/*
** function roper.round(x)
** The nearest integer, ties to even; its gradient is 0.
**
**     > roper.tensor{0.5, 1.5, 2.6}:round()
**     float32 [3]
**     0 2 3
** @like roper.neg
*/
UNARY(ROUND, "round", nothing, REAL_RINT(x), 0)

/*
** function roper.relu(x)
** max(x, 0) of each element.
**
**     > roper.tensor{-1, 0, 1}:relu()
**     float32 [3]
**     0 0 1
** @like roper.neg
*/
UNARY(RELU, "relu", y, x<0 ? 0 : x, y> 0 ? 1 : 0)

/*
** function roper.sqrt(x)
** √x of each element; nan for negative elements.
**
** Errors: x is int32.
**
**     > roper.tensor{4, 2}:sqrt()
**     float32 [2]
**     2.0000 1.4142
** @param x tensor of floats
** @return tensor y of the shape of x
*/
FLOAT_UNARY(SQRT, "sqrt", y, REAL_SQRT(x), REAL_C(0.5) / y)

/*
** function roper.exp(x)
** eˣ of each element.
**
**     > roper.tensor{0, 1}:exp()
**     float32 [2]
**     1.0000 2.7183
** @like roper.sqrt
*/
FLOAT_UNARY(EXP, "exp", y, REAL_EXP(x), y)

/*
** function roper.log(x)
** The natural logarithm of each element; -inf for 0, nan for negative elements.
**
**     > roper.tensor{1, 10}:log()
**     float32 [2]
**     0.0000 2.3026
** @like roper.sqrt
*/
FLOAT_UNARY(LOG, "log", x, REAL_LOG(x), 1 / x)

/*
** function roper.sin(x)
** The sine of each element, in radians.
**
**     > roper.tensor{0, 1}:sin()
**     float32 [2]
**     0.0000 0.8415
** @like roper.sqrt
*/
FLOAT_UNARY(SIN, "sin", x, REAL_SIN(x), REAL_COS(x))

/*
** function roper.cos(x)
** The cosine of each element, in radians.
**
**     > roper.tensor{0, 1}:cos()
**     float32 [2]
**     1.0000 0.5403
** @like roper.sqrt
*/
FLOAT_UNARY(COS, "cos", x, REAL_COS(x), -REAL_SIN(x))

/*
** function roper.tanh(x)
** The hyperbolic tangent of each element.
**
**     > roper.tensor{-1, 0, 1}:tanh()
**     float32 [3]
**     -0.7616  0.0000  0.7616
** @like roper.sqrt
*/
FLOAT_UNARY(TANH, "tanh", y, REAL_TANH(x), 1 - y * y)

/*
** function roper.sigmoid(x)
** 1 / (1 + e⁻ˣ) of each element.
**
**     > roper.tensor{-1, 0, 1}:sigmoid()
**     float32 [3]
**     0.2689 0.5000 0.7311
** @like roper.sqrt
*/
FLOAT_UNARY(SIGMOID, "sigmoid", y, 1 / (1 + REAL_EXP(-x)), y *(1 - y))

/*
** function roper.softplus(x)
** ln(1 + eˣ) of each element: a smooth ReLU; -softplus(-x) is the logarithm of the sigmoid.
**
**     > roper.tensor{-1, 0, 1}:softplus()
**     float32 [3]
**     0.3133 0.6931 1.3133
** @like roper.sqrt
*/
FLOAT_UNARY(SOFTPLUS, "softplus", x, (x > 0 ? x : 0) + REAL_LOG1P(REAL_EXP(-REAL_ABS(x))),
            1 / (1 + REAL_EXP(-x)))

/*
** function roper.gelu(x)
** x Φ(x) of each element, where Φ is the cumulative normal distribution (Hendrycks and Gimpel
** 2016).
**
**     > roper.tensor{-1, 0, 1}:gelu()
**     float32 [3]
**     -0.1587  0.0000  0.8413
** @like roper.sqrt
*/
FLOAT_UNARY(GELU, "gelu", x, gelu(x), gelu_slope(x))

/*
** function roper.gelu_tanh(x)
** The approximation of `gelu` in GPT-2 and BERT (Hendrycks and Gimpel 2016): x sigmoid(2 u) with
** u = sqrt(2 / π) (x + 0.044715 x³), which equals x (1 + tanh(u)) / 2.
**
**     > roper.tensor{-1, 0, 1}:gelu_tanh()
**     float32 [3]
**     -0.1588  0.0000  0.8412
** @like roper.sqrt
*/
FLOAT_UNARY(GELU_TANH, "gelu_tanh", x, x *gelu_tanh_gate(x), gelu_tanh_slope(x))

/*
** function roper.silu(x)
** x sigmoid(x) of each element (Elfwing et al. 2017), also called swish.
**
**     > roper.tensor{-1, 0, 1}:silu()
**     float32 [3]
**     -0.2689  0.0000  0.7311
** @like roper.sqrt
*/
FLOAT_UNARY(SILU, "silu", x, x / (1 + REAL_EXP(-x)), silu_slope(x))

/* Rounding to a narrower float format, ties to even; round_to selects it by name. */
FORMAT(ROUND_FLOAT16, "round_to", nothing, round_to_float16(x), 1)
FORMAT(ROUND_BFLOAT16, "round_to", nothing, round_to_bfloat16(x), 1)

#undef UNARY
#undef FLOAT_UNARY
#undef FORMAT
