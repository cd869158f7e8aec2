--- Multi-head self-attention.
local arguments = require "roper.options.arguments"
local attention = require "roper.attention"
local caches = require "roper.attention.cache"
local format = require "roper.text.format"
local layers = require "roper.model.layers"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local short_convolution = require "roper.model.short_convolution"

local M = {}

--- Multi-head self-attention, created by `roper.nn.MultiHeadAttention`.
---@class MultiHeadAttention: Module
---@field query Linear
---@field key Linear
---@field value Linear
---@field output Linear
---@field heads integer
---@field kv_heads integer
---@field query_norm? RMSNorm of queries, with qk_norm
---@field key_norm? RMSNorm of keys, with qk_norm
---@field key_convolution? ShortConvolution of keys, with short_convolution
---@field value_convolution? ShortConvolution of values, with short_convolution
---@field scale? number
---@field softcap? number
---@field position? Scheme|rotary nil without positions
---@field dropout number
---@field causal boolean
local MultiHeadAttention = modules.class "MultiHeadAttention"
MultiHeadAttention.settings = { "heads", "kv_heads", "position", "dropout", "causal", "scale",
  "softcap" }

local OPTIONS <const> = options_of.define("MultiHeadAttentionOptions", {
  { "d_model", "size" },
  { "heads", "size" },
  { "kv_heads", "size?", nil, "heads of keys and values in grouped-query attention; each is shared "
    .. "by heads / kv_heads heads of queries", shown = "heads" },
  { "head_dim", "size?", nil, "features of a head", shown = "d_model / heads" },
  { "qk_norm", { "none", "head", "all" }, nil, "`RMSNorm` of queries and keys before they are "
    .. "rotated: of each head, as in Qwen3, or of all heads together, as in OLMo 2",
    shown = '"none"' },
  { "norm_epsilon", "amount?", nil, "`epsilon` of these norms", shown = "1e-5" },
  { "attention_scale", "positive?", nil, "factor of the scores", shown = "1 / √head_dim" },
  { "attention_softcap", "amount?", nil, "largest size of a score, cap tanh(s / cap), as in Gemma "
    .. "2; 0: no limit", shown = "0" },
  { "short_convolution", "count?", nil, "width of a causal convolution of each feature of keys and "
    .. "values, after the norm and before positions: the Canon-B of Allen-Zhu 2025 "
    .. "(`ShortConvolution`), which also convolves queries; 0: none", shown = "0" },
  { "attention_bias", { "all", "qkv", "none" }, nil,
    "the linear maps of attention with a bias; qkv: all but the output", shown = '"all"' },
  { "position", "position", "none",
    'a scheme, its name with any options, "yarn{factor=4}", {type = name, ...}, or names joined '
      .. 'by "+"',
    type = "string|table|Scheme|rotary" },
  { "tied", "boolean", false,
    "use the keys as values, as in DeepSeek-V4, without a projection for values" },
  { "dropout", "probability", 0, "applied to the attention weights" },
  { "causal", "boolean", true },
})

--- Creates multi-head self-attention with a position scheme (Vaswani et al. 2017, section 3.2).
--- With `kv_heads`, it is grouped-query attention (Ainslie et al. 2023); a cache then stores only
--- `kv_heads` heads.
---
--- Errors: d_model is not divisible by heads, and head_dim is not given; heads is not divisible by
--- kv_heads; the position scheme is unknown; short_convolution without causal.
---
---     > roper.nn.MultiHeadAttention{d_model = 8, heads = 2}:count()
---     288
---@param options MultiHeadAttentionOptions
---@return MultiHeadAttention module
function M.MultiHeadAttention(options)
  local o = options_of.check("MultiHeadAttention", options, OPTIONS)
  if not o.head_dim and o.d_model % o.heads ~= 0 then
    error(("MultiHeadAttention: expected d_model divisible by heads, got d_model %d and %d heads")
      :format(o.d_model, o.heads), 2)
  end
  local dim = o.head_dim or o.d_model // o.heads
  local kv_heads, width = o.kv_heads or o.heads, o.short_convolution or 0
  if o.heads % kv_heads ~= 0 then
    error(("MultiHeadAttention: expected heads divisible by kv_heads, got %d heads and kv_heads %d")
      :format(o.heads, kv_heads), 2)
  elseif width > 0 and not o.causal then
    error("MultiHeadAttention: short_convolution: expected causal attention, got causal = false", 2)
  end
  local self = setmetatable({ heads = o.heads, kv_heads = kv_heads,
    dropout = o.dropout, causal = o.causal, scale = o.attention_scale,
    softcap = o.attention_softcap ~= 0 and o.attention_softcap or nil }, MultiHeadAttention)
  local bias = o.attention_bias or "all"
  self.position = position.resolve(o.position, { dim = dim, heads = o.heads,
    d_model = o.d_model })
  for _, name in ipairs { "query", "key", "value", "output" } do
    if name ~= "value" or not o.tied then
      local is_shared, is_output = name == "key" or name == "value", name == "output"
      self[name] = layers.Linear { inputs = is_output and dim * o.heads or o.d_model,
        outputs = is_output and o.d_model or dim * (is_shared and kv_heads or o.heads),
        bias = bias == "all" or bias == "qkv" and not is_output }
    end
  end
  if o.qk_norm == "head" or o.qk_norm == "all" then
    local function new_norm(heads)
      return layers.RMSNorm { features = o.qk_norm == "head" and dim or dim * heads,
        epsilon = o.norm_epsilon }
    end
    self.query_norm, self.key_norm = new_norm(o.heads), new_norm(kv_heads)
  end
  for _, name in ipairs(width > 0 and { "key", "value" } or {}) do
    self[name .. "_convolution"] = self[name] and short_convolution.ShortConvolution {
      features = dim * kv_heads, width = width }
  end
  return self
