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

--- Every part of a model: a table whose tensors and modules are found by walking its fields in the
--- order of their names, so that a field can be replaced by hand. Calling it runs `forward`.
---@class Module
---@field is_training boolean is dropout on?
local Module = {}
Module.__index = Module

-- A class: instances are tables whose call is `forward`.
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

-- What a value is, for messages: the shape of a tensor, else its type.
local function kind_of(value)
  return is_tensor(value) and "[" .. table.concat(value:shape(), ", ") .. "]" or type(value)
end

local function is_module(value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and getmetatable(meta) == Module
end

-- Call visit(path, value) once for each tensor and module below, in the order of names.
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

---@class NamedParameter
---@field name string
---@field tensor tensor

--- The parameters with their names, such as "layers.1.attention.key.weight", in a fixed order.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:named_parameters()[2].name
---     "weight"
---@return NamedParameter[] list
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
---
---     > #roper.nn.Linear{inputs = 2, outputs = 1}:parameters()
---     2
---@return tensor[] list
function Module:parameters()
  local list = {}
  for i, entry in ipairs(self:named_parameters()) do
    list[i] = entry.tensor
  end
  return list
end

--- How many numbers are trained.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:count()
---     3
---@return integer count
function Module:count()
  local count = 0
  for _, tensor in ipairs(self:parameters()) do
    count = count + tensor:count()
  end
  return count
end

--- Forget the gradients of all parameters.
---
---     > linear = roper.nn.Linear{inputs = 2, outputs = 1}
---     > linear(roper.ones{1, 2}):sum():backward()
---     > linear:zero_gradients()
---     > linear.weight.grad
---     nil
function Module:zero_gradients()
  for _, tensor in ipairs(self:parameters()) do
    tensor.grad = nil
  end
end

--- Turn dropout on or off in this module and all below.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:training(false).is_training
---     false
---@param on? boolean = true
---@return Module self
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

--- Write the parameters to a safetensors file, with the options a Transformer was made from; `load`
--- makes the model again.
---
--- Errors: a path that can not be written.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > path = os.tmpname()
---     > model:save(path)
---     > roper.load(path):count() == model:count()
---     true
---     > os.remove(path);
---@param path string
function Module:save(path)
  require("roper.checkpoint").save_model(path, self)
end

-- Uniform in [-limit, limit).
local function uniform(shape, limit)
  return (core.rand(shape) * (2 * limit) - limit):parameter()
end

--- A linear map of the last axis. `roper.nn.Linear` makes it.
---@class Linear: Module
---@field weight tensor [outputs, inputs]
---@field bias? tensor [outputs]
local Linear = class "Linear"

---@class LinearOptions
---@field inputs integer
---@field outputs integer
---@field bias? boolean = true

--- A linear map of the last axis. Weights start uniform within ±1/√inputs, the bias at 0.
---
---     y = x Wᵀ + b
---
--- Errors: inputs or outputs that are no sizes.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:count()
---     3
---@param options LinearOptions
---@return Linear module
function M.Linear(options)
  local o = options_of.check("Linear", options, { inputs = "size", outputs = "size",
    bias = { "boolean", true } })
  local self = setmetatable({}, Linear)
  self.weight = uniform({ o.outputs, o.inputs }, o.inputs ^ -0.5)
  self.bias = o.bias and core.zeros({ o.outputs }):parameter() or nil
  return self
end

--- The map of x, then ReLU where asked.
---
--- Errors: another number of inputs.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}(roper.ones{3, 2}):shape()
---     {3, 1}
---@param x tensor [..., inputs]
---@param activation? "none"|"relu" = "none"
---@return tensor y [..., outputs]
function Linear:forward(x, activation)
  return core.linear(x, self.weight, self.bias, activation)
end

--- Rows of a table by token id. `roper.nn.Embedding` makes it.
---@class Embedding: Module
---@field weight tensor [count, features]
local Embedding = class "Embedding"

---@class EmbeddingOptions
---@field count integer of tokens
---@field features integer

--- Rows of a table by token id, from 0. It starts standard normal.
---
--- Errors: what is no size.
---
---     > roper.nn.Embedding{count = 5, features = 4}:count()
---     20
---@param options EmbeddingOptions
---@return Embedding module
function M.Embedding(options)
  local o = options_of.check("Embedding", options, { count = "size", features = "size" })
  return setmetatable({ weight = core.randn { o.count, o.features }:parameter() }, Embedding)
end

