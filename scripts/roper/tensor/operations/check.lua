--- Argument checks for functions of tensors. Each raises an error in the name of a function.
local format = require "roper.text.format"

local M = {}

local LEVEL <const> = 3 -- of the caller of the function that checks its arguments

local function fail(name, what, expected, value, level)
  error(("%s: %s: expected %s, got %s"):format(name, what, expected, value), level + 1)
end

--- Checks that a value is a tensor.
---@param name string
---@param value any
---@param what? string = "x"; name of the argument
---@param level? integer = 3; stack level of the error
function M.tensor(name, value, what, level)
  if not format.is_tensor(value) then
    fail(name, what or "x", "a tensor", type(value), level or LEVEL)
  end
end

--- Converts a number such as 2.0 to an integer.
---@param name string
---@param what string name of the argument
---@param value any
---@return integer
function M.integer(name, what, value)
  local number = math.type(value) and math.tointeger(value)
  if not number then
    fail(name, what, "an integer", format.value(value), LEVEL)
  end
  return number
end

--- Checks that a value is a boolean or nil.
---@param name string
---@param what string name of the argument
---@param value any
---@param level? integer = 3; stack level of the error
function M.flag(name, what, value, level)
  if value ~= nil and type(value) ~= "boolean" then
    fail(name, what, "true or false", format.value(value), level or LEVEL)
  end
end

--- Checks that a value is an axis of a tensor or nil.
---@param name string
---@param x tensor
---@param axis any
---@param rank? integer number of axes, by default that of x
---@param level? integer = 3; stack level of the error
function M.axis(name, x, axis, rank, level)
  rank = rank or x:rank()
  local number = math.type(axis) and math.tointeger(axis)
  if axis ~= nil and (not number or number == 0 or math.abs(number) > rank) then
    fail(name, "axis", rank == 0 and "no axis of a scalar"
      or ("an axis from 1 to %d (or -1 to -%d)"):format(rank, rank), format.value(axis),
      level or LEVEL)
  end
end

--- Checks that a value is an axis of a tensor, a list of axes, or nil.
---@param name string
---@param x tensor
---@param axes any
---@param level? integer = 3; stack level of the error
function M.axes(name, x, axes, level)
  level = level or LEVEL
  local list = type(axes) == "table" and axes or { axes }
  if list == axes and #list == 0 then
    fail(name, "axis", "at least one axis", "{}", level)
  end
  for _, axis in ipairs(list) do
    M.axis(name, x, axis, nil, level + 1)
  end
end

--- Checks the arguments of a reduction.
---@param name string
---@param x any
---@param axes any
---@param keep any
function M.reduction(name, x, axes, keep)
  M.tensor(name, x, "x", LEVEL + 1)
  M.axes(name, x, axes, LEVEL + 1)
  M.flag(name, "keep", keep, LEVEL + 1)
end

return M
