/* Attention, linear attention, attention weights and the reference implementations. */
#include "core/ops/attention.h"

#include <math.h>

#include "bindings/foreign.h"
#include "bindings/generator.h"
#include "bindings/options.h"
#include "bindings/position.h"

/* The size of the time axis, the second to last, of the tensor at `index`. */
static int64_t times(lua_State *L, int index)
{
  const RpTensor *tensor = rpl_check_tensor(L, index);
  return tensor->rank > 1 ? tensor->shape[tensor->rank - 2] : 1;
}

/* The options at `index`, which Lua has checked (roper.attention.setting). */
static RplOptions given(lua_State *L, const char *function, int index)
{
  luaL_checktype(L, index, LUA_TTABLE);
  luaL_checkstack(L, LUA_MINSTACK, function); /* for options that remain on the stack */
  return (RplOptions){L, index, function};
}

static bool truth(const RplOptions *options, const char *name)
{
  rpl_option_push(options, name);
  const bool value = lua_toboolean(options->L, -1);
  lua_pop(options->L, 1);
  return value;
}

/* 0 if absent. */
static double number(const RplOptions *options, const char *name)
{
  rpl_option_push(options, name);
  const double value = lua_tonumber(options->L, -1);
  lua_pop(options->L, 1);
  return value;
}

/*
** Push the scheme or nil, and read `causal` and the positions, for queries at 1 and keys at 2. The
** positions remain on the stack. By default, queries and keys have positions offset, offset + 1,
** ...; if `causal`, the queries are shifted so that the last query has the position of the last
** key.
*/
static RpAttentionOptions read_positions(const RplOptions *options)
{
  lua_State *L = options->L;
  RpAttentionOptions result = {0};
  const int64_t queries = times(L, 1), keys = times(L, 2);
  rpl_option_push(options, "position");
  result.causal = truth(options, "causal");
  const double offset = number(options, "offset");
  const double ahead = result.causal ? (double)(keys - queries) : 0;
  const bool shared = rpl_option_push(options, "positions") != LUA_TNIL;
  const int both = lua_gettop(L);
  const bool has_queries = rpl_option_push(options, "query_positions") != LUA_TNIL;
  const bool has_keys = rpl_option_push(options, "key_positions") != LUA_TNIL;
  if (shared && (has_queries || has_keys))
    luaL_error(L, "%s: expected positions, or query_positions and key_positions, got both",
               options->function);
  const char *what = lua_pushfstring(L, "%s: option %s", options->function,
                                     shared ? "positions" : "query_positions");
  result.queries = rpl_push_positions(L, shared ? both : both + 1, queries, offset + ahead, what);
  what = lua_pushfstring(L, "%s: option %s", options->function,
                         shared ? "positions" : "key_positions");
  result.keys = rpl_push_positions(L, shared ? both : both + 2, keys, offset, what);
  return result;
}

static const RpRotary *optional_rotary(lua_State *L, int index)
{
  return lua_isnil(L, index) ? NULL : rpl_check_rotary(L, index);
}

/* Read the options `bias`, a list of tensors, and `first`, a list of the same length. */
static void read_biases(const RplOptions *options, RpAttentionOptions *result)
{
  lua_State *L = options->L;
  if (rpl_option_push(options, "bias") == LUA_TNIL)
    return;
  const char *what = lua_pushfstring(L, "%s: option bias", options->function);
  RpTensor **list = rpl_push_tensors(L, lua_gettop(L) - 1, what, RP_MAX_BIASES, &result->biases);
  rpl_option_push(options, "first");
  for (int i = 0; i < result->biases; i++, lua_pop(L, 1)) {
    lua_geti(L, -1, i + 1);
    result->bias[i] = list[i];
    result->first[i] = lua_tointeger(L, -1);
  }
}

