--- The parts of a transformer (Vaswani et al. 2017), in plain Lua over the core's operations.
---
--- A module is a table: its tensors that are parameters, its modules and its lists of modules are
--- found by walking its fields in the order of their names, so a field can be replaced by hand and
--- the model is still whole; what several fields share is found once. Calling a module runs its
--- forward pass.
local core = require "roper.core"
local attention = require "roper.attention"
local options_of = require "roper.options"
local position = require "roper.position"

local M = {}

-- Every class shares these methods.
local Module = {}
Module.__index = Module

--- A class: instances are tables whose call is `forward`.
local function class(name)
  local methods = setmetatable({ name = name }, Module)
  methods.__index = methods
  methods.__call = function(self, ...)
    return self:forward(...)
  end
  methods.__tostring = function(self)
    return ("%s: %d parameters"):format(name, self:count())
  end
  return methods
end

local function is_tensor(value)
  return getmetatable(value) == core.tensor_metatable
end

--- What a value is, for messages: the shape of a tensor, else its type.
local function kind_of(value)
  return is_tensor(value) and "[" .. table.concat(value:shape(), ", ") .. "]" or type(value)
end

local function is_module(value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and getmetatable(meta) == Module
end

--- Call visit(path, value) once for each tensor and module below, in the order of names.
local function walk(fields, prefix, visit, seen)
  seen = seen or { [fields] = true }
  local names = {}
  for name in pairs(fields) do
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    if type(a) == type(b) then
      return a < b
    end
    return type(a) == "number"
  end)
  for _, name in ipairs(names) do
    local value, path = fields[name], prefix .. tostring(name)
    local is_part = type(value) == "table" and (is_module(value) or getmetatable(value) == nil)
    if (is_part or is_tensor(value)) and not seen[value] then
      seen[value] = true
      visit(path, value)
      if is_part then
        walk(value, path .. ".", visit, seen)
      end
    end
  end
end

