--- Weights that are kept as bfloat16 for a while, for generation.
local core = require "roper.core"
local scoped = require "roper.base.scoped"
local traverse = require "roper.model.traverse"

local M = {}

local classes = {}
local packed = setmetatable({}, { __mode = "k" })

--- Adds a class of modules with a field `weight`, whose `forward` uses `of`.
---@param class table
function M.add_class(class)
  classes[class] = true
end

--- Returns the weight of a module as packed by `core.pack_bfloat16`; nil if it is not packed.
---@param module Module
---@return tensor?
function M.of(module)
  return packed[module]
end

--- Calls f while the weights of a model's modules of these classes are also kept as bfloat16, which
--- their forward passes use. The parameters are unchanged, and have no gradients meanwhile.
---
--- Errors: a weight is not float32.
---@param model Module
---@param f function
---@return any ... its results
function M.during(model, f)
  local found = {}
  local function visit(_, value)
    if classes[getmetatable(value)] then
      found[value] = core.pack_bfloat16(value.weight)
    end
  end
  visit("", model)
  traverse.walk(model, visit)
  for module, weight in pairs(found) do
    packed[module] = weight
  end
  return scoped.finally(f, function()
    for module in pairs(found) do
      packed[module] = nil
    end
  end)
end

return M
