--- What all parts of a model have in common: that their parameters are found, counted, saved.
local format = require "roper.base.format"
local tables = require "roper.base.tables"

local M = {}

--- Every part of a model: a table whose tensors and modules are found by walking its fields in the
--- order of their names, so that a field can be replaced by hand. Calling it runs `forward`.
---@class Module
---@field is_training boolean is dropout on?
local Module = {}
Module.__index = Module
M.Module = Module

--- A class of modules: instances are tables whose call is `forward`.
---@param name string
---@return table methods
function M.class(name)
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

--- What a value is, for messages: the shape of a tensor, else its type.
---@param value any
---@return string
function M.kind_of(value)
  return format.is_tensor(value) and "[" .. table.concat(value:shape(), ", ") .. "]" or type(value)
end

local function is_module(value)
  local meta = type(value) == "table" and getmetatable(value)
  return meta and getmetatable(meta) == Module
end

-- Call visit(path, value) once for each tensor and module below, in the order of names.
local function walk(fields, prefix, visit, seen)
  seen = seen or { [fields] = true }
  for _, name in ipairs(tables.keys(fields)) do
    local value, path = fields[name], prefix .. tostring(name)
    local metatable = type(value) == "table" and getmetatable(value)
    local is_part = type(value) == "table"
      and (not metatable or is_module(value) or metatable.is_scheme)
    if (is_part or format.is_tensor(value)) and not seen[value] then
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
    if format.is_tensor(value) and value:is_parameter() then
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
  return tables.map(self:named_parameters(), function(entry) return entry.tensor end)
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

return M
