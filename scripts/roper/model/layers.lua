--- Parts of a model that treat each token by itself.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.base.options"

local M = {}

-- Uniform in [-limit, limit).
local function uniform(shape, limit)
  return (core.rand(shape) * (2 * limit) - limit):parameter()
end

--- A linear map of the last axis. `roper.nn.Linear` makes it.
---@class Linear: Module
---@field weight tensor [outputs, inputs]
---@field bias? tensor [outputs]
local Linear = modules.class "Linear"

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
  arguments.self("Linear:forward", self, Linear)
  return core.linear(x, self.weight, self.bias, activation)
end

--- The mean cross-entropy, in nats, of targets, where the outputs are logits; not all of these are
--- there at once. Of one slice, it has the bits of `forward` and `cross_entropy`.
---
--- Errors: another number of inputs, a target that is no output.
---
---     > linear = roper.nn.Linear{inputs = 2, outputs = 4}
---     > linear:cross_entropy(roper.zeros{3, 2}, roper.zeros({3}, "int32"))
---     1.3863 (float32)
---@param x tensor [..., inputs]
---@param targets tensor [...], int32, from 0
---@param options? LinearCrossEntropyOptions
---@return tensor loss a scalar, or [...] with `each`
function Linear:cross_entropy(x, targets, options)
  arguments.self("Linear:cross_entropy", self, Linear)
  if self.forward ~= Linear.forward then -- it has one of its own
    return core.cross_entropy(self(x), targets, options)
  end
  return core.linear_cross_entropy(x, self.weight, self.bias, targets, options)
end

--- Rows of a table by token id. `roper.nn.Embedding` makes it.
---@class Embedding: Module
---@field weight tensor [count, features]
---@field scale? number of the rows
local Embedding = modules.class "Embedding"

---@class EmbeddingOptions
---@field count integer of tokens
---@field features integer
---@field scale? number = 1; of the rows

--- Rows of a table by token id, from 0, times a scale. They start standard normal, scale included.
---
--- Errors: what is no size.
---
---     > roper.nn.Embedding{count = 5, features = 4}:count()
---     20
---@param options EmbeddingOptions
---@return Embedding module
function M.Embedding(options)
  local o = options_of.check("Embedding", options, { count = "size", features = "size",
    scale = "number?" })
  local weight = core.randn { o.count, o.features }
  if o.scale == 0 then
    error("Embedding: scale: expected a number other than 0, got 0", 2)
  end
  weight = o.scale and weight / o.scale or weight
  return setmetatable({ weight = weight:parameter(), scale = o.scale }, Embedding)
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
  arguments.self("Embedding:forward", self, Embedding)
  local rows = core.embedding(self.weight, tokens)
  return self.scale and rows * self.scale or rows
end

--- Layer norm. `roper.nn.LayerNorm` makes it.
---@class LayerNorm: Module
---@field gain tensor [features]
---@field bias tensor [features]
---@field epsilon number
local LayerNorm = modules.class "LayerNorm"

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
  arguments.self("LayerNorm:forward", self, LayerNorm)
  return core.layer_norm(x, self.gain, self.bias, self.epsilon)
end

--- Norm by the root mean square. `roper.nn.RMSNorm` makes it.
---@class RMSNorm: Module
---@field gain tensor [features]
---@field epsilon number
local RMSNorm = modules.class "RMSNorm"

--- Scale the last axis to root mean square 1, then by a gain (Zhang and Sennrich 2019).
---
---     y = gain x / √(mean(x²) + ε)
---
--- Errors: what is no size.
---
---     > roper.nn.RMSNorm{features = 4}:count()
---     4
---@param options LayerNormOptions
---@return RMSNorm module
function M.RMSNorm(options)
  local o = options_of.check("RMSNorm", options, { features = "size",
    epsilon = { "number", 1e-5 } })
  return setmetatable({ gain = core.ones({ o.features }):parameter(), epsilon = o.epsilon },
    RMSNorm)
end

--- The last axis of x normalised.
---
--- Errors: another number of features.
---
---     > roper.nn.RMSNorm{features = 2}(roper.tensor{{1, 7}})
---     float32 [1, 2]
---     0.2000 1.4000
---@param x tensor [..., features]
---@return tensor y of the shape of x
function RMSNorm:forward(x)
  arguments.self("RMSNorm:forward", self, RMSNorm)
  return core.rms_norm(x, self.gain, self.epsilon)
end

--- Two linear maps with an activation between. `roper.nn.FeedForward` makes it.
---@class FeedForward: Module
---@field inner Linear
---@field gate? Linear with activation = "swiglu"
---@field outer Linear
---@field activation string
---@field dropout number
local FeedForward = modules.class "FeedForward"

---@class FeedForwardOptions
---@field d_model integer
---@field d_ff? integer 4 d_model by default
---@field activation? "relu"|"gelu"|"swiglu" = "relu"
---@field dropout? number = 0

--- Two linear maps with an activation between (Vaswani et al. 2017, eq. 2); with "swiglu" a third
--- one, the gate (Shazeer 2020), where 8/3 d_model for d_ff makes as many parameters as 4 d_model
--- without it.
---
---     y = W₂ relu(W₁ x + b₁) + b₂
---     y = W₂ (silu(W x + b) (W₁ x + b₁)) + b₂   with swiglu
---
--- Errors: what is no size.
---
---     > roper.nn.FeedForward{d_model = 8}:count()
---     552
---@param options FeedForwardOptions
---@return FeedForward module
function M.FeedForward(options)
  local o = options_of.check("FeedForward", options, { d_model = "size", d_ff = "size?",
    activation = { { "relu", "gelu", "swiglu" }, "relu" }, dropout = { "probability", 0 } })
  local d_ff = o.d_ff or 4 * o.d_model
  local self = setmetatable({ activation = o.activation, dropout = o.dropout }, FeedForward)
  self.inner = M.Linear { inputs = o.d_model, outputs = d_ff }
  self.outer = M.Linear { inputs = d_ff, outputs = o.d_model }
  if o.activation == "swiglu" then
    self.gate = M.Linear { inputs = o.d_model, outputs = d_ff }
  end
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
  arguments.self("FeedForward:forward", self, FeedForward)
  local hidden
  if self.activation == "swiglu" then
    hidden = core.silu(self.gate(x)) * self.inner(x)
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
