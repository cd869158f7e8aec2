/* Optimizer steps. The classes that use them are written in Lua. */
#include "core/optimizer/optimizer.h"

#include "bindings/options.h"

static const RplRow ADAM[] = {
    RPL_NUMBER_ROW(RpAdam, rate, 1e-3, "learning rate"),
    RPL_NUMBER_ROW(RpAdam, beta1, 0.9, "decay of the running mean of the gradient"),
    RPL_NUMBER_ROW(RpAdam, beta2, 0.999, "decay of the running mean of its square"),
    RPL_NUMBER_ROW(RpAdam, epsilon, 1e-8, "added to the denominator"),
    RPL_NUMBER_ROW(RpAdam, decay, 0, "weight decay, decoupled from the gradient"),
    RPL_NUMBER_ROW(RpAdam, l2, 0, "this times the parameter is added to the gradient"),
    RPL_NUMBER_ROW(RpAdam, correction1, 1, "bias correction of the mean, 1 - beta1^step"),
    RPL_NUMBER_ROW(RpAdam, correction2, 1, "bias correction of the variance, 1 - beta2^step"),
    RPL_NUMBER_ROW(RpAdam, gradient_scale, 1, "factor of the gradient, applied first"),
    {0}};

/*
** function roper.adam_step(parameter, mean, variance, options)
** One step of Adam (Kingma and Ba 2015, algorithm 1) for one parameter, in place;
** `roper.optim.Adam` keeps the state.
**
**     m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²
**     w ← w − rate (m / c₁ / (√(v / c₂) + ε) + decay w)
**
** Errors: different shapes or dtypes; an option that is not finite; no gradient.
**
**     > w = roper.ones{1}:parameter()
**     > (w * 3):sum():backward()
**     > mean, variance = roper.zeros{1}, roper.zeros{1}
**     > roper.adam_step(w, mean, variance, {rate = 0.5, beta1 = 0, beta2 = 0})
**     > w
**     float32 [1]
**     0.5000
** @param parameter tensor with a gradient
** @param mean tensor running mean of the gradient, updated
** @param variance tensor running mean of the squared gradient, updated
** @param options? AdamStepOptions
*/
static int adam_step(lua_State *L)
{
  RpAdam settings = {0};
  rpl_check_count(L, "adam_step", 4);
  rpl_options(L, 4, "adam_step", ADAM, &settings);
  RpTensor *parameter = rpl_check_tensor(L, 1), *mean = rpl_check_tensor(L, 2);
  RpTensor *variance = rpl_check_tensor(L, 3);
  rpl_check(L, rp_adam_step(&settings, parameter, mean, variance));
  return 0;
}

static const RplRow SGD[] = {
    RPL_NUMBER_ROW(RpSgd, rate, 1e-2, "learning rate"),
    RPL_NUMBER_ROW(RpSgd, momentum, 0, "decay of the velocity"),
    RPL_NUMBER_ROW(RpSgd, l2, 0, "this times the parameter is added to the gradient"),
    RPL_BOOLEAN_ROW(RpSgd, nesterov, false, "use Nesterov momentum"),
    RPL_NUMBER_ROW(RpSgd, gradient_scale, 1, "factor of the gradient, applied first"),
    {0}};

/*
** function roper.sgd_step(parameter, velocity, options)
** One step of stochastic gradient descent for one parameter, in place; `roper.optim.SGD` keeps the
** state.
**
**     v ← momentum v + g,   w ← w − rate v
**
** Errors: different shapes or dtypes; an option that is not finite; no gradient.
**
**     > w = roper.ones{1}:parameter()
**     > (w * 3):sum():backward()
**     > roper.sgd_step(w, nil, {rate = 0.1})
**     > w
**     float32 [1]
**     0.7000
** @param parameter tensor with a gradient
** @param velocity? tensor running sum of the gradients, updated; required with momentum
** @param options? SGDStepOptions
*/
static int sgd_step(lua_State *L)
{
  RpSgd settings = {0};
  rpl_check_count(L, "sgd_step", 3);
  rpl_options(L, 3, "sgd_step", SGD, &settings);
  RpTensor *parameter = rpl_check_tensor(L, 1), *velocity = rpl_optional_tensor(L, 2);
  rpl_check(L, rp_sgd_step(&settings, parameter, velocity));
  return 0;
}

/*
** function roper.gradient_norm(parameters)
** The Euclidean norm of the gradients of all parameters together, computed in float64.
**
**     √ Σ |g|²
**
**     > w = roper.tensor{3, 4}:parameter()
**     > (w ^ 2):sum():backward()
**     > roper.gradient_norm{w}
**     10.0
** @param parameters tensor[]
** @return number norm
*/
static int gradient_norm(lua_State *L)
{
  enum { MOST = 1 << 20 };
  int count;
  double norm;
  rpl_check_count(L, "gradient_norm", 1);
  RpTensor **list = rpl_push_tensors(L, 1, "gradient_norm", MOST, &count);
  rpl_check(L, rp_gradient_norm(count, list, &norm));
  lua_pushnumber(L, norm);
  return 1;
}

void rpl_open_optimizer(lua_State *L)
{
  static const luaL_Reg functions[] = {{"adam_step", adam_step},
                                       {"sgd_step", sgd_step},
                                       {"gradient_norm", gradient_norm},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  rpl_declare_options(L, "AdamStepOptions", NULL, ADAM);
  rpl_declare_options(L, "SGDStepOptions", NULL, SGD);
}
