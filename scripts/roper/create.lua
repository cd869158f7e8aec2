--- Tensors made from other functions.
local core = require "roper.core"
local format = require "roper.format"
local options = require "roper.options"

local M = {}

--- The unit matrix.
---
--- Errors: a number below 0, or no whole one.
---
---     > roper.eye(2)
---     float32 [2, 2]
---     1 0
---     0 1
---@param n integer
---@param dtype? "float32"|"float64"|"int32" = "float32"
---@return tensor I [n, n]
function M.eye(n, dtype)
  if math.type(n) ~= "integer" or n < 0 then
    error("eye: expected a whole number from 0 on, got " .. options.shown(n), 2)
  end
  local places = core.arange(0, n)
  return places:view { n, 1 }:eq(places:view { 1, n }):to(dtype or "float32")
end

--- Evenly spaced numbers, first and last included.
---
---     xᵢ = first + i (last − first) / (count − 1)
---
--- Errors: less than two numbers.
---
---     > roper.linspace(0, 1, 5)
---     float32 [5]
---     0.0000 0.2500 0.5000 0.7500 1.0000
---@param first number
---@param last number
---@param count integer at least 2
---@param dtype? "float32"|"float64"|"int32" = "float32"
---@return tensor x [count]
function M.linspace(first, last, count, dtype)
  if math.type(first) == nil or math.type(last) == nil then
    error(("linspace: expected two numbers, got %s and %s"):format(options.shown(first),
      options.shown(last)), 2)
  end
  if math.type(count) ~= "integer" or count < 2 then
    error("linspace: count: expected a whole number from 2 on, got " .. options.shown(count),
      2)
  end
  local steps = core.arange(0, count, 1, "float64")
  return (steps * ((last - first) / (count - 1)) + first):to(dtype or "float32")
end

--- Tensors of one shape side by side along a new axis.
---
--- Errors: an empty list, other shapes or dtypes.
---
---     > roper.stack({roper.zeros{2}, roper.ones{2}}, 2)
---     float32 [2, 2]
---     0 1
---     0 1
---@param list tensor[]
---@param axis? integer = 1; of the result
---@return tensor y
function M.stack(list, axis)
  if type(list) ~= "table" or #list == 0 then
    error("stack: expected a list of tensors, got " .. (type(list) == "table" and "an empty one"
      or type(list)), 2)
  end
  for key in pairs(list) do
    if math.type(key) ~= "integer" then
      error(("stack: unknown field %s of a list"):format(tostring(key)), 2)
    end
  end
  local parts = {}
  for i, tensor in ipairs(list) do
    if not format.is_tensor(tensor) then
      error(("stack: expected a tensor as number %d, got %s"):format(i, type(tensor)), 2)
    end
    parts[i] = tensor:unsqueeze(axis or 1)
  end
  return core.cat(parts, axis or 1)
end

return M
