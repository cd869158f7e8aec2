/* Threads, memory, and what the machine is. */
#include "core/base/machine.h"

#include "bindings/check.h"
#include "core/base/memory.h"

/* threads([n]): how many kernels use; sets it where n is given */
static int threads(lua_State *L)
{
  rpl_check_count(L, "threads", 1);
  if (!lua_isnoneornil(L, 1))
    rpl_check(L, rp_set_threads((int)rpl_check_range(L, 1, "threads", 1, 1024)));
  lua_pushinteger(L, rp_threads());
  return 1;
}

/* machine() -> {processor, blas_core, instructions, threads} */
static int machine(lua_State *L)
{
  static const char *const targets[] = {"portable", "x86-64-v3", "x86-64-v4"};
  lua_createtable(L, 0, 4);
  lua_pushstring(L, rp_machine_name());
  lua_setfield(L, -2, "processor");
  lua_pushstring(L, rp_blas_core());
  lua_setfield(L, -2, "blas_core");
  lua_pushstring(L, targets[rp_machine_target()]);
  lua_setfield(L, -2, "instructions");
  lua_pushinteger(L, rp_threads());
  lua_setfield(L, -2, "threads");
  return 1;
}

static void set_bytes(lua_State *L, const char *name, size_t bytes)
{
  lua_pushinteger(L, (lua_Integer)bytes);
  lua_setfield(L, -2, name);
}

/* memory() -> {live, idle, peak, limit, blocks} in bytes */
static int memory(lua_State *L)
{
  const RpMemoryUse use = rp_memory_use();
  lua_createtable(L, 0, 5);
  set_bytes(L, "live", use.live);
  set_bytes(L, "idle", use.idle);
  set_bytes(L, "peak", use.peak);
  set_bytes(L, "limit", use.limit);
  set_bytes(L, "blocks", use.blocks);
  return 1;
}

/* memory_limit(bytes); 0 restores the default */
static int memory_limit(lua_State *L)
{
  rpl_check_count(L, "memory_limit", 1);
  rp_memory_set_limit((size_t)rpl_check_range(L, 1, "bytes", 0, INT64_MAX));
  return 0;
}

/* memory_trim(): give idle blocks back to the system */
static int memory_trim(lua_State *L)
{
  (void)L;
  rp_memory_trim();
  return 0;
}

/* memory_fail_after(n): for tests, refuse every allocation after n more; -1 refuses none */
static int memory_fail_after(lua_State *L)
{
  rp_memory_fail_after(rpl_check_range(L, 1, "count", -1, INT64_MAX));
  return 0;
}

void rpl_open_machine(lua_State *L)
{
  static const luaL_Reg functions[] = {{"threads", threads},
                                       {"machine", machine},
                                       {"memory", memory},
                                       {"memory_limit", memory_limit},
                                       {"memory_trim", memory_trim},
                                       {"memory_fail_after", memory_fail_after},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