/*
** Read the options of attention at `index`, and replace the table there with the scheme. Attention
** itself passes `weights`, which receives the option of that name; if it also has dropout but no
** seed, a seed is drawn from the generator. The other functions pass NULL.
*/
static RpAttentionOptions read_options(lua_State *L, const char *function, int index, bool *weights)
{
  const RplOptions options = given(L, function, index);
  const int scheme = lua_gettop(L) + 1;
  RpAttentionOptions result = read_positions(&options);
  read_biases(&options, &result);
  result.mask = rpl_option_tensor(&options, "mask");
  result.dropout = number(&options, "dropout");
  result.scale = number(&options, "scale");
  const bool has_weights = truth(&options, "weights");
  if (weights != NULL)
    *weights = has_weights;
  if (rpl_option_push(&options, "seed") != LUA_TNIL)
    result.seed = (uint64_t)lua_tointeger(L, -1);
  else if (weights != NULL && result.dropout > 0 && result.dropout < 1)
    result.seed = rpl_next_seed();
  lua_copy(L, scheme, index);
  return result;
}
/* The same for the options of linear attention. */
static RpAttentionOptions read_linear_options(lua_State *L, const char *function, int index)
{
  const RplOptions options = given(L, function, index);
  const int scheme = lua_gettop(L) + 1;
  RpAttentionOptions result = read_positions(&options);
  result.linear = true;
  result.epsilon = number(&options, "epsilon");
  lua_copy(L, scheme, index);
  return result;
}

/* Push the output for tensors at 1 to 3 and the scheme at 4. */
static int push_output(lua_State *L, RpAttentionOptions *options)
{
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2), *v = rpl_check_tensor(L, 3);
  options->rotary = optional_rotary(L, 4);
  *slot = rp_op_attention(q, k, v, options);
  return rpl_return_tensor(L, slot);
}

/* attention(q, k, v, options) -> output [, weights] */
static int attention(lua_State *L)
{
  rpl_check_count(L, "attention", 4);
  bool has_weights = false;
  RpAttentionOptions options = read_options(L, "attention", 4, &has_weights);
  push_output(L, &options);
  if (!has_weights)
    return 1;
  RpTensor **weights = rpl_new_tensor(L);
  *weights = rp_attention_weights(rpl_check_tensor(L, 1), rpl_check_tensor(L, 2), &options);
  rpl_return_tensor(L, weights);
  return 2;
}

/*
** attention_sums(q, k, v, options, least, count) -> the output, with the sums of the weights at
** each distance as `count` more features; distances are clipped to least .. least + count - 1
*/
static int attention_sums(lua_State *L)
{
  rpl_check_count(L, "attention", 6);
  const int64_t least = rpl_check_integer(L, 5), count = rpl_check_integer(L, 6);
  bool has_weights;
  RpAttentionOptions options = read_options(L, "attention", 4, &has_weights);
  options.least = least;
  options.sums = count;
  return push_output(L, &options);
}

/* attention_weights(q, k, options) */
static int attention_weights(lua_State *L)
{
  rpl_check_count(L, "attention_weights", 3);
  RpAttentionOptions options = read_options(L, "attention_weights", 3, NULL);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2);
  options.rotary = optional_rotary(L, 3);
  *slot = rp_attention_weights(q, k, &options);
  return rpl_return_tensor(L, slot);
}

/* Push the output and the weights of the reference, for tensors at 1 to 3 and the scheme at 4. */
static int push_oracle(lua_State *L, RpAttentionOptions *options)
{
  RpTensor **slot = rpl_new_tensor(L), **weights = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2), *v = rpl_check_tensor(L, 3);
  options->rotary = optional_rotary(L, 4);
  *slot = rp_oracle_attention(q, k, v, options, weights);
  return *slot != NULL ? 2 : rpl_raise(L);
}

/* oracle_attention(q, k, v, options) -> output, weights; float64 */
static int oracle_attention(lua_State *L)
{
  rpl_check_count(L, "oracle.attention", 4);
  RpAttentionOptions options = read_options(L, "oracle.attention", 4, NULL);
  if (options.dropout != 0)
    return luaL_error(L, "oracle.attention: option dropout: expected 0, got %f", options.dropout);
  return push_oracle(L, &options);
}

/* linear_attention(q, k, v, options) */
static int linear_attention(lua_State *L)
{
  rpl_check_count(L, "linear_attention", 4);
  RpAttentionOptions options = read_linear_options(L, "linear_attention", 4);
  return push_output(L, &options);
}

/* oracle_linear_attention(q, k, v, options) -> output, weights; float64 */
static int oracle_linear_attention(lua_State *L)
{
  rpl_check_count(L, "oracle.linear_attention", 4);
  RpAttentionOptions options = read_linear_options(L, "oracle.linear_attention", 4);
  return push_oracle(L, &options);
}

void rpl_open_attention(lua_State *L)
{
  static const luaL_Reg functions[] = {{"attention", attention},
                                       {"attention_sums", attention_sums},
                                       {"attention_weights", attention_weights},
                                       {"oracle_attention", oracle_attention},
                                       {"linear_attention", linear_attention},
                                       {"oracle_linear_attention", oracle_linear_attention},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
