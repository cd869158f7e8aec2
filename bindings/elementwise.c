/*
** Differentiable functions of each element. A new one is one line in a table
** here.
*/
#include "core/tensor/elementwise.h"

#include "bindings/operations.h"
#include "core/ops/ops.h"

static int unary(lua_State *L)
{
  const RpUnary op = (RpUnary)rpl_operation(L);
  /* Lua passes the operand of a unary metamethod twice. */
  rpl_check_count(L, rp_unary_name(op), op == RP_NEGATE ? 2 : 1);
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_unary(op, rpl_check_tensor(L, 1));
  return rpl_return_tensor(L, slot);
}

static int binary(lua_State *L)
{
  const RpBinary op = (RpBinary)rpl_operation(L);
  RpTensor *a, *b;
  rpl_check_count(L, rp_binary_name(op), 2);
  RpTensor **slot = rpl_new_tensor(L);
  rpl_operands(L, 1, &a, &b);
  *slot = rp_op_binary(op, a, b);
  return rpl_return_tensor(L, slot);
}

static const RplOperation table[] = {
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
    {"neg", unary, RP_NEGATE},
    /*
    ** function roper.abs(x)
    ** |x| of each element.
    **
    **     > roper.tensor{-3, 2}:abs()
    **     float32 [2]
    **     3 2
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"abs", unary, RP_ABS},
    /*
    ** function roper.sign(x)
    ** -1, 0 or 1 for each element; its gradient is 0.
    **
    **     > roper.tensor{-3, 0, 2}:sign()
    **     float32 [3]
    **     -1  0  1
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"sign", unary, RP_SIGN},
    /*
    ** function roper.square(x)
    ** x² of each element.
    **
    **     > roper.tensor{-3, 2}:square()
    **     float32 [2]
    **     9 4
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"square", unary, RP_SQUARE},
    /*
    ** function roper.floor(x)
    ** The largest whole number that is not above each element; its gradient is 0.
    **
    **     > roper.tensor{-1.5, 1.5}:floor()
    **     float32 [2]
    **     -2  1
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"floor", unary, RP_FLOOR},
    /*
    ** function roper.ceil(x)
    ** The smallest whole number that is not below each element; its gradient is 0.
    **
    **     > roper.tensor{-1.5, 1.5}:ceil()
    **     float32 [2]
    **     -1  2
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"ceil", unary, RP_CEIL},
    /*
    ** function roper.round(x)
    ** The nearest whole number, of two the even one; its gradient is 0.
    **
    **     > roper.tensor{0.5, 1.5, 2.6}:round()
    **     float32 [3]
    **     0 2 3
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"round", unary, RP_ROUND},
    /*
    ** function roper.sqrt(x)
    ** √x of each element; nan below 0.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{4, 2}:sqrt()
    **     float32 [2]
    **     2.0000 1.4142
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"sqrt", unary, RP_SQRT},
    /*
    ** function roper.exp(x)
    ** eˣ of each element.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{0, 1}:exp()
    **     float32 [2]
    **     1.0000 2.7183
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"exp", unary, RP_EXP},
    /*
    ** function roper.log(x)
    ** The natural logarithm of each element; -inf for 0, nan below.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{1, 10}:log()
    **     float32 [2]
    **     0.0000 2.3026
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"log", unary, RP_LOG},
    /*
    ** function roper.sin(x)
    ** The sine of each element, in radians.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{0, 1}:sin()
    **     float32 [2]
    **     0.0000 0.8415
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"sin", unary, RP_SIN},
    /*
    ** function roper.cos(x)
    ** The cosine of each element, in radians.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{0, 1}:cos()
    **     float32 [2]
    **     1.0000 0.5403
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"cos", unary, RP_COS},
    /*
    ** function roper.tanh(x)
    ** The hyperbolic tangent of each element.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{-1, 0, 1}:tanh()
    **     float32 [3]
    **     -0.7616  0.0000  0.7616
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"tanh", unary, RP_TANH},
    /*
    ** function roper.sigmoid(x)
    ** 1 / (1 + e⁻ˣ) of each element.
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{-1, 0, 1}:sigmoid()
    **     float32 [3]
    **     0.2689 0.5000 0.7311
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"sigmoid", unary, RP_SIGMOID},
    /*
    ** function roper.relu(x)
    ** max(x, 0) of each element.
    **
    **     > roper.tensor{-1, 0, 1}:relu()
    **     float32 [3]
    **     0 0 1
    ** @param x tensor
    ** @return tensor y of the shape of x
    */
    {"relu", unary, RP_RELU},
    /*
    ** function roper.gelu(x)
    ** x Φ(x) of each element, Φ the normal distribution (Hendrycks and Gimpel 2016).
    **
    ** Errors: x holds integers.
    **
    **     > roper.tensor{-1, 0, 1}:gelu()
    **     float32 [3]
    **     -0.1587  0.0000  0.8413
    ** @param x tensor of floats
    ** @return tensor y of the shape of x
    */
    {"gelu", unary, RP_GELU},
    /*
    ** function roper.add(a, b)
    ** a + b, element by element.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2} + 10
    **     float32 [2]
    **     11 12
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"add", binary, RP_ADD},
    /*
    ** function roper.sub(a, b)
    ** a - b, element by element.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2} - roper.tensor{{1}, {2}}
    **     float32 [2, 2]
    **      0  1
    **     -1  0
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"sub", binary, RP_SUBTRACT},
    /*
    ** function roper.mul(a, b)
    ** a * b, element by element; `matmul` multiplies matrices.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > 2 * roper.tensor{1, 2}
    **     float32 [2]
    **     2 4
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"mul", binary, RP_MULTIPLY},
    /*
    ** function roper.div(a, b)
    ** a / b, element by element, of floats.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > 1 / roper.tensor{1, 2, 0}
    **     float32 [3]
    **     1.0000 0.5000    inf
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"div", binary, RP_DIVIDE},
    /*
    ** function roper.pow(a, b)
    ** aᵇ, element by element, of floats; nan for a root of a negative number. The gradient of b
    ** is 0 where a is 0 and b is not below it.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{1, 2, 3} ^ 2
    **     float32 [3]
    **     1 4 9
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"pow", binary, RP_POWER},
    /*
    ** function roper.maximum(a, b)
    ** The larger of a and b, element by element; `max` reduces one tensor.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{-1, 2}:maximum(0)
    **     float32 [2]
    **     0 2
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"maximum", binary, RP_MAXIMUM},
    /*
    ** function roper.minimum(a, b)
    ** The smaller of a and b, element by element; `min` reduces one tensor.
    **
    ** Errors: other dtypes; shapes that do not broadcast: sizes must be equal or 1.
    **
    **     > roper.tensor{-1, 2}:minimum(0)
    **     float32 [2]
    **     -1  0
    ** @param a tensor|number
    ** @param b tensor|number of the dtype of the other, broadcast with it
    ** @return tensor y of the broadcast shape
    */
    {"minimum", binary, RP_MINIMUM},
    {NULL, NULL, 0},
};

static const RplOperation events[] = {
    {"__unm", unary, RP_NEGATE},
    {"__add", binary, RP_ADD},
    {"__sub", binary, RP_SUBTRACT},
    {"__mul", binary, RP_MULTIPLY},
    {"__div", binary, RP_DIVIDE},
    {"__pow", binary, RP_POWER},
    {NULL, NULL, 0},
};

void rpl_open_elementwise(lua_State *L)
{
  rpl_add_operations(L, table);
  rpl_add_events(L, events);
}
