--- Tensors, and objects that stand for one until it is needed: their metatable has a function
--- `__tensor` that computes it. The core takes both.
local core = require "roper.core"

local M = {}

-- What computes the tensor that a value stands for, nil where it is none.
local function computing(value)
  local metatable = debug.getmetatable(value)
  return type(metatable) == "table" and rawget(metatable, "__tensor") or nil
end

--- Is the value a tensor, or does it stand for one? Nothing is computed.
---@param value any
---@return boolean yes
function M.is_tensor(value)
  return debug.getmetatable(value) == core.tensor_metatable or computing(value) ~= nil
end

--- The tensor that a value is or stands for.
---@param value any
---@return tensor? tensor nil for other values
function M.tensor(value)
  local compute = computing(value)
  if compute then
    return compute(value)
  end
  return debug.getmetatable(value) == core.tensor_metatable and value or nil
end

return M
