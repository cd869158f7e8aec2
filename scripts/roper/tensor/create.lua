--- The functions stack, zeros_like and ones_like.
local check = require "roper.tensor.operations.check"
local core = require "roper.core"
local format = require "roper.text.format"
local tables = require "roper.base.tables"

local M = {}

--- Stacks tensors of the same shape along a new axis.
---
--- Errors: an empty list; different shapes or dtypes.
---
---     > roper.stack({roper.zeros{2}, roper.ones{2}}, 2)
---     float32 [2, 2]
---     0 1
---     0 1
---@param list tensor[]
---@param axis? integer = 1; the new axis of the result
---@return tensor y
function M.stack(list, axis)
  if type(list) ~= "table" or #list == 0 then
    error("stack: list: expected a list of tensors, got " .. (type(list) == "table"
      and "an empty one" or type(list)), 2)
  end
  for key in pairs(list) do
    if math.type(key) ~= "integer" then
      error(("stack: list: unknown field %s of a list"):format(tostring(key)), 2)
    end
  end
  for i = 1, #list do
    if not format.is_tensor(list[i]) then
      error(("stack: list: expected a tensor as element %d, got %s"):format(i, type(list[i])), 2)
    end
  end
  check.axis("stack", list[1], axis, list[1]:rank() + 1)
  axis = axis or 1
  return core.cat(tables.map(list, function(tensor) return tensor:unsqueeze(axis) end), axis)
end

-- y, converted to a mask if x is one.
local function as_mask_like(x, y)
  return x:is_mask() and y:ne(0) or y
end

--- Zeros with the shape and dtype of another tensor; a mask if x is one.
---
---     > roper.zeros_like(roper.tensor({{1, 2}}, "int32"))
---     int32 [1, 2]
---     0 0
---@param x tensor
---@return tensor y
function M.zeros_like(x)
  check.tensor("zeros_like", x)
  return as_mask_like(x, core.zeros(x:shape(), x:dtype()))
end

--- Ones with the shape and dtype of another tensor; a mask if x is one.
---
---     > roper.ones_like(roper.tensor{3, 4})
---     float32 [2]
---     1 1
---@param x tensor
---@return tensor y
function M.ones_like(x)
  check.tensor("ones_like", x)
  return as_mask_like(x, core.ones(x:shape(), x:dtype()))
end

return M
