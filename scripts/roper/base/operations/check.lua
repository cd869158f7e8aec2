--- What functions of tensors ask of their arguments.
local format = require "roper.base.format"

local M = {}

--- Raise in the name of a function where a value is no tensor.
---@param name string
---@param value any
function M.tensor(name, value)
  if not format.is_tensor(value) then
    error(("%s: expected a tensor, got %s"):format(name, type(value)), 3)
  end
end

--- A whole number, as an integer; raise in the name of a function where a value is none.
---@param name string
---@param what string what the number is
---@param value any
---@return integer
function M.integer(name, what, value)
  local number = math.type(value) and math.tointeger(value)
  if not number then
    error(("%s: expected a whole number as %s, got %s"):format(name, what, format.value(value)), 3)
  end
  return number
end

return M
