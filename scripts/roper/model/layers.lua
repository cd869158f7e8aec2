--- Modules that process each token independently: linear maps, embeddings, norms, feed-forward.
local arguments = require "roper.options.arguments"
local bfloat16_weights = require "roper.model.bfloat16_weights"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"

local M = {}

-- Uniform in [-limit, limit).
local function uniform(shape, limit)
  return (core.rand(shape) * (2 * limit) - limit):parameter()
end

--- A linear map of the last axis, created by `roper.nn.Linear`.
---@class Linear: Module
---@field weight tensor [outputs, inputs]
---@field bias? tensor [outputs]
---@field softcap? number
local Linear = modules.class "Linear"
Linear.settings = { "softcap" }
bfloat16_weights.add_class(Linear)

local ACTIVATION <const> = { "none", "relu", optional = true }

local LINEAR <const> = options_of.define("LinearOptions", {
  { "inputs", "size" },
  { "outputs", "size" },
  { "bias", "boolean", true },
  { "softcap", "positive?", nil, "largest size of an output, as for the logits of Gemma 2",
    shown = "none" },
})

--- Creates a linear map of the last axis. Initial weights are uniform in ±1/√inputs; the initial
--- bias is 0.
---
---     y = x Wᵀ + b
---     y = softcap tanh((x Wᵀ + b) / softcap)   with softcap
---
--- Errors: inputs or outputs is not a positive integer.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:count()
---     3
---@param options LinearOptions
---@return Linear module
function M.Linear(options)
  local o = options_of.check("Linear", options, LINEAR)
  local self = setmetatable({ softcap = o.softcap }, Linear)
  self.weight = uniform({ o.outputs, o.inputs }, o.inputs ^ -0.5)
  self.bias = o.bias and core.zeros({ o.outputs }):parameter() or nil
  return self
end

--- Applies the linear map to x, followed by the activation.
---
--- Errors: the last axis of x does not have `inputs` elements.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}(roper.ones{3, 2}):shape()
---     {3, 1}
---@param x tensor [..., inputs]
---@param activation? "none"|"relu" = "none"
---@return tensor y [..., outputs]
function Linear:forward(x, activation)
  arguments.check("forward", "x", "tensor", x, "activation", ACTIVATION, activation)
  local packed = bfloat16_weights.of(self)
  local y = packed and core.linear_bfloat16(x, packed, self.bias, activation)
    or core.linear(x, self.weight, self.bias, activation)
  return self.softcap and (y / self.softcap):tanh() * self.softcap or y
end

--- Returns the mean cross-entropy of the targets, in nats, with the outputs as logits. To save
--- memory, many logits are computed in slices. If one slice suffices, the result is bit-identical
--- to `cross_entropy` of `forward`.
---
--- Errors: the last axis of x does not have `inputs` elements; a target is not the index of an
--- output.
---
---     > linear = roper.nn.Linear{inputs = 2, outputs = 4}
---     > linear:cross_entropy(roper.zeros{3, 2}, roper.zeros({3}, "int32"))
---     1.3863 (float32)
---@param x tensor [..., inputs]
---@param targets tensor [...], int32, from 0
---@param options? LinearCrossEntropyOptions
---@return tensor loss a scalar, or [...] with reduction = "none"
function Linear:cross_entropy(x, targets, options)
  arguments.check("cross_entropy", "x", "tensor", x, "targets", "tensor", targets, "options",
    "table?", options)
  if self.forward ~= Linear.forward or self.softcap then -- it is more than a linear map
    return core.cross_entropy(self(x), targets, options)
  end
  return core.linear_cross_entropy(x, self.weight, self.bias, targets, options)
end

--- A table with a row for each token id, created by `roper.nn.Embedding`.
---@class Embedding: Module
---@field weight tensor [count, features]
---@field scale? number factor of the returned rows
local Embedding = modules.class "Embedding"
Embedding.settings = { "scale" }

