--- Transformer layers and the causal language model built from them.
local arguments = require "roper.options.arguments"
local attention = require "roper.model.attention"
local core = require "roper.core"
local format = require "roper.text.format"
local hooks = require "roper.attention.hooks"
local layers = require "roper.model.layers"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local position = require "roper.position"
local recompute = require "roper.model.recompute"
local schemes = require "roper.position.scheme"
local settings = require "roper.model.settings"

local M = {}

--- A layer of a transformer, created by `roper.nn.TransformerLayer`.
---@class TransformerLayer: Module
---@field attention MultiHeadAttention
---@field feed_forward FeedForward
---@field attention_norm LayerNorm|RMSNorm
---@field feed_forward_norm LayerNorm|RMSNorm
---@field attention_norm_after? LayerNorm|RMSNorm with norm = "sandwich"
---@field feed_forward_norm_after? LayerNorm|RMSNorm with norm = "sandwich"
---@field norm "pre"|"post"|"reordered"|"sandwich"
---@field parallel_residual? boolean
---@field dropout number
local TransformerLayer = modules.class "TransformerLayer"
TransformerLayer.settings = { "norm", "parallel_residual", "dropout" }

local of_attention <const> = options_of.rows "MultiHeadAttentionOptions"

local LAYER <const> = options_of.define("TransformerLayerOptions", {
  parent = "FeedForwardOptions",
  { "heads", "size", nil, "attention heads" },
  { "norm", { "pre", "post", "reordered", "sandwich" }, "pre", "norm before (pre) or after (post) "
    .. "each part; reordered: of the output of each part, as in OLMo 2; sandwich: of its input and "
    .. "its output, as in Gemma 2" },
  { "rms_norm", "boolean?", nil, "use `RMSNorm` instead of `LayerNorm`", shown = "false" },
  of_attention.position,
  of_attention.tied,
  of_attention.kv_heads,
  of_attention.head_dim,
  of_attention.qk_norm,
  of_attention.short_convolution,
  of_attention.attention_scale,
  of_attention.attention_softcap,
  of_attention.attention_bias,
  { "norm_epsilon", "amount?", nil, "`epsilon` of the norms", shown = "1e-5" },
  { "parallel_residual", "boolean?", nil, "attention and feed-forward have the same input, as in "
    .. "GPT-NeoX: x + f(norm(x)) + g(norm(x)); only with norm = \"pre\"", shown = "false" },
})

-- Creates the norm that the options select.
local function new_norm(o)
  return layers[o.rms_norm and "RMSNorm" or "LayerNorm"] { features = o.d_model,
    epsilon = o.norm_epsilon }
end

--- Creates a layer of attention and feed-forward, each with a residual connection and norms:
--- before ("pre"), after ("post", as in Vaswani et al. 2017), on the output of each part
--- ("reordered", as in OLMo 2, OLMo et al. 2024), or on its input and output ("sandwich", as in
--- Gemma 2, Gemma Team 2024).
---
---     pre: x + f(norm(x)),         post: norm(x + f(x))
---     reordered: x + norm(f(x)),   sandwich: x + norm₂(f(norm₁(x)))
---
--- Errors: as for `MultiHeadAttention` and `FeedForward`; parallel_residual with another norm than
--- "pre".
---
---     > roper.nn.TransformerLayer{d_model = 8, heads = 2}:count()
---     872
---@param options TransformerLayerOptions
---@return TransformerLayer module
function M.TransformerLayer(options)
  local o = options_of.check("TransformerLayer", options, LAYER)
  if o.parallel_residual and o.norm ~= "pre" then
    error(('TransformerLayer: parallel_residual: expected norm = "pre", got %q'):format(o.norm), 2)
  end
  local self = setmetatable({ norm = o.norm, dropout = o.dropout,
    parallel_residual = o.parallel_residual }, TransformerLayer)
  self.attention = attention.MultiHeadAttention(options_of.pick("MultiHeadAttentionOptions", o))
  self.feed_forward = layers.FeedForward(options_of.pick("FeedForwardOptions", o))
  self.attention_norm, self.feed_forward_norm = new_norm(o), new_norm(o)
  if o.norm == "sandwich" then
    self.attention_norm_after, self.feed_forward_norm_after = new_norm(o), new_norm(o)
  end
  return self
end

