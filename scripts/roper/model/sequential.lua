--- A chain of modules, and modules without parameters: activations and dropout.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local modules = require "roper.model.module"
local options_of = require "roper.options.rows"
local tables = require "roper.base.tables"
local traverse = require "roper.model.traverse"

local M = {}

--- A chain of modules, created by `roper.nn.Sequential`. `model[i]` is module i, and `#model` is
--- the number of modules.
---@class Sequential: Module
local Sequential = modules.class "Sequential"

--- Creates a chain of modules, where each takes the result of the one before. Pass the modules as
--- arguments or as one list. Their parameters are named "1.weight", "3.bias", ...
---
--- Errors: a value is not a module.
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

--- Returns the result of the last module, or x itself if there are no modules.
---
--- Errors: more than one argument, because only the first module could take the others.
---
---     > roper.nn.Sequential{}(roper.ones{2})
---     float32 [2]
---     1 1
---@param x any of the type that the first module takes
---@param ... nil
---@return any y
function Sequential:forward(x, ...)
  arguments.check("forward", "x", "any", x)
  for i = 1, select("#", ...) do
    if (select(i, ...)) ~= nil then
      error(("Sequential: expected one argument, got %d; to pass more, define a class with its own "
        .. "forward (?roper.nn.class)"):format(i + 1), 0)
    end
  end
  for _, module in ipairs(self) do
    x = module(x)
  end
  return x
end

--- The activation max(x, 0), created by `roper.nn.ReLU`.
---@class ReLU: Module
local ReLU = modules.class "ReLU"

--- Creates a module that computes max(x, 0), like `roper.relu`.
---
---     > roper.nn.ReLU()(roper.tensor{-1, 2})
---     float32 [2]
---     0 2
---@param ... nil takes no options
---@return ReLU module
function M.ReLU(...)
  options_of.check("ReLU", (...), {})
  return setmetatable({}, ReLU)
end

--- Returns max(x, 0).
---
---     > roper.nn.ReLU():forward(roper.tensor{-1, 2})
---     float32 [2]
---     0 2
---@param x tensor of floats
---@return tensor y of the shape of x
function ReLU:forward(x) -- luacheck: no unused args
  arguments.check("forward", "x", "tensor", x)
  return core.relu(x)
end

--- The activation x Φ(x), created by `roper.nn.GELU`.
---@class GELU: Module
local GELU = modules.class "GELU"

--- Creates a module that computes x Φ(x), like `roper.gelu`. Φ is the standard normal cumulative
--- distribution function itself, not its approximation by tanh (Hendrycks and Gimpel 2016).
---
---     > roper.nn.GELU()(roper.tensor{-1, 0, 1})
---     float32 [3]
---     -0.1587  0.0000  0.8413
---@param ... nil takes no options
---@return GELU module
function M.GELU(...)
  options_of.check("GELU", (...), {})
  return setmetatable({}, GELU)
end

--- Returns x Φ(x).
---
---     > roper.nn.GELU():forward(roper.tensor{0, 1})
---     float32 [2]
---     0.0000 0.8413
---@param x tensor of floats
---@return tensor y of the shape of x
function GELU:forward(x) -- luacheck: no unused args
  arguments.check("forward", "x", "tensor", x)
  return core.gelu(x)
end

--- Dropout, created by `roper.nn.Dropout`.
---@class Dropout: Module
---@field p number
local Dropout = modules.class "Dropout"
Dropout.settings = { "p" }

local OPTIONS <const> = options_of.define("DropoutOptions", {
  { "p", "probability", 0.5, "the probability that an element is set to 0" },
})

--- Creates a dropout module. In training, it sets each element to 0 with probability p and divides
--- the others by 1 − p (Srivastava et al. 2014). After `model:training(false)` it returns its
--- input.
---
--- Errors: p is not in [0, 1).
---
---     > dropout = roper.nn.Dropout{p = 0.1}
---     > dropout:training(false)(roper.ones{3})
---     float32 [3]
---     1 1 1
---@param options? DropoutOptions
---@return Dropout module
function M.Dropout(options)
  local o = options_of.check("Dropout", options, OPTIONS)
  return setmetatable({ p = o.p }, Dropout)
end

--- Returns x with dropout in training, and x itself otherwise.
---
---     > roper.nn.Dropout{p = 0}(roper.ones{3})
---     float32 [3]
---     1 1 1
---@param x tensor of floats
---@return tensor y of the shape of x
function Dropout:forward(x)
  arguments.check("forward", "x", "tensor", x)
  return self.is_training and self.p > 0 and core.dropout(x, self.p) or x
end

return M