local EMBEDDING <const> = options_of.define("EmbeddingOptions", {
  { "count", "size", nil, "number of token ids" },
  { "features", "size" },
  { "scale", "number?", nil, "factor of the returned rows", shown = "1" },
})

--- Creates a table with a row for each token id, from 0. The rows it returns are multiplied by
--- `scale`; initially they are standard normal after this multiplication.
---
--- Errors: count or features is not a positive integer; scale is 0.
---
---     > roper.nn.Embedding{count = 5, features = 4}:count()
---     20
---@param options EmbeddingOptions
---@return Embedding module
function M.Embedding(options)
  local o = options_of.check("Embedding", options, EMBEDDING)
  local weight = core.randn { o.count, o.features }
  if o.scale == 0 then
    error("Embedding: scale: expected a number other than 0, got 0", 2)
  end
  weight = o.scale and weight / o.scale or weight
  return setmetatable({ weight = weight:parameter(), scale = o.scale }, Embedding)
end

--- Returns the row of each token, multiplied by `scale`.
---
--- Errors: a token id is not in 0 to count − 1.
---
---     > embedding = roper.nn.Embedding{count = 5, features = 4}
---     > embedding(roper.tensor({{0, 4}}, "int32")):shape()
---     {1, 2, 4}
---@param tokens tensor [...], int32, from 0
---@return tensor y [..., features]
function Embedding:forward(tokens)
  arguments.check("forward", "tokens", "tensor", tokens)
  local rows = core.embedding(self.weight, tokens)
  return self.scale and rows * self.scale or rows
end

--- Layer normalization, created by `roper.nn.LayerNorm`.
---@class LayerNorm: Module
---@field gain tensor [features]
---@field bias tensor [features]
---@field epsilon number
local LayerNorm = modules.class "LayerNorm"
LayerNorm.settings = { "epsilon" }

local NORM <const> = options_of.define("LayerNormOptions", {
  { "features", "size" },
  { "epsilon", "number", 1e-5 },
})

--- Creates a layer norm: it normalizes the last axis to mean 0 and variance 1, then multiplies by
--- `gain` and adds `bias` (Ba et al. 2016). Initially `gain` is 1 and `bias` is 0.
---
---     y = gain (x − mean) / √(variance + ε) + bias
---
--- Errors: features is not a positive integer.
---
---     > roper.nn.LayerNorm{features = 4}:count()
---     8
---@param options LayerNormOptions
---@return LayerNorm module
function M.LayerNorm(options)
  local o = options_of.check("LayerNorm", options, NORM)
  local self = setmetatable({ epsilon = o.epsilon }, LayerNorm)
  self.gain = core.ones({ o.features }):parameter()
  self.bias = core.zeros({ o.features }):parameter()
  return self
end

--- Returns x with its last axis normalized.
---
--- Errors: the last axis of x does not have `features` elements.
---
---     > roper.nn.LayerNorm{features = 2}(roper.tensor{{1, 3}})
---     float32 [1, 2]
---     -1.0000  1.0000
---@param x tensor [..., features]
---@return tensor y of the shape of x
function LayerNorm:forward(x)
  arguments.check("forward", "x", "tensor", x)
  return core.layer_norm(x, self.gain, self.bias, self.epsilon)
end

--- Root-mean-square normalization, created by `roper.nn.RMSNorm`.
---@class RMSNorm: Module
---@field gain tensor [features]
---@field epsilon number
local RMSNorm = modules.class "RMSNorm"
RMSNorm.settings = { "epsilon" }

--- Creates an RMS norm: it scales the last axis to root mean square 1, then multiplies by `gain`
--- (Zhang and Sennrich 2019). Initially `gain` is 1.
---
---     y = gain x / √(mean(x²) + ε)
---
--- Errors: features is not a positive integer.
---
---     > roper.nn.RMSNorm{features = 4}:count()
---     4
---@param options LayerNormOptions
---@return RMSNorm module
function M.RMSNorm(options)
  local o = options_of.check("RMSNorm", options, NORM)
  return setmetatable({ gain = core.ones({ o.features }):parameter(), epsilon = o.epsilon },
    RMSNorm)
