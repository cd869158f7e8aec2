--- Checks of the tensors that options and the methods of a scheme supply.
local format = require "roper.text.format"

local M = {}

local function kind(value)
  return format.is_tensor(value) and format.summary(value) or type(value)
end

--- Returns a tensor. Raises an error unless it has a dtype, and broadcasts to a shape or has it.
---@param source string of the tensor, for the message
---@param y any
---@param dtype string
---@param sizes integer[] the shape
---@param whole? boolean must the tensor have this shape?
---@return tensor y
function M.tensor(source, y, dtype, sizes, whole)
  local ok = format.is_tensor(y) and y:dtype() == dtype and y:rank() <= #sizes
    and (not whole or y:rank() == #sizes)
  for axis = 1, ok and y:rank() or 0 do
    local size, expected = y:size(axis), sizes[#sizes - y:rank() + axis]
    ok = ok and (size == expected or size == 1 and not whole)
  end
  if not ok then
    error(("%s: expected %s %s[%s], got %s"):format(source, dtype,
      whole and "" or "that broadcasts to ", table.concat(sizes, ", "), kind(y)), 0)
  end
  return y
end

--- Raises an error unless a value is a tensor of keys or values.
---@param name string "k" or "v"
---@param x any
function M.heads(name, x)
  if not format.is_tensor(x) or x:rank() ~= 4 then
    error(("attention: %s: expected a tensor [batch, heads, time, features], got %s"):format(name,
      kind(x)), 0)
  end
end

--- Returns the result of a scheme's method, checked like `tensor`.
---@param scheme Scheme
---@param method string
---@param ... any as for `tensor`, without `source`
---@return tensor y
function M.result(scheme, method, ...)
  return M.tensor(("position: %s: %s"):format(scheme.name, method), ...)
end

-- Does a bias broadcast to the scores or, if it is indexed by distance, to the scores and an axis
-- of distances?
local function fits(c, dtype, sizes)
  local by_distance = type(c) == "table"
  local x = by_distance and c.bias or c
  if not format.is_tensor(x) or x:dtype() ~= dtype
    or by_distance and not (x:rank() == 5 and math.tointeger(c.first))
    or not by_distance and x:rank() > 4 then
    return false
  end
  local axes = math.min(x:rank(), 4)
  for axis = 1, axes do
    local size = x:size(axis)
    if size ~= 1 and size ~= sizes[4 - axes + axis] then
      return false
    end
  end
  return true
end

--- Returns a bias of a scheme. Raises an error unless it broadcasts to the scores or, if it is
--- indexed by distance, to the scores and an axis of distances.
---@param scheme Scheme
---@param c any
---@param dtype string
---@param sizes integer[] the shape of the scores
---@return BiasByDistance|tensor c
function M.bias(scheme, c, dtype, sizes)
  if not fits(c, dtype, sizes) then
    error(("position: %s: bias: expected %s that broadcasts to [%s], got %s"):format(scheme.name,
      dtype, table.concat(sizes, ", "), kind(c)), 0)
  end
  return c
end

return M
