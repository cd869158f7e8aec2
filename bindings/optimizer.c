/* Optimizer steps. The classes around them are Lua. */
#include "core/optimizer/optimizer.h"

#include "bindings/check.h"

/* adam_step(parameter, mean, variance, settings) */
static int adam_step(lua_State *L)
{
  static const char *const names[] = {"rate",           "beta1", "beta2",       "epsilon",
                                      "decay",          "l2",    "correction1", "correction2",
                                      "gradient_scale", NULL};
  rpl_check_count(L, "adam", 4);
  RpTensor *parameter = rpl_check_tensor(L, 1), *mean = rpl_check_tensor(L, 2);
  RpTensor *variance = rpl_check_tensor(L, 3);
  const RplOptions options = rpl_options(L, 4, "adam", names);
  const RpAdam settings = {.rate = rpl_option_number(&options, "rate", 1e-3),
                           .beta1 = rpl_option_number(&options, "beta1", 0.9),
                           .beta2 = rpl_option_number(&options, "beta2", 0.999),
                           .epsilon = rpl_option_number(&options, "epsilon", 1e-8),
                           .decay = rpl_option_number(&options, "decay", 0),
                           .l2 = rpl_option_number(&options, "l2", 0),
                           .correction1 = rpl_option_number(&options, "correction1", 1),
                           .correction2 = rpl_option_number(&options, "correction2", 1),
                           .gradient_scale = rpl_option_number(&options, "gradient_scale", 1)};
  rpl_check(L, rp_adam_step(&settings, parameter, mean, variance));
  return 0;
}

/* sgd_step(parameter, velocity or nil, settings) */
static int sgd_step(lua_State *L)
{
  static const char *const names[] = {"rate", "momentum", "l2", "nesterov", "gradient_scale", NULL};
  rpl_check_count(L, "sgd", 3);
  RpTensor *parameter = rpl_check_tensor(L, 1), *velocity = rpl_optional_tensor(L, 2);
  const RplOptions options = rpl_options(L, 3, "sgd", names);
  const RpSgd settings = {.rate = rpl_option_number(&options, "rate", 1e-2),
                          .momentum = rpl_option_number(&options, "momentum", 0),
                          .l2 = rpl_option_number(&options, "l2", 0),
                          .nesterov = rpl_option_boolean(&options, "nesterov", false),
                          .gradient_scale = rpl_option_number(&options, "gradient_scale", 1)};
  rpl_check(L, rp_sgd_step(&settings, parameter, velocity));
  return 0;
}

/* gradient_norm(parameters): over all gradients together */
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
}