--- The rows of tokens.
---
--- Errors: an id past the table.
---
---     > embedding = roper.nn.Embedding{count = 5, features = 4}
---     > embedding(roper.tensor({{0, 4}}, "int32")):shape()
---     {1, 2, 4}
---@param tokens tensor [...], int32, from 0
---@return tensor y [..., features]
function Embedding:forward(tokens)
  return core.embedding(self.weight, tokens)
end

--- Layer norm. `roper.nn.LayerNorm` makes it.
---@class LayerNorm: Module
---@field gain tensor [features]
---@field bias tensor [features]
---@field epsilon number
local LayerNorm = class "LayerNorm"

---@class LayerNormOptions
---@field features integer
---@field epsilon? number = 1e-5

--- Normalise the last axis to mean 0 and variance 1, then scale and shift (Ba et al. 2016).
---
---     y = gain (x − mean) / √(variance + ε) + bias
---
--- Errors: what is no size.
---
---     > roper.nn.LayerNorm{features = 4}:count()
---     8
---@param options LayerNormOptions
---@return LayerNorm module
function M.LayerNorm(options)
  local o = options_of.check("LayerNorm", options, { features = "size",
    epsilon = { "number", 1e-5 } })
  local self = setmetatable({ epsilon = o.epsilon }, LayerNorm)
  self.gain = core.ones({ o.features }):parameter()
  self.bias = core.zeros({ o.features }):parameter()
  return self
end

--- The last axis of x normalised.
---
--- Errors: another number of features.
---
---     > roper.nn.LayerNorm{features = 2}(roper.tensor{{1, 3}})
---     float32 [1, 2]
---     -1.0000  1.0000
---@param x tensor [..., features]
---@return tensor y of the shape of x
function LayerNorm:forward(x)
  return core.layer_norm(x, self.gain, self.bias, self.epsilon)
end

--- Self-attention in several heads. `roper.nn.MultiHeadAttention` makes it.
---@class MultiHeadAttention: Module
---@field query Linear
---@field key Linear
---@field value Linear
---@field output Linear
---@field heads integer
---@field position? rotary nil without positions
---@field dropout number
---@field causal boolean
local MultiHeadAttention = class "MultiHeadAttention"

---@class MultiHeadAttentionOptions
---@field d_model integer
---@field heads integer
---@field position? string|table|rotary = "none"; a scheme, its name, or {type = name, ...}
---@field dropout? number = 0; of the weights
---@field causal? boolean = true

--- Self-attention in several heads, with a position scheme (Vaswani et al. 2017, section 3.2).
---
--- Errors: heads that do not divide d_model, a position that no scheme has.
---
---     > roper.nn.MultiHeadAttention{d_model = 8, heads = 2}:count()
---     288
---@param options MultiHeadAttentionOptions
---@return MultiHeadAttention module
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

