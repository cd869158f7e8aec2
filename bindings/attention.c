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
  if (rpl_option_push(options, "position") != LUA_TNIL) {
    if (luaL_testudata(L, -1, RPL_ROTARY) == NULL)
      luaL_error(L,
                 "%s: option position: expected a rotary, got %s; roper.attention takes every "
                 "scheme",
                 options->function, rpl_push_shown(L, -1));
  }
  result.causal = rpl_option_boolean(options, "causal", false);
  const double offset = rpl_option_number(options, "offset", 0);
  const double ahead = result.causal ? (double)(keys - queries) : 0;
  const bool shared = rpl_option_push(options, "positions") != LUA_TNIL;
  const int both = lua_gettop(L);
  const bool has_queries = rpl_option_push(options, "query_positions") != LUA_TNIL;
  const bool has_keys = rpl_option_push(options, "key_positions") != LUA_TNIL;
  if (shared && (has_queries || has_keys))
    luaL_error(L, "%s: expected positions, or query_positions and key_positions, got both",
               options->function);
  if (!isfinite(offset))
    luaL_error(L, "%s: option offset: expected a finite number, got %f", options->function, offset);
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

/* Read the option bias: a tensor or a list of tensors. */
static void read_bias(const RplOptions *options, RpAttentionOptions *result)
{
  lua_State *L = options->L;
  const int type = rpl_option_push(options, "bias");
  if (type == LUA_TTABLE) {
    const int list_index = lua_gettop(L);
    const char *what = lua_pushfstring(L, "%s: option bias", options->function);
    RpTensor **list = rpl_push_tensors(L, list_index, what, RP_MAX_BIASES, &result->biases);
    for (int i = 0; i < result->biases; i++)
      result->bias[i] = list[i];
  } else if (type != LUA_TNIL) {
    result->bias[0] = rpl_option_tensor(options, "bias");
    result->biases = result->bias[0] != NULL;
  }
}

/* Read the option `first`, the distance of the first element of a bias: one for all, or a list. */
static void read_first(const RplOptions *options, RpAttentionOptions *result)
{
  lua_State *L = options->L;
  const bool is_list = rpl_option_push(options, "first") == LUA_TTABLE;
  const int list = lua_gettop(L);
  int is_integer = 1;
  if (!is_list && !lua_isnil(L, list))
    lua_tointegerx(L, list, &is_integer);
  if (!is_integer || lua_type(L, list) == LUA_TSTRING)
    luaL_error(L, "%s: option first: expected an integer, got %s", options->function,
               rpl_push_shown(L, list));
  const lua_Integer length = is_list ? luaL_len(L, list) : result->biases;
  if (length != result->biases)
    luaL_error(L, "%s: option first: expected one for each of %d biases, got %I", options->function,
               result->biases, length);
  for (int i = 0; i < result->biases; i++) {
    int is_whole = 1;
    if (is_list)
      lua_geti(L, list, i + 1);
    else
      lua_pushvalue(L, list);
    const int type = lua_type(L, -1);
    if (type != LUA_TNIL)
      result->first[i] = lua_tointegerx(L, -1, &is_whole);
    if (!is_whole || type == LUA_TSTRING)
      luaL_error(L, "%s: option first: expected an integer, got %s", options->function,
                 rpl_push_shown(L, -1));
    lua_pop(L, 1);
  }
}

