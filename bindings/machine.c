/* Threads, memory and properties of the machine. */
#include "core/base/machine.h"

#include <string.h>

#include "bindings/check.h"
#include "core/base/memory.h"
#include "core/base/threads.h"
#include "core/kernels/kernels.h"

/*
** function roper.threads(n)
** The number of threads that the kernels use. With an argument, set it first.
**
** Errors: a number outside the range.
**
**     > n = roper.threads()
**     > roper.threads(1)
**     1
**     > roper.threads(n) == n
**     true
** @param n? integer from 1 to 64, or to four times the number of processors if that is more
** @return integer count
*/
static int threads(lua_State *L)
{
  rpl_check_count(L, "threads", 1);
  if (!lua_isnoneornil(L, 1))
    rpl_check(L, rp_set_threads((int)rpl_check_range(L, 1, "threads", 1, rp_most_threads())));
  lua_pushinteger(L, rp_threads());
  return 1;
}

enum { PRECISIONS = 2 };
static const char *const precisions[PRECISIONS + 1] = {
    [RP_FLOAT32_OPERANDS] = "float32",
    [RP_BFLOAT16_OPERANDS] = "bfloat16",
};

/*
** native.matmul_precision(precision)
** The precision to which float32 operands of matrix products are rounded. With an argument, set it
** first.
**
** Errors: any other name.
** @param precision? "float32"|"bfloat16"
** @return string precision the current one
*/
static int matmul_precision(lua_State *L)
{
  rpl_check_count(L, "matmul_precision", 1);
  if (!lua_isnoneornil(L, 1)) {
    const int chosen = rpl_find_choice(L, 1, precisions);
    if (chosen < 0)
      return luaL_error(L, "matmul_precision: %s", rpl_push_refusal(L, 1, precisions));
    rp_set_matmul_precision((RpPrecision)chosen);
  }
  lua_pushstring(L, precisions[rp_matmul_precision()]);
  return 1;
}

/*
** @class Machine
** @field processor string name of the processor
** @field blas string library of matrix products: OpenBLAS and the kernels that it chose, such as
**   "OpenBLAS Haswell", "other BLAS", or "no BLAS" if roper computes all products
** @field instructions string instruction set of roper's kernels: portable, x86-64-v3, x86-64-v4, or
**   neon, which are the portable ones on arm64; with bfloat16 operands, that of the matrix
**   products, which can also be avx512-bf16 or amx-bf16
** @field matmul_precision string
** @field threads integer
*/

/*
** native.machine()
** Properties of the machine, and the kernels in use; `roper.info` returns more.
** @return Machine facts
*/
static int machine(lua_State *L)
{
  rpl_check_count(L, "machine", 0);
  lua_createtable(L, 0, 5);
  lua_pushstring(L, rp_machine_name());
  lua_setfield(L, -2, "processor");
  lua_pushstring(L, rp_blas_name());
  lua_setfield(L, -2, "blas");
  lua_pushstring(L, rp_kernels_name(rp_matmul_precision()));
  lua_setfield(L, -2, "instructions");
  lua_pushstring(L, precisions[rp_matmul_precision()]);
  lua_setfield(L, -2, "matmul_precision");
  rpl_set_integer(L, "threads", rp_threads());
  return 1;
}

/*
** @class Memory
** @field live integer bytes in use by tensors
** @field idle integer bytes kept for new tensors
** @field peak integer the highest number of live bytes so far, or since `memory_trim`
** @field limit integer no new tensor may raise live + idle above this; see `memory_limit`
** @field blocks integer number of live blocks
*/

/*
** function roper.memory()
** The memory used by tensors, in bytes.
**
**     > x = roper.zeros{1000}
**     > roper.memory().live >= 4000
**     true
** @return Memory use
*/
static int memory(lua_State *L)
{
  rpl_check_count(L, "memory", 0);
  const RpMemoryUse use = rp_memory_use();
  lua_createtable(L, 0, 5);
  rpl_set_integer(L, "live", (int64_t)use.live);
  rpl_set_integer(L, "idle", (int64_t)use.idle);
  rpl_set_integer(L, "peak", (int64_t)use.peak);
  rpl_set_integer(L, "limit", (int64_t)use.limit);
  rpl_set_integer(L, "blocks", (int64_t)use.blocks);
  return 1;
}

/*
** function roper.memory_limit(bytes)
** Set the limit of memory for tensors; creating a tensor that would exceed it raises an error. 0
** restores the default: 90 % of the machine's memory or, if that is smaller, of the control group's
** limit.
**
** Errors: a negative number.
**
**     > roper.memory_limit(1 << 40)
**     > roper.memory().limit == 1 << 40
**     true
**     > roper.memory_limit(0)
** @param bytes integer
*/
static int memory_limit(lua_State *L)
{
  rpl_check_count(L, "memory_limit", 1);
  rp_memory_set_limit(rpl_check_range(L, 1, "bytes", 0, INT64_MAX));
  return 0;
}

/*
** function roper.memory_trim()
** Return the memory that no tensor uses to the operating system.
**
**     > roper.memory_trim()
*/
static int memory_trim(lua_State *L)
{
  rpl_check_count(L, "memory_trim", 0);
  rp_memory_trim();
  return 0;
}

/*
** native.memory_fail_after(n)
** For tests: let n more allocations succeed and all later ones fail; after -1, none fails.
** @param n integer
*/
static int memory_fail_after(lua_State *L)
{
  rpl_check_count(L, "memory_fail_after", 1);
  rp_memory_fail_after(rpl_check_range(L, 1, "count", -1, INT64_MAX));
  return 0;
}

void rpl_open_machine(lua_State *L)
{
  static const luaL_Reg functions[] = {{"threads", threads},
                                       {"matmul_precision", matmul_precision},
                                       {"machine", machine},
                                       {"memory", memory},
                                       {"memory_limit", memory_limit},
                                       {"memory_trim", memory_trim},
                                       {"memory_fail_after", memory_fail_after},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
