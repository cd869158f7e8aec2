/* Ranks of MPI, and sums over them. Compiled only if roper is built with MPI. */
#include "core/parallel/ranks.h"

#include "bindings/handle.h"
#include "core/parallel/gradient_sum.h"

#define GRADIENT_SUM "roper.gradient_sum"

static bool has_joined;

static void check_joined(lua_State *L, const char *function)
{
  if (!has_joined)
    luaL_error(L, "%s: expected ranks_join to be called first", function);
}

/*
** native.ranks_join()
** Start MPI. Every rank must call this once.
** @return integer rank from 0
** @return integer size number of ranks
** @return number cores of this machine for this rank; a shared core counts as a fraction
** @return integer idle cores of this machine that mpirun may use, but bound no rank to
*/
static int ranks_join(lua_State *L)
{
  RpRanks ranks;
  rpl_check_count(L, "ranks_join", 0);
  if (has_joined)
    return luaL_error(L, "ranks_join: expected one call, got a second one");
  rpl_check(L, rp_ranks_join(&ranks));
  has_joined = true;
  lua_pushinteger(L, ranks.rank);
  lua_pushinteger(L, ranks.size);
  lua_pushnumber(L, ranks.cores);
  lua_pushinteger(L, ranks.idle);
  return 4;
}

/*
** native.ranks_combine(how, value)
** The sum or the minimum of a number over all ranks. Every rank must call this.
** @param how "sum"|"least"
** @param value number
** @return number result the same on every rank
*/
static int ranks_combine(lua_State *L)
{
  static const char *const names[] = {[RP_RANKS_SUM] = "sum", [RP_RANKS_LEAST] = "least", NULL};
  rpl_check_count(L, "ranks_combine", 2);
  const RpRanksOp op = (RpRanksOp)luaL_checkoption(L, 1, NULL, names);
  double value = rpl_check_number(L, 2);
  check_joined(L, "ranks_combine");
  rpl_check(L, rp_ranks_combine(op, &value));
  lua_pushnumber(L, value);
  return 1;
}

/*
** native.ranks_leave(failed, seconds)
** Wait until all ranks have called this, and finalize MPI if none failed.
** @param failed boolean true if this rank failed
** @param seconds number the longest time to wait
** @return integer? first the lowest rank that failed; the number of ranks if none did; nil if not
**   all ranks called this in time
*/
static int ranks_leave(lua_State *L)
{
  rpl_check_count(L, "ranks_leave", 2);
  luaL_checktype(L, 1, LUA_TBOOLEAN);
  const double seconds = rpl_check_number(L, 2);
  check_joined(L, "ranks_leave");
  const int first = rp_ranks_leave(lua_toboolean(L, 1), seconds);
  if (first >= 0)
    lua_pushinteger(L, first);
  else
    lua_pushnil(L);
  return 1;
}

/*
** native.gradient_sum(parameters, bytes)
** An object that sums the gradients of parameters over all ranks.
** @param parameters tensor[] in the same order on every rank
** @param bytes integer size of a message; a larger parameter is sent as one
** @return gradient_sum sum
*/
static int gradient_sum(lua_State *L)
{
  enum { MOST = 1 << 20 };
  int count;
  rpl_check_count(L, "gradient_sum", 2);
  const size_t bytes = (size_t)rpl_check_range(L, 2, "bytes", 1, INT64_MAX);
  check_joined(L, "gradient_sum");
  RpTensor **list = rpl_push_tensors(L, 1, "gradient_sum", MOST, &count);
  RpGradientSum **slot = lua_newuserdatauv(L, sizeof(RpGradientSum *), 0);
  *slot = NULL;
  luaL_setmetatable(L, GRADIENT_SUM);
  *slot = rp_gradient_sum_new(count, list, bytes);
  return *slot != NULL ? 1 : rpl_raise(L);
}

/*
** gradient_sum:backward(loss, gradient)
** Call loss:backward(gradient) and sum the gradients. Afterwards, the gradient of each parameter is
** the sum over all ranks. Gradients are sent while backward runs. Every rank must call this.
** @param loss tensor
** @param gradient? tensor
*/
static int sum_backward(lua_State *L)
{
  rpl_check_count(L, "gradient_sum:backward", 3);
  RpGradientSum *sum = *(RpGradientSum **)luaL_checkudata(L, 1, GRADIENT_SUM);
  luaL_argcheck(L, sum != NULL, 1, "this sum was already collected");
  rpl_check_tensor(L, 2);
  lua_getfield(L, 2, "backward");
  lua_insert(L, 2);
  rpl_check(L, rp_gradient_sum_begin(sum));
  const int failed = lua_pcall(L, 2, 0, 0);
  rp_gradient_sum_stop();
  if (failed)
    return lua_error(L);
  rpl_check(L, rp_gradient_sum_finish(sum));
  return 0;
}

static int sum_collect(lua_State *L)
{
  RpGradientSum **slot = luaL_checkudata(L, 1, GRADIENT_SUM);
  rp_gradient_sum_free(*slot);
  *slot = NULL;
  return 0;
}

void rpl_open_ranks(lua_State *L)
{
  static const luaL_Reg functions[] = {{"ranks_join", ranks_join},
                                       {"ranks_combine", ranks_combine},
                                       {"ranks_leave", ranks_leave},
                                       {"gradient_sum", gradient_sum},
                                       {NULL, NULL}};
  static const luaL_Reg methods[] = {{"backward", sum_backward}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
  luaL_newmetatable(L, GRADIENT_SUM);
  lua_pushcfunction(L, sum_collect);
  lua_setfield(L, -2, "__gc");
  luaL_newlib(L, methods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
