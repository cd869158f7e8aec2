--- Attention with a position scheme: a rotary of the core, or a Scheme, which is defined by
--- methods.
local arguments = require "roper.options.arguments"
local checked = require "roper.attention.checked"
local core = require "roper.core"
local heads = require "roper.attention.heads"
local options_of = require "roper.options.rows"
local own_options = require "roper.attention.options"
local setting = require "roper.attention.setting"
local schemes = require "roper.position.scheme"
local hooks = require "roper.attention.hooks"

local oracle = {}

local M = { oracle = oracle }

-- Raises an error in the name of a function unless its arguments have the right types. It ends with
-- a tail call, so that errors point to the caller of the function.
local function check(name, q, k, v, options)
  return arguments.check(name, "q", "tensor", q, "k", "tensor", k, "v", "tensor", v, "options",
    "table?", options)
end

-- Runs an attention function of the core with the rotations of a Scheme applied to q, k, v and
-- output.
local function through(run, s, q, k, v)
  local all, rotary = s:fused()
  if all then
    s.options.position = rotary
    return run(s:scaled(q), k, v, s.options)
  end
  q, k = s:factors(q, k)
  local o, weights = run(q, k, v and s:turned("v", v), s.options)
  return v and s:turned_back(o) or o, weights
end

-- Attention with a Scheme that adds vectors to the values.
local function with_values(s, q, k, v)
  local added
  local o, weights = through(function(turned_q, turned_k, turned_v, options)
    local output
    output, added = s:attend(turned_q, turned_k, turned_v, options)
    return output, options.weights and core.attention_weights(turned_q, turned_k, options)
  end, s, q, k, v)
  o = o + s:turned_back(added)
  if weights then
    return o, weights
  end
  return o
end

--- The weights of attention before dropout, without a gradient.
---
---     a = softmax(s),   sᵢⱼ = scale (R_i qᵢ) · (R_j kⱼ) + cᵢⱼ
---
--- Errors: as for `attention`.
---
---     > roper.seed(1)
---     > q = roper.randn{1, 1, 3, 2}
---     > roper.attention_weights(q, q, {position = "rope", causal = true})
---     float32 [1, 1, 3, 3]
---     1.0000 0.0000 0.0000
---     0.6315 0.3685 0.0000
---     0.1466 0.2235 0.6299
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param options? AttentionOptions
---@return tensor a [batch, heads, Tq, Tk]; each row sums to 1, or is 0 if the query sees no key
function M.attention_weights(q, k, options)
  check("attention_weights", q, k, k, options)
  options = options_of.check("attention_weights", options, own_options.ROWS)
  local scheme = own_options.scheme_of(options, q)
  if not schemes.is_scheme(scheme) then
    return core.attention_weights(q, k, own_options.core("attention_weights", options, scheme))
  end
  k = heads.repeated(q, k)
  return (through(function(turned_q, turned_k, _, o)
    return core.attention_weights(turned_q, turned_k, o)
  end, setting.new(scheme, q, k, options), q, k))
end

--- Scaled dot-product attention with a position scheme. Rotary schemes rotate any of query, key,
--- value and output by their positions (RoFormer, Su et al. 2021, eq. 16, for queries and keys; the
--- RoPER study for all four).
---
--- The output of a query that sees no key is 0. In grouped-query attention (Ainslie et al. 2023),
--- k and v have fewer heads than q: consecutive heads of q share one. Intermediate results smaller
--- than the smallest normal number, 10⁻³⁸ in float32, become 0.
---
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ,   a = softmax(s)
---     oᵢ = C_i⁻¹ Σⱼ aᵢⱼ D_j vⱼ
---     c = bias;  A, B, C, D = R if q, k, o, v are rotated, else 1
---
--- Errors: shapes or dtypes that do not match; a scheme for another number of features; both
--- `positions` and `query_positions` or `key_positions`; positions beyond 2^53.
---
---     > roper.seed(1)
---     > q = roper.randn{1, 1, 6, 4}
---     > options = {position = "roper", causal = true}
---     > out = roper.attention(q, q, q, options)
---     > options.offset, options.weights = 1000, true
---     > far, weights = roper.attention(q, q, q, options)
---     > (out - far):abs():max():item() < 1e-3, weights:shape()
---     true	{1, 1, 6, 6}
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param v tensor [batch, kv_heads, Tk, dv]
---@param options? AttentionOptions
---@return tensor output [batch, heads, Tq, dv]
---@return tensor? weights [batch, heads, Tq, Tk], before dropout, without a gradient; only with
---   the option `weights`
function M.attention(q, k, v, options)
  check("attention", q, k, v, options)
  options = options_of.check("attention", options, own_options.ROWS)
  if hooks.wants_weights() then
    local o, weights = hooks.attention(M.attention, require("roper.attention.eager").scores, q, k,
      v, options)
    if options.weights then
      return o, weights
    end
    return o
  end
  local scheme = own_options.scheme_of(options, q)
  if not schemes.is_scheme(scheme) then
    return core.attention(q, k, v, own_options.core("attention", options, scheme))
  end
  checked.heads("v", v)
  k, v = heads.repeated(q, k, v)
  local s = not (scheme.carry or scheme.transport) and setting.new(scheme, q, k, options, v)
  if not s or scheme.values and not s.positions.shift then
    local o, weights = require("roper.attention.eager").attention(q, k, v, options)
    if options.weights then
      return o, weights
    end
    return o
  end
  if scheme.values then
    return with_values(s, q, k, v)
  end
  return through(core.attention, s, q, k, v)