end

--- Returns x with its last axis normalized.
---
--- Errors: the last axis of x does not have `features` elements.
---
---     > roper.nn.RMSNorm{features = 2}(roper.tensor{{1, 7}})
---     float32 [1, 2]
---     0.2000 1.4000
---@param x tensor [..., features]
---@return tensor y of the shape of x
function RMSNorm:forward(x)
  arguments.check("forward", "x", "tensor", x)
  return core.rms_norm(x, self.gain, self.epsilon)
end

-- The function of the gate, for activations that have one.
local GATES <const> = { swiglu = "silu", geglu = "gelu", geglu_tanh = "gelu_tanh" }

--- Two linear maps with an activation between them, created by `roper.nn.FeedForward`.
---@class FeedForward: Module
---@field inner Linear
---@field gate? Linear only with an activation that has one, such as "swiglu"
---@field outer Linear
---@field activation string
---@field dropout number
local FeedForward = modules.class "FeedForward"
FeedForward.settings = { "activation", "dropout" }

local FEED_FORWARD <const> = options_of.define("FeedForwardOptions", {
  { "d_model", "size", nil, "features of a token" },
  { "d_ff", "size?", nil, "features between the two maps; by default 4 d_model" },
  { "activation", { "relu", "gelu", "gelu_tanh", "swiglu", "geglu", "geglu_tanh" }, "relu",
    "between the two linear maps; gelu_tanh: the approximation of GELU in GPT-2; those that end in "
      .. "glu have a gate, geglu_tanh is that of Gemma" },
  { "feed_forward_bias", { "all", "none" }, nil, "the linear maps of the feed-forward with a bias",
    shown = '"all"' },
  { "dropout", "probability", 0, "probability that an activation is dropped in training" },
})

--- Creates two linear maps with an activation between them (Vaswani et al. 2017, eq. 2). "swiglu"
--- and "geglu" add a third linear map, the gate (Shazeer 2020); then d_ff = 8/3 d_model has about
--- as many parameters as d_ff = 4 d_model without the gate.
---
---     y = W₂ relu(W₁ x + b₁) + b₂
---     y = W₂ (silu(W x + b) (W₁ x + b₁)) + b₂   with swiglu; gelu with geglu
---
--- Errors: d_model or d_ff is not a positive integer; dropout is not in [0, 1).
---
---     > roper.nn.FeedForward{d_model = 8}:count()
---     552
---@param options FeedForwardOptions
---@return FeedForward module
function M.FeedForward(options)
  local o = options_of.check("FeedForward", options, FEED_FORWARD)
  local d_ff = o.d_ff or 4 * o.d_model
  local self = setmetatable({ activation = o.activation, dropout = o.dropout }, FeedForward)
  local bias = o.feed_forward_bias ~= "none"
  self.inner = M.Linear { inputs = o.d_model, outputs = d_ff, bias = bias }
  self.outer = M.Linear { inputs = d_ff, outputs = o.d_model, bias = bias }
  if GATES[o.activation] then
    self.gate = M.Linear { inputs = o.d_model, outputs = d_ff, bias = bias }
  end
  return self
end

--- Applies both linear maps and the activation to each token.
---
--- Errors: the last axis of x does not have `d_model` elements.
---
---     > roper.nn.FeedForward{d_model = 8}(roper.zeros{1, 3, 8}):shape()
---     {1, 3, 8}
---@param x tensor [..., d_model]
---@return tensor y of the shape of x
function FeedForward:forward(x)
  arguments.check("forward", "x", "tensor", x)
  local hidden
  if GATES[self.activation] then
    hidden = core[GATES[self.activation]](self.gate(x)) * self.inner(x)
  elseif self.activation == "relu" then
    hidden = self.inner(x, "relu")
  else
    hidden = core[self.activation](self.inner(x))
  end
  if self.is_training and self.dropout > 0 then
    hidden = core.dropout(hidden, self.dropout)
  end
  return self.outer(hidden)
end

return M
