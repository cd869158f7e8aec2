--- What all parts of a model have in common: that they are called, and that their parameters are
--- found, counted, saved.
local arguments = require "roper.base.arguments"
local format = require "roper.base.format"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local summary = require "roper.model.summary"
local traverse = require "roper.model.traverse"
local hooks = require "roper.base.hooks"

local M = {}

--- Every part of a model: a table whose tensors and modules are found by walking its fields in the
--- order of their names, so that a field can be replaced by hand. Calling it runs `forward`; it
--- prints as a tree of its parts. `roper.nn.class` makes classes of one's own.
---@class Module
---@field is_training boolean = true; is dropout on?
local Module = { is_training = true }
Module.__index = Module
M.Module = Module

function Module.__tostring(class)
  return "class " .. class.name
end

-- A class is called for an instance.
function Module.__call(class, ...)
  local self = setmetatable({}, class)
  if class.init then
    class.init(self, ...)
  end
  return self
end

-- A module is called for its forward pass.
local function call(self, ...)
  local watcher = hooks.current
  if watcher then
    return watcher.call(self, ...)
  end
  return self:forward(...)
end

--- A class of modules. Calling it makes a module: a table with the methods of the class, whose
--- fields its `init` sets. Calling the module runs its `forward`.
---
--- Parameters and modules in fields and lists belong to the module: they are trained, counted,
--- printed and saved. A model for `roper.train`, `roper.generate` and `roper.evaluate` maps tokens
--- [batch, time] to logits [batch, time, vocabulary]; `forward` is also given a cache or nil, and
--- positions [batch, time] or nil. With a method `cache` such as that of `Transformer`, generation
--- computes each token once.
---
--- Errors: a name that is no string.
---
---     > Bigram = roper.nn.class "Bigram"
---     > function Bigram:init(o)
---     >>   self.embedding = roper.nn.Embedding{count = o.words, features = 8}
---     >>   self.logits = roper.nn.Linear{inputs = 8, outputs = o.words}
---     >> end
---     > function Bigram:forward(tokens)
---     >>   return self.logits(self.embedding(tokens))
---     >> end
---     > model = Bigram{words = 5}
---     > model
---     Bigram: 85 parameters
---       embedding: Embedding  weight [5, 8]            40
---       logits: Linear        bias [5], weight [5, 8]  45
---     > model(roper.tensor({{0, 3}}, "int32")):shape()
---     {1, 2, 5}
---@param name string
---@return Module class its methods, to be added to
function M.class(name)
  if type(name) ~= "string" then
    error("class: expected a name, got " .. type(name), 2)
  end
  local class = { name = name, is_module = true, __call = call, __tostring = summary }
  class.__index = class
  return setmetatable(class, Module)
end

--- What a value is, for messages: the shape of a tensor, else its type.
---@param value any
---@return string
function M.kind_of(value)
  return format.is_tensor(value) and "[" .. table.concat(value:shape(), ", ") .. "]" or type(value)
end

--- What a call of the module computes; each class has its own.
---
--- Errors: a class that has none.
---
---     > Twice = roper.nn.class "Twice"
---     > function Twice:forward(x) return 2 * x end
---     > Twice()(roper.ones{2})
---     float32 [2]
---     2 2
---@param ... any
---@return any ...
function Module:forward(...) -- luacheck: no unused args
  arguments.self("Module:forward", self, Module)
  error(("%s: expected a method forward, found none"):format(getmetatable(self).name), 0)
end

--- The logits that a model makes of tokens.
---@param model Module|function
---@param tokens tensor [batch, time], int32
---@param cache? table
---@param positions? tensor [batch, time]
---@return tensor logits [batch, time, vocabulary]
function M.logits(model, tokens, cache, positions)
  local logits = model(tokens, cache, positions)
  local batch, time = tokens:size(1), tokens:size(2)
  if not format.is_tensor(logits) or logits:rank() ~= 3 or logits:size(1) ~= batch
    or logits:size(2) ~= time then
    error(("model: expected logits [%d, %d, vocabulary], got %s"):format(batch, time,
      M.kind_of(logits)), 0)
  end
  return logits
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
  arguments.self("Module:named_parameters", self, Module)
  local list = {}
  traverse.walk(self, function(path, value)
    if format.is_tensor(value) and value:is_parameter() then
      list[#list + 1] = { name = path, tensor = value }
    elseif schemes.is_scheme(value) then
      schemes.note_decay(value)
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
  arguments.self("Module:parameters", self, Module)
  return tables.map(self:named_parameters(), function(entry) return entry.tensor end)
end

---@class NamedModule
---@field name string
---@field module Module

--- The modules with their names, such as "layers.1.attention", in a fixed order: itself first, with
--- the name "".
---
---     > roper.nn.FeedForward{d_model = 8}:named_modules()[2].name
---     "inner"
---@return NamedModule[] list
function Module:named_modules()
  arguments.self("Module:named_modules", self, Module)
  local list = { { name = "", module = self } }
  traverse.walk(self, function(path, value)
    list[#list + 1] = traverse.is_module(value) and { name = path, module = value } or nil
  end)
  return list
end

--- How many numbers are trained.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:count()
---     3
---@return integer count
function Module:count()
  arguments.self("Module:count", self, Module)
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
  arguments.self("Module:zero_gradients", self, Module)
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
  arguments.self("Module:training", self, Module)
  for _, entry in ipairs(self:named_modules()) do
    entry.module.is_training = on ~= false
  end
  return self
end

return M