end

--- Reference implementation of attention: in float64, with an explicit R_{j-i} for each query and
--- key, without tables, tiles or BLAS. Slow and without a gradient; for tests and lessons.
---
--- Errors: as for `attention`; dropout; a scheme with a method `values`, `carry` or `transport`.
---
---     > roper.seed(1)
---     > q = roper.randn{1, 1, 6, 4}
---     > slow = roper.oracle.attention(q, q, q, {position = "roper"})
---     > fast = roper.attention(q, q, q, {position = "roper"})
---     > (fast:to "float64" - slow):abs():max():item() < 1e-6
---     true
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param v tensor [batch, kv_heads, Tk, dv]
---@param options? AttentionOptions without dropout
---@return tensor output [batch, heads, Tq, dv], float64
---@return tensor weights [batch, heads, Tq, Tk], float64
function oracle.attention(q, k, v, options)
  check("oracle.attention", q, k, v, options)
  options = options_of.check("oracle.attention", options, own_options.ROWS)
  local scheme = own_options.scheme_of(options, q)
  if not schemes.is_scheme(scheme) then
    return core.oracle_attention(q, k, v,
      own_options.core("oracle.attention", options, scheme))
  end
  for _, method in ipairs { "carry", "transport", "values" } do
    if scheme[method] then
      error(("oracle.attention: position %s has the method %s, which the oracle does not support; "
        .. "use roper.eager.attention"):format(scheme.name, method), 2)
    end
  end
  checked.heads("k", k)
  checked.heads("v", v)
  k, v = heads.repeated(q, k, v)
  q, k, v = q:to "float64", k:to "float64", v:to "float64"
  return through(core.oracle_attention, setting.new(scheme, q, k, options, v), q, k, v)
end

-- The options of linear attention for the core; raises an error for schemes that are not rotary.
local function linear(options, q)
  local scheme = own_options.scheme_of(options, q)
  if schemes.is_scheme(scheme) then
    error(("linear_attention: expected a rotary scheme, got %s; linear attention has no scores")
      :format(scheme.name), 0)
  end
  return own_options.core("linear_attention", options, scheme)
end

--- Linear attention: without a softmax, in time linear in the length (Katharopoulos et al. 2020),
--- with any of query, key, value and output rotated by their positions.
---
--- The rotation is applied after the feature map φ and not to the denominator (RoFormer, Su et al.
--- 2021, section 3.3): weights may be negative and need not sum to 1. Sums over keys are updated
--- from query to query: time grows with Tq + Tk, and only inputs and outputs are stored.
---
---     oᵢ = C_i⁻¹ (Σⱼ D_j vⱼ (B_j φ(kⱼ))ᵀ) A_i φ(qᵢ) / (φ(qᵢ) · Σⱼ φ(kⱼ) + ε)
---     φ(x) = elu(x) + 1;   A, B, C, D = R if q, k, o, v are rotated, else 1
---
--- Errors: shapes or dtypes that do not match; a scheme that is not rotary or for another number of
--- features; both `positions` and `query_positions` or `key_positions`; positions beyond 2^53.
---
---     > roper.seed(1)
---     > q = roper.randn{1, 1, 6, 4}
---     > out = roper.linear_attention(q, q, q, {position = "rope", causal = true})
---     > options = {position = "rope", causal = true, offset = 1000}
---     > far = roper.linear_attention(q, q, q, options)
---     > out:shape(), (out - far):abs():max():item() < 1e-3
---     {1, 1, 6, 4}	true
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param v tensor [batch, kv_heads, Tk, dv]
---@param options? LinearAttentionOptions
---@return tensor output [batch, heads, Tq, dv]
function M.linear_attention(q, k, v, options)
  check("linear_attention", q, k, v, options)
  options = options_of.check("linear_attention", options, own_options.LINEAR_ROWS)
  k, v = heads.repeated(q, k, v)
  return core.linear_attention(q, k, v, linear(options, q))
end

--- Reference implementation of linear attention: in float64, with every weight computed explicitly,
--- without running sums. Slow and without a gradient; for tests and lessons.
---
---     aᵢⱼ = φ(qᵢ)ᵀ R_{j-i} φ(kⱼ) / (Σⱼ φ(qᵢ) · φ(kⱼ) + ε)
---     oᵢ = Σⱼ aᵢⱼ vⱼ, or Σⱼ aᵢⱼ R_{j-i} vⱼ if values and output are rotated
---
--- Errors: as for `linear_attention`.
---
---     > roper.seed(1)
---     > q = roper.randn{1, 1, 6, 4}
---     > slow, weights = roper.oracle.linear_attention(q, q, q, {position = "rope"})
---     > fast = roper.linear_attention(q, q, q, {position = "rope"})
---     > (fast:to "float64" - slow):abs():max():item() < 1e-6
---     true
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param v tensor [batch, kv_heads, Tk, dv]
---@param options? LinearAttentionOptions
---@return tensor output [batch, heads, Tq, dv], float64
---@return tensor weights [batch, heads, Tq, Tk], float64
function oracle.linear_attention(q, k, v, options)
  check("oracle.linear_attention", q, k, v, options)
  options = options_of.check("oracle.linear_attention", options, own_options.LINEAR_ROWS)
  k, v = heads.repeated(q, k, v)
  return core.oracle_linear_attention(q, k, v, linear(options, q))
end

return M
