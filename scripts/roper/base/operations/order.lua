--- Elements of tensors in another order.
local check = require "roper.base.operations.check"
local core = require "roper.core"

local M = {}

--- The elements in order along an axis, and where each of them was. Equal ones keep their order;
--- NaN counts as the largest number.
---
--- Errors: an axis that x does not have.
---
---     > values, places = roper.tensor{3, 1, 2}:sort()
---     > values
---     float32 [3]
---     1 2 3
---     > places
---     int32 [3]
---     2 3 1
---@param x tensor
---@param axis? integer = -1; from 1, or from the end where negative
---@param descending? boolean = false; the largest first
---@return tensor values of the shape of x
---@return tensor places int32, from 1, as `argsort` gives them
function M.sort(x, axis, descending)
  check.tensor("sort", x)
  local places = core.argsort(x, axis, descending)
  return x:gather(axis or -1, places), places
end

--- The largest elements along an axis, the largest first, and where they are. Of equal ones the
--- first come first; NaN counts as the largest number.
---
--- Errors: more than there are.
---
---     > values, places = roper.tensor{3, 1, 2}:topk(2)
---     > values
---     float32 [2]
---     3 2
---     > places
---     int32 [2]
---     1 3
---@param x tensor
---@param k integer how many
---@param axis? integer = -1; from 1, or from the end where negative
---@param largest? boolean = true; the smallest where false
---@return tensor values with k places on the axis
---@return tensor places int32, from 1
function M.topk(x, k, axis, largest)
  check.tensor("topk", x)
  axis, k = axis or -1, check.integer("topk", "k", k)
  local places = core.argsort(x, axis, largest ~= false)
  if k < 0 or k > x:size(axis) then
    error(("topk: expected k from 0 to %d, got %d"):format(x:size(axis), k), 2)
  end
  places = places:narrow(axis, 1, k)
  return x:gather(axis, places), places
end

--- The places of axes from the last to the first. Shares storage where x is packed.
---
--- Errors: an axis that x does not have, or that stands there twice.
---
---     > roper.tensor{{1, 2, 3}, {4, 5, 6}}:flip(2)
---     float32 [2, 3]
---     3 2 1
---     6 5 4
---@param x tensor
---@param axes integer|integer[] from 1, or from the end where negative
---@return tensor y of the shape of x
function M.flip(x, axes)
  check.tensor("flip", x)
  local shape, strides, offset, stride = x:shape(), {}, 0, 1
  for axis = #shape, 1, -1 do
    strides[axis], stride = stride, stride * shape[axis]
  end
  axes = type(axes) == "table" and axes or { check.integer("flip", "axis", axes) }
  for _, axis in ipairs(axes) do
    local places = x:size(axis)
    axis = axis < 0 and axis + #shape + 1 or axis
    if strides[axis] < 0 then
      error(("flip: axis %d stands there twice"):format(axis), 2)
    end
    offset = offset + strides[axis] * (places - 1)
    strides[axis] = -strides[axis]
  end
  return x:as_strided(shape, strides, x:count() > 0 and offset or 0)
end

--- The elements moved along an axis; what leaves at one end enters at the other.
---
--- Errors: an axis that x does not have; a shift that is no whole number.
---
---     > roper.tensor{1, 2, 3, 4}:roll(1)
---     float32 [4]
---     4 1 2 3
---@param x tensor
---@param shift integer by how many places; back where negative
---@param axis? integer from 1, or from the end where negative; by default x is read row by row
---@return tensor y of the shape of x
function M.roll(x, shift, axis)
  check.tensor("roll", x)
  shift = check.integer("roll", "shift", shift)
  if axis == nil then
    return M.roll(x:view { x:count() }, shift, 1):view(x:shape())
  end
  local size = x:size(axis)
  local moved = size > 0 and shift % size or 0
  return core.cat({ x:narrow(axis, size - moved + 1, moved), x:narrow(axis, 1, size - moved) },
    axis)
end

return M