-- Returns f(x), with dropout and the norms of input and output applied as in this layer.
local function branch(self, x, norm, f, ...)
  local is_before = self.norm == "pre" or self.norm == "sandwich"
  local y = f(is_before and norm(x) or x, ...)
  if self.norm == "reordered" then
    y = norm(y)
  elseif self.norm == "sandwich" then
    y = self[norm == self.attention_norm and "attention_norm_after"
      or "feed_forward_norm_after"](y)
  end
  return self.is_training and self.dropout > 0 and core.dropout(y, self.dropout) or y
end

--- Returns x + f(x), with dropout and the norm applied as in this layer.
---
---     > layer = roper.nn.TransformerLayer{d_model = 8, heads = 2}
---     > x = roper.ones{1, 3, 8}
---     > layer:residual(x, layer.attention_norm, layer.attention):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param norm Module|function
---@param f Module|function
---@param ... any further arguments of f
---@return tensor y of the shape of x
function TransformerLayer:residual(x, norm, f, ...)
  arguments.check("residual", "x", "tensor", x, "norm", "callable", norm, "f", "callable", f)
  local y = x + branch(self, x, norm, f, ...)
  return self.norm == "post" and norm(y) or y
end

--- Applies attention, then feed-forward; with `parallel_residual`, both to x.
---
--- Errors: x is not [batch, time, d_model].
---
---     > layer = roper.nn.TransformerLayer{d_model = 8, heads = 2}
---     > layer(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param cache? CacheLayer the layer of a cache from `Transformer:cache`
---@param positions? tensor [batch, time]; by default 0, 1, ...
---@return tensor y of the shape of x
function TransformerLayer:forward(x, cache, positions)
  arguments.check("forward", "x", "tensor", x, "cache", "table?", cache, "positions", "tensor?",
    positions)
  if self.parallel_residual then
    return x + branch(self, x, self.attention_norm, self.attention, cache, positions)
      + branch(self, x, self.feed_forward_norm, self.feed_forward)
  end
  x = self:residual(x, self.attention_norm, self.attention, cache, positions)
  return self:residual(x, self.feed_forward_norm, self.feed_forward)
end

--- A causal language model, created by `roper.nn.Transformer`. Calling it with tokens returns
--- logits.
---@class Transformer: Module
---@field embedding Embedding
---@field layers TransformerLayer[]
---@field norm? LayerNorm|RMSNorm after the last layer, except with norm = "post"
---@field logits Linear
---@field recompute? boolean
---@field options TransformerOptions
local Transformer = modules.class "Transformer"
Transformer.options_class = "TransformerOptions" -- so `roper.load` can create it from a file

local OPTIONS <const> = options_of.define("TransformerOptions", {
  parent = "TransformerLayerOptions",
  { "vocabulary", "any", nil,
    "number of tokens, or the list from `task:vocabulary()`", type = "integer|string[]" },
  { "d_model", "size", 128, "features of a token" },
  { "layers", "size", 3, "transformer layers" },
  { "heads", "size", 4, "attention heads" },
  { "position", "position", "roper",
    'a scheme, its name with any options, "yarn{factor=4}", {type = name, ...}, or names joined '
      .. 'by "+"; or a list of these, which repeats over the layers',
    type = "string|table|Scheme|rotary" },
  { "tied_embeddings", "boolean?", nil, "the embedding and the logits share one weight",
    shown = "false" },
  { "embedding_scale", "number?", nil,
    "factor of the embeddings; by default √d_model if they are tied, else 1", shown = "1" },
  { "logits_bias", { "all", "none" }, nil, "whether the last linear map has a bias",
    shown = '"all"' },
  { "logits_softcap", "amount?", nil, "largest size of a logit, cap tanh(logit / cap), as in Gemma "
    .. "2; 0: no limit", shown = "0" },
  { "recompute", "boolean?", nil,
    "activation checkpointing: in training, a layer keeps only its input, and backward "
      .. "recomputes the rest. This needs less memory; the results are bit-identical",
    shown = "false" },
  { "length", "size?", nil,
    "tokens of the longest sequence, for schemes with a table of positions" },
})

-- Returns a function from the index of a layer to its scheme. Layers with the same options share
-- one scheme and its tables, unless the scheme is `per_layer`.
local function schemes_of_layers(o)
  local context = { dim = o.head_dim or o.d_model // o.heads, heads = o.heads, d_model = o.d_model,
    length = o.length }
  local is_list = type(o.position) == "table" and not schemes.is_scheme(o.position)
    and #o.position > 0
  local list = is_list and o.position or { o.position }
  local made = {}
  return function(layer)
    local index = (layer - 1) % #list + 1
    local scheme = made[index]
    if scheme == nil or schemes.is_scheme(scheme) and scheme.per_layer then
      scheme = position.resolve(list[index], context) or "none"
    end
    made[index] = scheme
    return scheme
  end
end

--- Creates a causal language model: embedding, layers, a last norm unless norm = "post", and a
--- linear map to logits (the decoder of Vaswani et al. 2017 without its encoder). Tied embeddings
--- are scaled by √d_model, as in that paper, unless `embedding_scale` is given.
---
--- Errors: as for `TransformerLayer`; vocabulary is neither a positive integer nor a list;
--- embedding_scale is 0.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 16,
---     >>   layers = 1, heads = 2, position = "roper"}
---     > tokens = task:batch(2)
---     > model(tokens):shape()
---     {2, 40, 20}
---@param options TransformerOptions
---@return Transformer model
function M.Transformer(options)
  local o = options_of.check("Transformer", options, OPTIONS)
  for i, token in ipairs(type(o.vocabulary) == "table" and o.vocabulary or {}) do
    arguments.check("Transformer", "option vocabulary: element " .. i, "string", token)
  end
  local count = type(o.vocabulary) == "table" and #o.vocabulary or o.vocabulary
  if math.type(count) ~= "integer" or count < 1 then
    error("Transformer: vocabulary: expected the number of tokens or a list of them, got "
      .. tostring(count), 2)
  end
  if o.embedding_scale == 0 then
    error("Transformer: embedding_scale: expected a number other than 0, got 0", 2)
  end
  local self = setmetatable({}, Transformer)
  self.embedding = layers.Embedding { count = count, features = o.d_model,
    scale = o.tied_embeddings and o.d_model ^ 0.5 or o.embedding_scale }
  if o.tied_embeddings and o.embedding_scale then -- the initial logits need weights of 1/√d_model
    self.embedding.scale = o.embedding_scale
  end
  self.layers = {}
  local scheme_of = schemes_of_layers(o)
  for i = 1, o.layers do
    self.layers[i] = M.TransformerLayer(options_of.pick("TransformerLayerOptions", o,
      { position = scheme_of(i) }))
  end
  self.norm = o.norm ~= "post" and new_norm(o) or nil
  self.logits = layers.Linear { inputs = o.d_model, outputs = count,
    bias = o.logits_bias ~= "none",
    softcap = o.logits_softcap ~= 0 and o.logits_softcap or nil }
  if o.tied_embeddings then
    self.logits.weight = self.embedding.weight
  end
  self.recompute = o.recompute
  o.vocabulary, o.recompute = count, nil -- `recompute` does not change what the model computes
  self.options = setmetatable(o, { __name = "options" })
  settings.record(self)
  return self
