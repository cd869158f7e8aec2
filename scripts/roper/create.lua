--- Tensors made from other functions.
local core = require "roper.core"

local M = {}

--- The unit matrix.
-- @param n integer
-- @param dtype string? "float32" by default
-- @return tensor [n, n]
function M.eye(n, dtype)
  local places = core.arange(0, n)
  return places:view { n, 1 }:eq(places:view { 1, n }):to(dtype or "float32")
end

--- `count` numbers from `first` to `last`, both included, evenly spaced.
-- @param first number
-- @param last number
-- @param count integer at least 2
-- @param dtype string? "float32" by default
-- @return tensor [count]
function M.linspace(first, last, count, dtype)
  if math.type(count) ~= "integer" or count < 2 then
    error("linspace: count: expected a whole number from 2 on, got " .. tostring(count), 2)
  end
  local steps = core.arange(0, count, 1, "float64")
  return (steps * ((last - first) / (count - 1)) + first):to(dtype or "float32")
end

--- Tensors of one shape side by side along a new axis.
-- @param list tensor[]
-- @param axis integer? of the result; 1 by default
-- @return tensor
function M.stack(list, axis)
  local parts = {}
  for i, tensor in ipairs(list) do
    parts[i] = tensor:unsqueeze(axis or 1)
  end
  return core.cat(parts, axis or 1)
end

return M
