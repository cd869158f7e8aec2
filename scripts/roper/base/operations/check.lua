--- Argument checks for functions of tensors.
local format = require "roper.base.format"

local M = {}

--- Raises an error in the name of a function if a value is not a tensor.
---@param name string
---@param value any
function M.tensor(name, value)
  if not format.is_tensor(value) then
    error(("%s: expected a tensor, got %s"):format(name, type(value)), 3)
  end
end

--- Converts a number such as 2.0 to an integer. Raises an error in the name of a function for other
--- values.
---@param name string
---@param what string name of the argument
---@param value any
---@return integer
function M.integer(name, what, value)
  local number = math.type(value) and math.tointeger(value)
  if not number then
    error(("%s: expected an integer as %s, got %s"):format(name, what, format.value(value)), 3)
  end
  return number
end

return M
