/* Floats held to the precision of narrower formats. */
#include <string.h>

#include "bindings/operations.h"
#include "core/ops/ops.h"

/*
** function roper.round_to(x, format)
** Round to what a narrower float format can hold: the nearest value, ties to even. The dtype stays.
** float16 has 11 significant bits, up to 65504, subnormal below 2^-14; bfloat16 has 8, with the
** exponents of float32. What is too large becomes infinite. The gradient passes unchanged.
**
** Errors: int32; another format (`to` converts to float32 and float64).
**
**     > roper.tensor{1 / 3, 2049, 1e5}:round_to "float16"
**     float32 [3]
**        0.3333 2048.0000       inf
** @param x tensor [...], floats
** @param format "float16"|"bfloat16"
** @return tensor y of the shape and dtype of x
*/
static int round_to(lua_State *L)
{
  rpl_check_count(L, "round_to", 2);
  const char *format = luaL_checkstring(L, 2);
  const bool is_half = strcmp(format, "float16") == 0;
  if (!is_half && strcmp(format, "bfloat16") != 0)
    return luaL_error(L, "round_to: expected \"float16\" or \"bfloat16\", got \"%s\"%s", format,
                      strncmp(format, "float", 5) == 0 ? "; :to() converts to other dtypes" : "");
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_op_unary(is_half ? RP_ROUND_FLOAT16 : RP_ROUND_BFLOAT16, rpl_check_tensor(L, 1));
  return rpl_return_tensor(L, slot);
}

void rpl_open_precision(lua_State *L)
{
  static const RplOperation table[] = {{"round_to", round_to, 0}, {NULL, NULL, 0}};
  rpl_add_operations(L, table);
}
