/* Random tensors, and the generator they come from. */
#include "core/base/random.h"
#include "bindings/check.h"
#include "bindings/generator.h"
#include "core/kernels/kernels.h"

static RpRandom generator;

uint64_t rpl_next_seed(void)
{
  return rp_random_split(generator.seed, generator.counter++);
}

/* A new tensor of the shape at 1 and dtype at 2, and the generator moved past it. */
static RpTensor *fresh(lua_State *L, const char *name, RpTensor ***slot, RpRandom *random)
{
  int64_t shape[RP_MAX_RANK];
  rpl_check_count(L, name, 2);
  luaL_checktype(L, 1, LUA_TTABLE);
  const int rank = rpl_check_shape(L, 1, 0, shape);
  const RpDtype dtype = rpl_optional_dtype(L, 2, RP_FLOAT32);
  luaL_argcheck(L, rp_dtype_is_float(dtype), 2, "expected float32 or float64, got int32");
  *slot = rpl_new_tensor(L);
  RpTensor *tensor = **slot = rp_tensor_new(dtype, rank, shape);
  if (tensor == NULL)
    rpl_raise(L);
  *random = generator;
  generator.counter += (uint64_t)(rp_tensor_count(tensor) + 1) / 2;
  return tensor;
}

/* randn(shape [, dtype]): standard normal */
static int randn(lua_State *L)
{
  RpTensor **slot;
  RpRandom random;
  RpTensor *y = fresh(L, "randn", &slot, &random);
  rpl_check(L, rp_kernels(y->dtype)->normal(random, rp_tensor_count(y), rp_tensor_data(y)));
  return 1;
}

/* rand(shape [, dtype]): uniform in [0, 1) */
static int rand_uniform(lua_State *L)
{
  RpTensor **slot;
  RpRandom random;
  RpTensor *y = fresh(L, "rand", &slot, &random);
  rpl_check(L, rp_kernels(y->dtype)->uniform(random, rp_tensor_count(y), rp_tensor_data(y)));
  return 1;
}

/* randint(low, high, shape): int32, low <= x <= high */
static int randint(lua_State *L)
{
  int64_t shape[RP_MAX_RANK];
  rpl_check_count(L, "randint", 3);
  const int64_t low = rpl_check_range(L, 1, "low", INT32_MIN, INT32_MAX);
  const int64_t high = rpl_check_range(L, 2, "high", low, INT32_MAX);
  luaL_checktype(L, 3, LUA_TTABLE);
  const int rank = rpl_check_shape(L, 3, 0, shape);
  if (high - low == UINT32_MAX)
    return luaL_argerror(L, 2, "expected a range smaller than all of int32, got all of it");
  RpTensor **slot = rpl_new_tensor(L);
  *slot = rp_tensor_new(RP_INT32, rank, shape);
  if (*slot == NULL)
    return rpl_raise(L);
  int32_t *data = rp_tensor_data(*slot);
  const int64_t count = rp_tensor_count(*slot);
  for (int64_t i = 0; i < count; i++)
    data[i] = (int32_t)(low + rp_random_below(&generator, (uint32_t)(high - low + 1)));
  return 1;
}

/* seed(n): start the generator anew */
static int set_seed(lua_State *L)
{
  rpl_check_count(L, "seed", 1);
  generator = (RpRandom){.seed = (uint64_t)luaL_checkinteger(L, 1)};
  return 0;
}

/* random_state() -> seed, counter; random_state(seed, counter) sets both */
static int random_state(lua_State *L)
{
  rpl_check_count(L, "random_state", 2);
  if (lua_gettop(L) > 0) {
    const lua_Integer seed = luaL_checkinteger(L, 1), counter = luaL_checkinteger(L, 2);
    generator = (RpRandom){(uint64_t)seed, (uint64_t)counter};
  }
  lua_pushinteger(L, (lua_Integer)generator.seed);
  lua_pushinteger(L, (lua_Integer)generator.counter);
  return 2;
}

void rpl_open_random(lua_State *L)
{
  static const luaL_Reg functions[] = {
      {"randn", randn},   {"rand", rand_uniform},         {"randint", randint},
      {"seed", set_seed}, {"random_state", random_state}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