/*
** Read the options of attention at `index`, and replace the table there with the scheme. Attention
** itself passes `weights`, which receives the option of that name; if it also has dropout but no
** seed, a seed is drawn from the generator. The other functions pass NULL.
*/
static RpAttentionOptions read_options(lua_State *L, const char *function, int index, bool *weights)
{
  static const char *const names[] = {
      "position",        "causal",        "bias",    "mask",   "first",
      "dropout",         "seed",          "scale",   "offset", "positions",
      "query_positions", "key_positions", "weights", NULL};
  const RplOptions options = rpl_options(L, index, function, names);
  const int scheme = lua_gettop(L) + 1;
  RpAttentionOptions result = read_positions(&options);
  read_bias(&options, &result);
  read_first(&options, &result);
  result.mask = rpl_option_tensor(&options, "mask");
  result.dropout = rpl_option_number(&options, "dropout", 0);
  result.scale = rpl_option_number(&options, "scale", 0);
  const bool has_weights = rpl_option_boolean(&options, "weights", false);
  if (weights != NULL)
    *weights = has_weights;
  const bool has_scale = rpl_option_push(&options, "scale") != LUA_TNIL;
  lua_pop(L, 1);
  if (has_scale && result.scale == 0) /* in the core, 0 means the default */
    luaL_error(L, "%s: option scale: expected a number other than 0, got 0", function);
  if (rpl_option_push(&options, "seed") != LUA_TNIL)
    result.seed = (uint64_t)rpl_option_integer(&options, "seed", 0, INT64_MIN, INT64_MAX);
  else if (weights != NULL && result.dropout > 0 && result.dropout < 1)
    result.seed = rpl_next_seed();
  lua_copy(L, scheme, index);
  return result;
}

/* The same for the options of linear attention. */
static RpAttentionOptions read_linear_options(lua_State *L, const char *function, int index)
{
  static const char *const names[] = {"position",  "causal",          "epsilon",       "offset",
                                      "positions", "query_positions", "key_positions", NULL};
  const RplOptions options = rpl_options(L, index, function, names);
  const int scheme = lua_gettop(L) + 1;
  RpAttentionOptions result = read_positions(&options);
  result.linear = true;
  result.epsilon = rpl_option_number(&options, "epsilon", 1e-6);
  lua_copy(L, scheme, index);
  return result;
}

/* attention(q, k, v [, options]) -> output [, weights] */
static int attention(lua_State *L)
{
  rpl_check_count(L, "attention", 4);
  bool has_weights = false;
  RpAttentionOptions options = read_options(L, "attention", 4, &has_weights);
  RpTensor **weights = has_weights ? rpl_new_tensor(L) : NULL;
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2), *v = rpl_check_tensor(L, 3);
  options.rotary = optional_rotary(L, 4);
  *slot = rp_op_attention(q, k, v, &options);
  if (*slot == NULL || weights == NULL)
    return rpl_return_tensor(L, slot);
  *weights = rp_attention_weights(q, k, &options);
  if (*weights == NULL)
    return rpl_raise(L);
  rpl_return_tensor(L, slot);
  lua_insert(L, -2);
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
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2), *v = rpl_check_tensor(L, 3);
  options.rotary = optional_rotary(L, 4);
  *slot = rp_op_attention(q, k, v, &options);
  return rpl_return_tensor(L, slot);
}

/* attention_weights(q, k [, options]) */
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

/* oracle_attention(q, k, v [, options]) -> output, weights; float64 */
static int oracle_attention(lua_State *L)
{
  rpl_check_count(L, "oracle.attention", 4);
  RpAttentionOptions options = read_options(L, "oracle.attention", 4, NULL);
  if (options.dropout != 0)
    return luaL_error(L, "oracle.attention: option dropout: expected 0, got %f", options.dropout);
  return push_oracle(L, &options);
}

/* linear_attention(q, k, v [, options]) */
static int linear_attention(lua_State *L)
{
  rpl_check_count(L, "linear_attention", 4);
  RpAttentionOptions options = read_linear_options(L, "linear_attention", 4);
  RpTensor **slot = rpl_new_tensor(L);
  RpTensor *q = rpl_check_tensor(L, 1), *k = rpl_check_tensor(L, 2), *v = rpl_check_tensor(L, 3);
  options.rotary = optional_rotary(L, 4);
  *slot = rp_op_attention(q, k, v, &options);
  return rpl_return_tensor(L, slot);
}

/* oracle_linear_attention(q, k, v [, options]) -> output, weights; float64 */
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
