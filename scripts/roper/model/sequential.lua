--- Modules in a row, and the small ones that go between linear maps: activations and dropout.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.base.options"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

--- Modules, each of which takes the result of the one before. `roper.nn.Sequential` makes it.
--- `model[i]` is module i, and `#model` is their number.
---@class Sequential: Module
local Sequential = modules.class "Sequential"

--- Modules, each of which takes the result of the one before. They are given one by one or as a
--- list, and their parameters are named "1.weight", "3.bias", ...
---
--- Errors: a value that is not a module.
---
---     > mlp = roper.nn.Sequential{
---     >>   roper.nn.Linear{inputs = 2, outputs = 8}, roper.nn.ReLU(),
---     >>   roper.nn.Linear{inputs = 8, outputs = 1}}
---     > mlp
---     Sequential: 33 parameters
---       1: Linear  bias [8], weight [8, 2]  24
---       2: ReLU                              0
---       3: Linear  bias [1], weight [1, 8]   9
---     > mlp(roper.zeros{5, 2}):shape()
---     {5, 1}
---@param ... Module|Module[]
---@return Sequential module
function M.Sequential(...)
  local list, count = { ... }, select("#", ...)
  if count == 1 and type(list[1]) == "table" and not traverse.is_module(list[1]) then
    list, count = list[1], tables.count(list[1])
  end
  local self = setmetatable({}, Sequential)
  for i = 1, count do
    if not traverse.is_module(list[i]) then
      error(("Sequential: expected a module as number %d, got %s"):format(i,
        options_of.shown(list[i])), 2)
    end
    self[i] = list[i]
  end
  return self
end

--- What the last module computes; x itself if there is no module.
---
--- Errors: more than one argument, since only the first module could take the others.
---
---     > roper.nn.Sequential{}(roper.ones{2})
---     float32 [2]
---     1 1
---@param x tensor
---@param ... nil
---@return any y
function Sequential:forward(x, ...)
  arguments.self("Sequential:forward", self, Sequential)
  for i = 1, select("#", ...) do
    if (select(i, ...)) ~= nil then
      error(("Sequential: expected one argument, got %d; write a class with a forward of its own "
        .. "(?roper.nn.class)"):format(i + 1), 0)
    end
  end
  for _, module in ipairs(self) do
    x = module(x)
  end
  return x
end

--- x where it is above 0, else 0. `roper.nn.ReLU` makes it.
---@class ReLU: Module
local ReLU = modules.class "ReLU"

--- The activation max(x, 0), as `roper.relu`.
---
---     > roper.nn.ReLU()(roper.tensor{-1, 2})
---     float32 [2]
---     0 2
---@param ... nil it takes no options
---@return ReLU module
function M.ReLU(...)
  options_of.check("ReLU", (...), {})
  return setmetatable({}, ReLU)
end

--- max(x, 0).
---
---     > roper.nn.ReLU():forward(roper.tensor{-1, 2})
---     float32 [2]
---     0 2
---@param x tensor of floats
---@return tensor y of the shape of x
function ReLU:forward(x) -- luacheck: no unused args
  return core.relu(x)
end

--- x Φ(x), with the normal distribution Φ. `roper.nn.GELU` makes it.
---@class GELU: Module
local GELU = modules.class "GELU"

--- The activation x Φ(x) with the normal distribution Φ, not its approximation by tanh, as
--- `roper.gelu` (Hendrycks and Gimpel 2016).
---
---     > roper.nn.GELU()(roper.tensor{-1, 0, 1})
---     float32 [3]
---     -0.1587  0.0000  0.8413
---@param ... nil it takes no options
---@return GELU module
function M.GELU(...)
  options_of.check("GELU", (...), {})
  return setmetatable({}, GELU)
end

--- x Φ(x).
---
---     > roper.nn.GELU():forward(roper.tensor{0, 1})
---     float32 [2]
---     0.0000 0.8413
---@param x tensor of floats
---@return tensor y of the shape of x
function GELU:forward(x) -- luacheck: no unused args
  return core.gelu(x)
end

--- Dropout. `roper.nn.Dropout` makes it.
---@class Dropout: Module
---@field p number
local Dropout = modules.class "Dropout"

---@class DropoutOptions
---@field p? number = 0.5; the probability of a 0

--- In training, sets each element to 0 with probability p and divides the others by 1 − p
--- (Srivastava et al. 2014); after `model:training(false)` it returns its input.
---
--- Errors: p below 0, or 1 or more.
---
---     > dropout = roper.nn.Dropout{p = 0.1}
---     > dropout:training(false)(roper.ones{3})
---     float32 [3]
---     1 1 1
---@param options? DropoutOptions
---@return Dropout module
function M.Dropout(options)
  local o = options_of.check("Dropout", options, { p = { "probability", 0.5 } })
  return setmetatable({ p = o.p }, Dropout)
end

--- x with zeros in training, else x.
---
---     > roper.nn.Dropout{p = 0}(roper.ones{3})
---     float32 [3]
---     1 1 1
---@param x tensor of floats
---@return tensor y of the shape of x
function Dropout:forward(x)
  arguments.self("Dropout:forward", self, Dropout)
  return self.is_training and self.p > 0 and core.dropout(x, self.p) or x
end

return M