--- The features of each head apart.
---
---     > attention = roper.nn.MultiHeadAttention{d_model = 8, heads = 2}
---     > attention:split(roper.zeros{1, 3, 8}):shape()
---     {1, 2, 3, 4}
---@param x tensor [batch, time, features]
---@return tensor y [batch, heads, time, features / heads]
function MultiHeadAttention:split(x)
  local batch, time, features = table.unpack(x:shape())
  return x:view { batch, time, self.heads, features // self.heads }:transpose(2, 3)
end

--- What each token takes from those that it sees.
---
--- Errors: another shape.
---
---     > attention = roper.nn.MultiHeadAttention{d_model = 8, heads = 2}
---     > attention(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param cache? CacheLayer what `Transformer:cache` made for this layer
---@return tensor y [batch, time, d_model]
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

--- Two linear maps with an activation between. `roper.nn.FeedForward` makes it.
---@class FeedForward: Module
---@field inner Linear
---@field outer Linear
---@field activation string
---@field dropout number
local FeedForward = class "FeedForward"

---@class FeedForwardOptions
---@field d_model integer
---@field d_ff? integer 4 d_model by default
---@field activation? "relu"|"gelu" = "relu"
---@field dropout? number = 0

--- Two linear maps with an activation between (Vaswani et al. 2017, eq. 2).
---
---     y = W₂ relu(W₁ x + b₁) + b₂
---
--- Errors: what is no size.
---
---     > roper.nn.FeedForward{d_model = 8}:count()
---     552
---@param options FeedForwardOptions
---@return FeedForward module
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

--- The two maps of each token.
---
--- Errors: another number of features.
---
---     > roper.nn.FeedForward{d_model = 8}(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [..., d_model]
---@return tensor y of the shape of x
function FeedForward:forward(x)
  local hidden = self.activation == "relu" and self.inner(x, "relu")
    or core[self.activation](self.inner(x))
  if self.is_training and self.dropout > 0 then
    hidden = core.dropout(hidden, self.dropout)
  end
  return self.outer(hidden)
end

--- A layer of a transformer. `roper.nn.TransformerLayer` makes it.
---@class TransformerLayer: Module
---@field attention MultiHeadAttention
---@field feed_forward FeedForward
---@field attention_norm LayerNorm
---@field feed_forward_norm LayerNorm
---@field norm "pre"|"post"
---@field dropout number
local TransformerLayer = class "TransformerLayer"

---@class TransformerLayerOptions
---@field d_model integer
---@field heads integer
---@field d_ff? integer 4 d_model by default
---@field norm? "pre"|"post" = "pre"
---@field activation? "relu"|"gelu" = "relu"
---@field position? string|table|rotary = "none"; a scheme, its name, or {type = name, ...}
---@field dropout? number = 0

--- Attention and feed-forward, each with a residual connection and layer norm: before each ("pre"),
--- or after ("post", as in Vaswani et al. 2017).
---
---     pre: x + f(norm(x)),   post: norm(x + f(x))
---
--- Errors: as for `MultiHeadAttention` and `FeedForward`.
---
---     > roper.nn.TransformerLayer{d_model = 8, heads = 2}:count()
---     872
---@param options TransformerLayerOptions
---@return TransformerLayer module
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

--- x + f(x), with the norm where this layer has it.
---
---     > layer = roper.nn.TransformerLayer{d_model = 8, heads = 2}
---     > x = roper.ones{1, 3, 8}
---     > layer:residual(x, layer.attention_norm, layer.attention):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param norm LayerNorm
---@param f Module
---@param cache? CacheLayer handed to f
---@return tensor y of the shape of x
function TransformerLayer:residual(x, norm, f, cache)
  local y = f(self.norm == "pre" and norm(x) or x, cache)
  if self.is_training and self.dropout > 0 then
    y = core.dropout(y, self.dropout)
  end
  y = x + y
  return self.norm == "post" and norm(y) or y
end

--- Attention, then feed-forward.
---
--- Errors: another shape.
---
---     > layer = roper.nn.TransformerLayer{d_model = 8, heads = 2}
---     > layer(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [batch, time, d_model]
---@param cache? CacheLayer what `Transformer:cache` made for this layer
---@return tensor y of the shape of x
function TransformerLayer:forward(x, cache)
  x = self:residual(x, self.attention_norm, self.attention, cache)
  return self:residual(x, self.feed_forward_norm, self.feed_forward)
end

--- A causal language model. `roper.nn.Transformer` makes it; calling it with tokens gives logits.
---@class Transformer: Module
---@field embedding Embedding
---@field layers TransformerLayer[]
---@field norm? LayerNorm with norm = "pre"
---@field logits Linear
---@field options TransformerOptions
local Transformer = class "Transformer"

---@class TransformerOptions
---@field vocabulary integer|string[] how many tokens, or the list that `task:vocabulary()` gives
---@field d_model? integer = 128
---@field layers? integer = 3
---@field heads? integer = 4
---@field d_ff? integer 4 d_model by default
---@field norm? "pre"|"post" = "pre"
---@field activation? "relu"|"gelu" = "relu"
---@field position? string|table|rotary = "roper"; a scheme, its name, or {type = name, ...}
---@field dropout? number = 0

--- A causal language model: embedding, layers, a last norm where norms come before, logits (Vaswani
--- et al. 2017, the decoder without the encoder).
---
--- Errors: as for `TransformerLayer`; a vocabulary that is neither a size nor a list.
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
---
--- Errors: another shape, an id past the vocabulary, more tokens than the cache has room for.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > model(roper.zeros({2, 5}, "int32")):shape()
---     {2, 5, 4}
---@param tokens tensor [batch, time], int32, from 0
---@param cache? Cache from `cache`; its keys and values then come before these tokens
---@return tensor logits [batch, time, vocabulary]
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

--- Room for keys and values of tokens that were seen, so that generation computes each token once.
---
--- Errors: lengths that do not fit.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > cache = model:cache{batch = 1, length = 10}
---     > model(roper.zeros({1, 3}, "int32"), cache):shape(), cache.filled
---     {1, 3, 4}	3
---@param options CacheOptions
---@return Cache cache
function Transformer:cache(options)
  return require("roper.cache").new(self, options)
end

return M