end

--- Adds positions to embeddings, once for each position scheme of the layers that does this.
---
--- Errors: a scheme returns another shape or dtype.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > x = roper.randn{1, 3, 8}
---     > (model:embed(x) - x):abs():max():item()  -- roper adds nothing here
---     0.0
---@param x tensor [batch, time, d_model]
---@param positions? tensor [1 or batch, time]; 0, 1, ... by default
---@return tensor y of the shape of x
function Transformer:embed(x, positions)
  arguments.check("embed", "x", "tensor", x, "positions", "tensor?", positions)
  local done = {}
  for _, layer in ipairs(self.layers) do
    local scheme = type(layer.attention) == "table" and layer.attention.position
    if schemes.is_scheme(scheme) and scheme.embed and not done[scheme] then
      done[scheme] = true
      positions = (positions or core.arange(0, x:size(2)):unsqueeze(1)):to "float64"
      local y = scheme:embed(x, positions)
      if not format.is_tensor(y) or modules.kind_of(y) ~= modules.kind_of(x)
        or y:dtype() ~= x:dtype() then
        error(("position: %s: embed: expected %s %s, got %s"):format(scheme.name, x:dtype(),
          modules.kind_of(x), modules.kind_of(y)), 0)
      end
      x = y
    end
  end
  return x
end

