--- Attention in plain Lua, one line for each step: products, bias, softmax, sum. It follows the
--- papers and is easy to change. It supports every scheme and option, with gradients, and agrees
--- with `roper.attention`.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local heads = require "roper.attention.heads"
local options_of = require "roper.options.rows"
local own_options = require "roper.attention.options"
local setting = require "roper.attention.setting"
local schemes = require "roper.position.scheme"
local hooks = require "roper.attention.hooks"

local M = {}

local nothing = schemes.class { name = "none" }()

--- The scores of attention before the softmax.
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param options? AttentionOptions
---@return tensor s [batch, heads, Tq, Tk], -inf for a key that the query does not see
function M.scores(q, k, options)
  k = heads.repeated(q, k)
  local o = options_of.check("eager.attention", options, own_options.ROWS)
  local s = setting.new(own_options.scheme_of(o, q) or nothing, q, k, o)
  local scores, visible = s:scores(q, k), s.positions:visible(s.positions.mask)
  return visible and core.where(visible:ne(0), scores, -math.huge) or scores
end

--- Attention in plain Lua (Vaswani et al. 2017, eq. 1, with the positions of a scheme).
---
---     sᵢⱼ = scale (A_i qᵢ) · (B_j kⱼ) + cᵢⱼ,   a = softmax(s)
---     oᵢ = C_i⁻¹ (Σⱼ aᵢⱼ D_j vⱼ + carryᵢ)
---
--- Errors: as for `attention`.
---
---     > q = roper.randn{1, 2, 5, 4}
---     > eager = roper.eager.attention(q, q, q, {position = "roper", causal = true})
---     > fast = roper.attention(q, q, q, {position = "roper", causal = true})
---     > (eager - fast):abs():max():item() < 1e-5
---     true
---@param q tensor [batch, heads, Tq, d], floats
---@param k tensor [batch, kv_heads, Tk, d]; kv_heads divides heads
---@param v tensor [batch, kv_heads, Tk, dv]
---@param options? AttentionOptions
---@return tensor output [batch, heads, Tq, dv]
---@return tensor weights [batch, heads, Tq, Tk], before dropout, with a gradient
function M.attention(q, k, v, options)
  arguments.check("eager.attention", "q", "tensor", q, "k", "tensor", k, "v", "tensor", v)
  if hooks.wants_weights() then
    return hooks.attention(M.attention, M.scores, q, k, v, options)
  end
  local o = options_of.check("eager.attention", options, own_options.ROWS)
  k, v = heads.repeated(q, k, v)
  local s = setting.new(own_options.scheme_of(o, q) or nothing, q, k, o, v)

  local scores = s:scores(q, k)

  local visible = s.positions:visible(s.positions.mask)
  local sees_none = visible and visible:max(-1, true):eq(0) -- the weights of such a query are 0
  if visible then
    scores = core.where(core.maximum(visible:ne(0), sees_none), scores, -math.huge)
  end
  local weights = scores:softmax(4)
  if visible and sees_none:any() then
    weights = weights * visible:ne(0):to(q:dtype())
  end

  local kept = weights
  if o.dropout > 0 then
    kept = core.dropout(weights, o.dropout, o.seed)
  end
  local output = s:carried(s:mixed(kept, v), kept)
  return s:turned_back(output), weights
end

return M
