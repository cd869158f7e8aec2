--- The base class of all modules: calls, parameters, printing, training mode.
local arguments = require "roper.options.arguments"
local arity = require "roper.options.arity"
local format = require "roper.text.format"
local options_of = require "roper.options.rows"
local registered = require "roper.options.registered"
local schemes = require "roper.position.scheme"
local tables = require "roper.base.tables"
local summary = require "roper.model.summary"
local traverse = require "roper.model.traverse"
local hooks = require "roper.attention.hooks"

local M = {}

--- Base class of all parts of a model. A module is a table; its parameters and submodules are
--- found by traversing its fields in the order of their names, so any field can be replaced by
--- assignment. Calling a module runs `forward`; printing it shows the tree of its parts. Define new
--- classes with `roper.nn.class`.
---@class Module
---@field is_training boolean = true; whether dropout is on
---@field settings? string[] of a class: names of its fields with numbers, strings or booleans that
---   change its results; they are saved with the parameters
---@field takes? OptionRow[] of a class: options of its own, which the field `model` of experiments
---   can set, such as model=Own{times=4}; its method `init` gets them with their defaults
local Module = { is_training = true }
Module.__index = Module
M.Module = Module

function Module.__tostring(class)
  return "class " .. class.name
end

local classes = {} -- from `class`, by name
local own_names -- of classes that are not part of the library; nil until it is loaded
local created = setmetatable({}, { __mode = "k" }) -- module to its class and options

-- Calling a class creates a module. A copy of a single table of options is kept, with which the
-- module can be created again.
function Module.__call(class, ...)
  local self = setmetatable({}, class)
  local options = select("#", ...) == 0 and {} or ...
  if select("#", ...) <= 1 and type(options) == "table" then
    created[self] = { class = class, options = tables.merged(options) }
  end
  if class.init then
    class.init(self, ...)
  end
  return self
end

-- Calling a module runs its forward pass.
local function call(self, ...)
  local watcher = hooks.current
  if watcher then
    return watcher.call(self, ...)
  end
  return hooks.forward(self, ...)
end

--- Returns a new class of modules. Calling the class creates a module, a table with the methods of
--- the class, and passes the arguments to its method `init`, which sets the fields. Calling the
--- module runs its method `forward`.
---
--- Parameters and modules in fields, and in lists in fields, belong to the module: they are
--- trained, counted, printed and saved. Other fields are saved if the list `settings` of the class
--- names them, as in `Bigram.settings = {"scale"}`. A model for `roper.train`, `roper.generate` and
--- `roper.evaluate` maps tokens [batch, time] to logits [batch, time, vocabulary]. Its `forward`
--- also receives a cache or nil, and positions [batch, time] or nil. If the model has a method
--- `cache`, like `Transformer`, generation computes each token only once.
---
--- Errors: the name does not consist of letters, digits and _, or begins with a digit.
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
---@return Module class add methods to it
function M.class(name)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
    error("class: expected a name of letters, digits and _, got " .. options_of.shown(name), 2)
  end
  local class = { name = name, is_module = true, __call = call, __tostring = summary }
  class.__index = class
  classes[name] = class
  if own_names then
    own_names[name] = true
    registered.note()
  end
  return setmetatable(class, Module)
end

--- Returns the last class with a name.
---@param name string
---@return Module? class nil if there is none
function M.find_class(name)
  return classes[name]
end

--- Returns the names of the classes of users, sorted.
---@return string[] names
function M.class_names()
  return tables.keys(own_names)
end

--- Ends the list of the library's own classes. Their methods then reject surplus arguments and
--- objects of other classes.
function M.seal()
  if not own_names then
    own_names = {}
    arity.limit(Module, "Module")
    for _, class in pairs(classes) do
      arity.limit(class, class.name)
    end
  end
end

--- Returns the name of the class and the options that created a module, if they create it again: it
--- was created from at most one table of options, by the last class of this name.
---@param module Module
---@return string? name nil if it is not known how to create the module
---@return table? options
function M.origin(module)
  local found = created[module]
  if found and classes[found.class.name] == found.class then
    return found.class.name, tables.merged(found.options)
  end
  return nil
end

--- Describes a value for messages: the shape of a tensor, or the type of any other value.
---@param value any
---@return string
function M.kind_of(value)
  return format.is_tensor(value) and "[" .. table.concat(value:shape(), ", ") .. "]" or type(value)
end

--- Computes the result of calling the module. Each class defines this method.
---
--- Errors: the class does not define it.
---
---     > Twice = roper.nn.class "Twice"
---     > function Twice:forward(x) return 2 * x end
---     > Twice()(roper.ones{2})
---     float32 [2]
---     2 2
---@param ... any
---@return any ...
function Module:forward(...) -- luacheck: no unused args
  error(("%s: expected a method forward, found none"):format(getmetatable(self).name), 0)
end

--- Calls a model with copies of tokens and positions, so that it cannot change those of its caller,
--- and checks the shape of the logits it returns.
---@param model Module|function
---@param tokens tensor [batch, time], int32
---@param cache? table
---@param positions? tensor [batch, time]
---@return tensor logits [batch, time, vocabulary]
function M.logits(model, tokens, cache, positions)
  local logits = model(tokens:clone(), cache, positions and positions:clone())
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

--- Returns the parameters with their names, such as "layers.1.attention.key.weight", in a fixed
--- order.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:named_parameters()[2].name
---     "weight"
---@return NamedParameter[] list
function Module:named_parameters()
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

--- Returns the parameters, in the order of `named_parameters`.
---
---     > #roper.nn.Linear{inputs = 2, outputs = 1}:parameters()
---     2
---@return tensor[] list
function Module:parameters()
  return tables.map(self:named_parameters(), function(entry) return entry.tensor end)
end

---@class NamedModule
---@field name string
---@field module Module

--- Returns the module and all modules in it with their names, such as "layers.1.attention", in a
--- fixed order. The module itself comes first, with the name "".
---
---     > roper.nn.FeedForward{d_model = 8}:named_modules()[2].name
---     "inner"
---@return NamedModule[] list
function Module:named_modules()
  local list = { { name = "", module = self } }
  traverse.walk(self, function(path, value)
    list[#list + 1] = traverse.is_module(value) and { name = path, module = value } or nil
  end)
  return list
end

--- Returns the number of elements in all parameters.
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

--- Sets the gradients of all parameters to nil.
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

--- Turns dropout on or off in this module and all modules in it.
---
---     > roper.nn.Linear{inputs = 2, outputs = 1}:training(false).is_training
---     false
---@param on? boolean = true
---@return Module self
function Module:training(on)
  arguments.check("training", "on", "boolean?", on)
  for _, entry in ipairs(self:named_modules()) do
    entry.module.is_training = on ~= false
  end
  return self
end

return M