-- Returns the positions of the next tokens of a cache, with 0 for the padding before a shorter
-- prompt.
local function positions_of(cache, time)
  local positions = cache:next_positions(time)
  if not cache.mask then
    return positions
  end
  local shown = cache.mask:narrow(4, cache.filled + 1, time):view { cache.batch, time }
  return positions * shown:to "float64"
end

--- Returns the features of each token, from which the last linear map computes the logits.
---
--- Errors: tokens is not [batch, time]; a token id is outside the vocabulary; the cache has no room
--- for the tokens.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > model:features(roper.zeros({2, 5}, "int32")):shape()
---     {2, 5, 8}
---@param tokens tensor [batch, time], int32, from 0
---@param cache? Cache from `cache`, with the keys and values of the tokens before these
---@param positions? tensor [batch, time] of the tokens; by default they count up from 0, or
---   continue from the cache
---@return tensor x [batch, time, d_model]
function Transformer:features(tokens, cache, positions)
  arguments.check("features", "tokens", "tensor", tokens, "positions", "tensor?", positions)
  if tokens:rank() ~= 2 then
    error("Transformer: expected tokens [batch, time], got " .. modules.kind_of(tokens), 2)
  elseif cache ~= nil and not (type(cache) == "table" and cache.next_positions) then
    error("Transformer: cache: expected a cache from Transformer:cache, got "
      .. modules.kind_of(cache), 2)
  end
  local time = tokens:size(2)
  if cache and positions then
    cache:next_positions(time):copy(positions:to "float64")
  end
  local x = self:embed(self.embedding(tokens), cache and positions_of(cache, time) or positions)
  for i, layer in ipairs(self.layers) do
    if self.recompute and self.is_training and not cache then
      x = recompute(layer, x, nil, positions)
    else
      x = layer(x, cache and cache:layer(i), positions)
    end
  end
  if cache then
    cache:advance(time)
  end
  return self.norm and self.norm(x) or x
end

--- Returns the logits of the token that follows each token.
---
--- Errors: as for `features`.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > model(roper.zeros({2, 5}, "int32")):shape()
---     {2, 5, 4}
---@param tokens tensor [batch, time], int32, from 0
---@param cache? Cache from `cache`, with the keys and values of the tokens before these
---@param positions? tensor [batch, time] of the tokens; by default they count up from 0, or
---   continue from the cache
---@return tensor logits [batch, time, vocabulary]
function Transformer:forward(tokens, cache, positions)
  arguments.check("forward", "tokens", "tensor", tokens, "positions", "tensor?", positions)
  return self.logits(self:features(tokens, cache, positions))
end

--- Returns the loss of predicting the token that follows each token: the mean cross-entropy, in
--- nats. To save memory, many logits are computed in slices (`linear_cross_entropy`). If all of
--- them fit in 32 MiB, the result is bit-identical to `cross_entropy` of `forward`. If a model
--- overrides `forward`, replaces `logits`, or one of them has a hook, these are used.
---
--- Errors: as for `features`; a target is outside the vocabulary.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > tokens = roper.tensor({{0, 3, 1, 2}}, "int32")
---     > given, targets = tokens:narrow(2, 1, 3), tokens:narrow(2, 2, 3)
---     > model:loss(given, targets, {reduction = "none"}):shape()
---     {1, 3}
---@param tokens tensor [batch, time], int32, from 0
---@param targets tensor [batch, time], int32: the token that follows each token
---@param how? table options of `cross_entropy`
---@param positions? tensor [batch, time] of the tokens; by default 0, 1, ...
---@return tensor loss a scalar, or [batch, time] with reduction = "none"
function Transformer:loss(tokens, targets, how, positions)
  arguments.check("loss", "tokens", "tensor", tokens, "targets", "tensor", targets, "how", "table?",
    how, "positions", "tensor?", positions)
  local is_plain = self.forward == Transformer.forward and not hooks.of(self, self.logits)
  if is_plain and self.logits.cross_entropy then
    return self.logits:cross_entropy(self:features(tokens, nil, positions), targets, how)
  end
  return core.cross_entropy(self(tokens, nil, positions), targets, how)
end

--- Creates a key/value cache for this model. With it, generation computes each token only once.
---
--- Errors: lengths is not one number per row, each from 1 to length.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache):shape(), cache.filled
---     {1, 3, 4}	3
---@param options CacheOptions
---@return Cache cache
function Transformer:cache(options)
  return require("roper.attention.cache").new(self, options)
end

return M
