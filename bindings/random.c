/* Random tensors and their generator. */
#include "core/tensor/create.h"

#include "bindings/generator.h"
#include "bindings/registry.h"

static RpRandom generator;

uint64_t rpl_next_seed(void)
{
  return rp_random_split(generator.seed, generator.counter++);
}

typedef RpTensor *(*Draw)(RpRandom *random, RpDtype dtype, int rank, const int64_t *shape);

/* A random tensor with the shape and dtype in the arguments. */
static RpTensor *draw(lua_State *L, Draw drawn)
{
  int64_t shape[RP_MAX_RANK];
  RpDtype dtype;
  const int rank = rpl_check_sizes(L, shape, &dtype);
  luaL_argcheck(L, rp_dtype_is_float(dtype), lua_type(L, 2) == LUA_TSTRING ? 2 : 1,
                "expected float32 or float64, got int32");
  return drawn(&generator, dtype, rank, shape);
}

/*
** function roper.randn(shape, dtype)
** A tensor of standard normal random numbers.
**
** Errors: int32; a size that is not an integer or is negative; a field other than `dtype`.
**
**     > roper.seed(1)
**     > roper.randn{4}                  -- or roper.randn(4)
**     float32 [4]
**     -1.8046 -1.0784 -1.4756  0.2281
** @param shape integer[] or the sizes as separate arguments; the list may have a field `dtype`
** @param dtype? "float32"|"float64" = "float32"
** @return tensor x
*/
static RpTensor *randn(lua_State *L)
{
  return draw(L, rp_tensor_normal);
}

/*
** function roper.rand(shape, dtype)
** A tensor of random numbers, uniform in [0, 1).
**
**     > roper.seed(1)
**     > roper.rand{4}
**     float32 [4]
**     0.8903 0.5857 0.6720 0.4756
** @like roper.randn
*/
static RpTensor *rand_uniform(lua_State *L)
{
  return draw(L, rp_tensor_uniform);
}

/*
** function roper.randint(low, high, shape)
** A tensor of random integers, uniform from low to high.
**
** Errors: high below low; a range of all 2^32 integers.
**
**     > roper.seed(1)
**     > roper.randint(1, 6, {8})
**     int32 [8]
**     6 5 2 5 2 1 3 3
** @param low integer
** @param high integer included in the range
** @param shape integer[]
** @return tensor x int32
*/
static RpTensor *randint(lua_State *L)
{
  int64_t shape[RP_MAX_RANK];
  const int64_t low = rpl_check_range(L, 1, "low", INT32_MIN, INT32_MAX);
  const int64_t high = rpl_check_range(L, 2, "high", low, INT32_MAX);
  luaL_checktype(L, 3, LUA_TTABLE);
  const int rank = rpl_check_shape(L, 3, 0, shape);
  if (high - low == UINT32_MAX)
    luaL_argerror(L, 2, "expected a range smaller than that of int32");
  return rp_tensor_randint(&generator, (int32_t)low, (int32_t)high, rank, shape);
}

/*
** function roper.seed(n)
** Seed the generator: the same seed gives the same random numbers. The generator is Philox 4x32-10
** (Salmon et al. 2011). Draws depend on the seed and on the number of earlier draws, but not on the
** number of threads.
**
**     > roper.seed(7)
**     > a = roper.rand{3}
**     > roper.seed(7)
**     > (a - roper.rand{3}):abs():max():item()
**     0.0
** @param n integer
*/
static int set_seed(lua_State *L)
{
  rpl_check_count(L, "seed", 1);
  generator = (RpRandom){.seed = (uint64_t)rpl_check_integer(L, 1)};
  return 0;
}

/*
** function roper.random_state(seed, counter)
** The state of the generator. With arguments, set it first.
**
**     > roper.seed(7)
**     > a = roper.rand{6}
**     > roper.random_state()
**     7	3
** @param seed? integer
** @param counter? integer number of blocks of random bits used since the seed
** @return integer seed
** @return integer counter
*/
static int random_state(lua_State *L)
{
  rpl_check_count(L, "random_state", 2);
  if (!lua_isnil(L, 1) || !lua_isnil(L, 2)) {
    const lua_Integer seed = rpl_check_integer(L, 1), counter = rpl_check_integer(L, 2);
    generator = (RpRandom){(uint64_t)seed, (uint64_t)counter};
  }
  lua_pushinteger(L, (lua_Integer)generator.seed);
  lua_pushinteger(L, (lua_Integer)generator.counter);
  return 2;
}

/*
** native.random_permuted(seed, count, index)
** The image of an index under a pseudorandom permutation.
** @param seed integer selects the permutation
** @param count integer number of elements
** @param index integer from 1 to count
** @return integer image from 1 to count
*/
static int random_permuted(lua_State *L)
{
  rpl_check_count(L, "random_permuted", 3);
  const uint64_t seed = (uint64_t)rpl_check_integer(L, 1);
  const int64_t count = rpl_check_range(L, 2, "count", 1, INT64_MAX);
  const int64_t index = rpl_check_range(L, 3, "index", 1, count) - 1;
  const uint64_t image = rp_random_permuted(seed, (uint64_t)count, (uint64_t)index);
  lua_pushinteger(L, (lua_Integer)image + 1);
  return 1;
}

/*
** native.random_below(seed, counter, bound)
** A uniform random integer, from the blocks of random bits that begin at a counter.
** @param seed integer
** @param counter integer index of the first block
** @param bound integer from 1 to 2^32 - 1
** @return integer number from 0 to bound - 1
** @return integer counter of the next unused block
*/
static int random_below(lua_State *L)
{
  rpl_check_count(L, "random_below", 3);
  RpRandom random = {(uint64_t)rpl_check_integer(L, 1), (uint64_t)rpl_check_integer(L, 2)};
  const int64_t bound = rpl_check_range(L, 3, "bound", 1, UINT32_MAX);
  lua_pushinteger(L, rp_random_below(&random, (uint32_t)bound));
  lua_pushinteger(L, (lua_Integer)random.counter);
  return 2;
}

void rpl_open_random(lua_State *L)
{
  static const RplOperation table[] = {{"randn", RPL_SIZES, randn, 0},
                                       {"rand", RPL_SIZES, rand_uniform, 0},
                                       {"randint", 3, randint, 0},
                                       {NULL, 0, NULL, 0}};
  static const luaL_Reg functions[] = {{"seed", set_seed},
                                       {"random_state", random_state},
                                       {"random_permuted", random_permuted},
                                       {"random_below", random_below},
                                       {NULL, NULL}};
  rpl_set_operations(L, table);
  luaL_setfuncs(L, functions, 0);
}