--- The parameters with their names, such as "layers.1.attention.key.weight", in a fixed order.
---@return table[] {name =, tensor =} each
function Module:named_parameters()
  local list = {}
  walk(self, "", function(path, value)
    if is_tensor(value) and value:is_parameter() then
      list[#list + 1] = { name = path, tensor = value }
    end
  end)
  return list
end

--- The parameters, in the order of `named_parameters`.
---@return tensor[]
function Module:parameters()
  local list = {}
  for i, entry in ipairs(self:named_parameters()) do
    list[i] = entry.tensor
  end
  return list
end

--- The number of trained numbers.
---@return integer
function Module:count()
  local count = 0
  for _, tensor in ipairs(self:parameters()) do
    count = count + tensor:count()
  end
  return count
end

--- Forget the gradients of all parameters.
function Module:zero_gradients()
  for _, tensor in ipairs(self:parameters()) do
    tensor.grad = nil
  end
end

--- Turn dropout on or off in this module and all below.
---@param on boolean? true by default
---@return the module
function Module:training(on)
  local state = on ~= false
  self.is_training = state
  walk(self, "", function(_, value)
    if is_module(value) then
      value.is_training = state
    end
  end)
  return self
end

--- Write the parameters to a safetensors file, with the options a Transformer was made from.
---@param path string
function Module:save(path)
  require("roper.checkpoint").save_model(path, self)
end

--- Uniform in [-limit, limit).
local function uniform(shape, limit)
  return (core.rand(shape) * (2 * limit) - limit):parameter()
end

local Linear = class "Linear"

--- y = x W^T + b. Weights start uniform in +-1/sqrt(inputs), the bias at 0.
---@param options table inputs, outputs; bias = true
---@return Linear with weight [outputs, inputs], bias [outputs]
function M.Linear(options)
  local o = options_of.check("Linear", options, { inputs = "size", outputs = "size",
    bias = { "boolean", true } })
  local self = setmetatable({}, Linear)
  self.weight = uniform({ o.outputs, o.inputs }, o.inputs ^ -0.5)
  self.bias = o.bias and core.zeros({ o.outputs }):parameter() or nil
  return self
end

--- x W^T + b, then ReLU where `activation` is "relu".
function Linear:forward(x, activation)
  return core.linear(x, self.weight, self.bias, activation)
end

local Embedding = class "Embedding"

--- Rows of a table by token id, from 0. Starts standard normal.
---@param options table count, features
---@return Embedding with weight [count, features]
function M.Embedding(options)
  local o = options_of.check("Embedding", options, { count = "size", features = "size" })
  return setmetatable({ weight = core.randn { o.count, o.features }:parameter() }, Embedding)
end

function Embedding:forward(tokens)
  return core.embedding(self.weight, tokens)
end

local LayerNorm = class "LayerNorm"

--- Normalise the last axis to mean 0 and variance 1, then scale and shift (Ba et al. 2016).
---@param options table features; epsilon = 1e-5
---@return LayerNorm with gain [features] and bias [features]
function M.LayerNorm(options)
  local o = options_of.check("LayerNorm", options, { features = "size",
    epsilon = { "number", 1e-5 } })
  local self = setmetatable({ epsilon = o.epsilon }, LayerNorm)
  self.gain = core.ones({ o.features }):parameter()
  self.bias = core.zeros({ o.features }):parameter()
  return self
end

function LayerNorm:forward(x)
  return core.layer_norm(x, self.gain, self.bias, self.epsilon)
end

local MultiHeadAttention = class "MultiHeadAttention"

--- Causal self-attention in several heads, with a position scheme.
---@param options table d_model, heads; position = "none": a scheme, its name or {type = name, ...};
---   dropout = 0 of the weights; causal = true
---@return MultiHeadAttention with query, key, value and output, all Linear
function M.MultiHeadAttention(options)
  local o = options_of.check("MultiHeadAttention", options, { d_model = "size", heads = "size",
    position = { "any", "none" }, dropout = { "probability", 0 }, causal = { "boolean", true } })
  if o.d_model % o.heads ~= 0 then
    error(("MultiHeadAttention: %d heads do not divide d_model %d"):format(o.heads, o.d_model), 2)
  end
  local self = setmetatable({ heads = o.heads, dropout = o.dropout, causal = o.causal,
    is_training = true }, MultiHeadAttention)
  self.position = position.resolve(o.position, o.d_model // o.heads)
  for _, name in ipairs { "query", "key", "value", "output" } do
    self[name] = M.Linear { inputs = o.d_model, outputs = o.d_model }
  end
  return self
end

--- [batch, time, features] as [batch, heads, time, features of a head].
function MultiHeadAttention:split(x)
  local batch, time, features = table.unpack(x:shape())
  return x:view { batch, time, self.heads, features // self.heads }:transpose(2, 3)
end

---@param x tensor [batch, time, d_model]
---@param cache table? what `Transformer:cache` made for this layer
---@return tensor [batch, time, d_model]
function MultiHeadAttention:forward(x, cache)
  local width = self.query.weight:size(2)
  if not is_tensor(x) or x:rank() ~= 3 or x:size(3) ~= width then
    error(("MultiHeadAttention: expected [batch, time, %d], got %s"):format(width, kind_of(x)), 2)
  end
  local q, k, v = self:split(self.query(x)), self:split(self.key(x)), self:split(self.value(x))
  local o
  if cache then
    o = cache:attend(q, k, v, self)
  else
    o = attention.attention(q, k, v, { position = self.position, causal = self.causal,
      dropout = self.is_training and self.dropout or 0 })
  end
  return self.output(o:transpose(2, 3):view(x:shape()))
end

local FeedForward = class "FeedForward"

--- Two Linear with an activation between.
---@param options table d_model; d_ff = 4 d_model; activation = "relu" or "gelu"; dropout = 0
---@return FeedForward with inner and outer, both Linear
function M.FeedForward(options)
  local o = options_of.check("FeedForward", options, { d_model = "size", d_ff = "size?",
    activation = { { "relu", "gelu" }, "relu" }, dropout = { "probability", 0 } })
  local d_ff = o.d_ff or 4 * o.d_model
  local self = setmetatable({ activation = o.activation, dropout = o.dropout,
    is_training = true }, FeedForward)
  self.inner = M.Linear { inputs = o.d_model, outputs = d_ff }
  self.outer = M.Linear { inputs = d_ff, outputs = o.d_model }
  return self
end

function FeedForward:forward(x)
  local hidden = self.activation == "relu" and self.inner(x, "relu")
    or core[self.activation](self.inner(x))
  if self.is_training and self.dropout > 0 then
    hidden = core.dropout(hidden, self.dropout)
  end
  return self.outer(hidden)
end

local TransformerLayer = class "TransformerLayer"

--- Attention and feed-forward, each with a residual connection and layer norm: before each
--- ("pre", x + f(norm(x))) or after ("post", norm(x + f(x)), as in Vaswani et al.).
---@param options table d_model, heads; norm = "pre" or "post"; d_ff, activation, position, dropout
---@return TransformerLayer
function M.TransformerLayer(options)
  local o = options_of.check("TransformerLayer", options, { d_model = "size", heads = "size",
    d_ff = "size?", norm = { { "pre", "post" }, "pre" },
    activation = { { "relu", "gelu" }, "relu" }, position = { "any", "none" },
    dropout = { "probability", 0 } })
  local self = setmetatable({ norm = o.norm, dropout = o.dropout, is_training = true },
    TransformerLayer)
  self.attention = M.MultiHeadAttention { d_model = o.d_model, heads = o.heads,
    position = o.position, dropout = o.dropout }
  self.feed_forward = M.FeedForward { d_model = o.d_model, d_ff = o.d_ff,
    activation = o.activation, dropout = o.dropout }
  self.attention_norm = M.LayerNorm { features = o.d_model }
  self.feed_forward_norm = M.LayerNorm { features = o.d_model }
  return self
end

--- x + f(x) with the norm where this layer has it.
function TransformerLayer:residual(x, norm, f, cache)
  local y = f(self.norm == "pre" and norm(x) or x, cache)
  if self.is_training and self.dropout > 0 then
    y = core.dropout(y, self.dropout)
  end
  y = x + y
  return self.norm == "post" and norm(y) or y
end

function TransformerLayer:forward(x, cache)
  x = self:residual(x, self.attention_norm, self.attention, cache)
  return self:residual(x, self.feed_forward_norm, self.feed_forward)
end

local Transformer = class "Transformer"

--- A causal language model: embedding, layers, a last norm where norms come before, logits.
---@param options table
---   vocabulary: number of tokens, or the list that `task:vocabulary()` gives
---   d_model = 128, layers = 3, heads = 4, d_ff = 4 d_model
---   norm = "pre" or "post"; activation = "relu" or "gelu"; dropout = 0
---   position = "roper": a scheme's name, {type = name, ...} or a scheme
---@return Transformer with embedding, layers[i], norm (pre-norm only) and logits
function M.Transformer(options)
  local o = options_of.check("Transformer", options, { vocabulary = "any",
    d_model = { "size", 128 }, layers = { "size", 3 }, heads = { "size", 4 },
    d_ff = "size?", norm = { { "pre", "post" }, "pre" },
    activation = { { "relu", "gelu" }, "relu" }, position = { "any", "roper" },
    dropout = { "probability", 0 } })
  local count = type(o.vocabulary) == "table" and #o.vocabulary or o.vocabulary
  if math.type(count) ~= "integer" or count < 1 then
    error("Transformer: vocabulary: expected the number of tokens or a list of them, got "
      .. tostring(count), 2)
  end
  local self = setmetatable({ is_training = true }, Transformer)
  self.embedding = M.Embedding { count = count, features = o.d_model }
  self.layers = {}
  for i = 1, o.layers do
    self.layers[i] = M.TransformerLayer { d_model = o.d_model, heads = o.heads,
      d_ff = o.d_ff, norm = o.norm, activation = o.activation, position = o.position,
      dropout = o.dropout }
  end
  self.norm = o.norm == "pre" and M.LayerNorm { features = o.d_model } or nil
  self.logits = M.Linear { inputs = o.d_model, outputs = count }
  o.vocabulary = count
  self.options = setmetatable(o, { __name = "options" })
  return self
end

--- Logits of the token after each.
---@param tokens tensor int32 [batch, time], ids from 0
---@param cache table? from `cache`; its keys and values then come before these tokens
---@return tensor [batch, time, vocabulary]
function Transformer:forward(tokens, cache)
  if not is_tensor(tokens) or tokens:rank() ~= 2 then
    error("Transformer: expected tokens [batch, time], got " .. kind_of(tokens), 2)
  elseif cache and type(cache) ~= "table" then
    error("Transformer: expected a cache as second argument, got " .. kind_of(cache), 2)
  end
  local x = self.embedding(tokens)
  for i, layer in ipairs(self.layers) do
    x = layer(x, cache and cache:layer(i))
  end
  if cache then
    cache:advance(tokens:size(2))
  end
  return self.logits(self.norm and self.norm(x) or x)
end

--- Room for the keys and values of `length` tokens in `batch` rows.
---@param options table batch, length; lengths: of the prompts, where they differ (rows are then
---   padded at the left, and what stands before a prompt is hidden)
---@return cache
function Transformer:cache(options)
  return require("roper.cache").new(self, options)
end

return M