end

--- Splits the features among heads.
---
--- Errors: x is not [batch, time, features].
---
---     > attention = roper.nn.MultiHeadAttention{d_model = 8, heads = 2}
---     > attention:split(roper.zeros{1, 3, 8}):shape()
---     {1, 2, 3, 4}
---@param x tensor [batch, time, features]
---@param heads? integer by default those of queries
---@return tensor y [batch, heads, time, features / heads]
function MultiHeadAttention:split(x, heads)
  arguments.check("split", "x", "tensor", x, "heads", "size?", heads)
  if x:rank() ~= 3 then
    error(("split: x: expected [batch, time, features], got %s"):format(modules.kind_of(x)), 2)
  end
  local batch, time, features = table.unpack(x:shape())
  heads = heads or self.heads
  if features % heads ~= 0 then
    error(("split: heads: expected a divisor of %d features, got %d"):format(features, heads), 2)
  end
  return x:view { batch, time, heads, features // heads }:transpose(2, 3)
end

-- Splits features among heads, and normalizes them before or after, if there is a norm.
local function split_with_norm(self, x, heads, norm)
  local is_of_head = norm and norm.gain:size(1) ~= x:size(3)
  x = self:split(norm and not is_of_head and norm(x) or x, heads)
  return is_of_head and norm(x) or x
end

-- Applies a convolution, if there is one, to keys or values [batch, heads, time, features].
local function convolved(convolution, x, cache)
  if not convolution then
    return x
  end
  local batch, heads, time, features = table.unpack(x:shape())
  x = x:transpose(2, 3):contiguous():view { batch, time, heads * features }
  return convolution(x, cache):view { batch, time, heads, features }:transpose(2, 3)
end

--- Returns the attention output of each token: a weighted sum over the tokens it attends to.
---
--- Errors: x is not [batch, time, d_model].
---
---     > attention = roper.nn.MultiHeadAttention{d_model = 8, heads = 2}
---     > attention(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param cache? CacheLayer the layer of a cache from `Transformer:cache`
---@param positions? tensor [batch, time]; by default 0, 1, ...
---@return tensor y [batch, time, d_model]
function MultiHeadAttention:forward(x, cache, positions)
  arguments.check("forward", "x", "tensor", x, "positions", "tensor?", positions)
  caches.check_layer("forward: cache", cache)
  local width = self.query.weight:size(2)
  if x:rank() ~= 3 or x:size(3) ~= width then
    error(("MultiHeadAttention: x: expected [batch, time, %d], got %s"):format(width,
      modules.kind_of(x)), 2)
  end
  local q = split_with_norm(self, self.query(x), self.heads, self.query_norm)
  local k = convolved(self.key_convolution,
    split_with_norm(self, self.key(x), self.kv_heads, self.key_norm), cache)
  local v = self.value and convolved(self.value_convolution,
    self:split(self.value(x), self.kv_heads), cache) or k
  if cache and self.causal then
    positions = cache:positions(x:size(2))
  end
  local o = self:attend { q = q, k = k, v = v, x = x, positions = positions, cache = cache }
  return self.output(o:transpose(2, 3):view { x:size(1), x:size(2), o:size(2) * o:size(4) })
end

local INPUTS <const> = options_of.define("AttendInputs", {
  { "q", "tensor", nil, "[batch, heads, time, features]" },
  { "k", "tensor", nil, "[batch, kv_heads, time, features]" },
  { "v", "tensor", nil, "[batch, kv_heads, time, features]" },
  { "x", "tensor?", nil, "[batch, time, d_model], the input of the layer, for schemes that read "
    .. "it" },
  { "positions", "tensor?", nil, "[batch, time] of these tokens; by default 0, 1, ..." },
  { "cache", "table?", nil, "ignored if attention is not causal, because earlier tokens would have "
    .. "to attend to later ones", type = "CacheLayer" },
})

--- Computes the attention between the linear maps of `forward`, both in training and with a cache.
--- With a cache, the new keys and values are added to it, and the queries attend to all tokens so
--- far.
---
--- To change attention in a model, override this method: change fields of the table and pass the
--- table to the original method, which then receives positions, cache and input.
---
--- Errors: the shapes do not match.
---
---     > attention = roper.nn.MultiHeadAttention{d_model = 8, heads = 2}
---     > q = roper.randn{1, 2, 3, 4}
---     > attention:attend{q = q, k = q, v = q}:shape()
---     {1, 2, 3, 4}
---     > attend = attention.attend
---     > function attention:attend(inputs) -- uniform weights
---     >>   inputs.q = inputs.q * 0
---     >>   return attend(self, inputs)
---     >> end
---     > attention(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param inputs AttendInputs
---@return tensor output [batch, heads, time, features]
function MultiHeadAttention:attend(inputs)
  if format.is_tensor(inputs) then
    error("attend: expected one table, {q = ..., k = ..., v = ..., positions = ..., cache = ...}, "
      .. "got a tensor", 2)
  end
  local o = options_of.check("attend", inputs, INPUTS)
  caches.check_layer("attend: option cache", o.cache)
  local k, v, how = o.k, o.v, { position = self.position, positions = o.positions }
  if o.cache and type(o.cache.extend) ~= "function" then
    error("attend: option cache: expected the cache of a layer, from Cache:layer, got another "
      .. "table", 2)
  elseif o.cache and self.causal then
    k, v, how = o.cache:extend(k, v, self.position)
  end
  how.input = schemes.is_scheme(self.position) and o.x or nil
  how.causal, how.dropout = self.causal, self.is_training and self.dropout or 0
  how.scale, how.softcap = self.scale, self.softcap
  return attention.attention(o.q, k, v, how)
end

return M
