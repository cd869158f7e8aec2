--- Sorting, top k, flip and roll.
local check = require "roper.tensor.operations.check"
local core = require "roper.core"

local M = {}

--- Sorts the elements along an axis, and returns their indices in x. Equal elements keep their
--- order; NaN counts as the largest number.
---
--- Errors: an axis that x does not have.
---
---     > values, indices = roper.tensor{3, 1, 2}:sort()
---     > values
---     float32 [3]
---     1 2 3
---     > indices
---     int32 [3]
---     2 3 1
---@param x tensor
---@param axis? integer = -1; negative axes count from the end
---@param descending? boolean = false; the largest first
---@return tensor values with the shape of x
---@return tensor indices int32, from 1, as returned by `argsort`
function M.sort(x, axis, descending)
  check.tensor("sort", x)
  check.axis("sort", x, axis)
  check.flag("sort", "descending", descending)
  local indices = core.argsort(x, axis, descending)
  return x:gather(axis or -1, indices), indices
end

--- The k largest elements along an axis, the largest first, and their indices. Equal elements keep
--- their order; NaN counts as the largest number.
---
--- Errors: k is larger than the size of the axis; an axis that x does not have.
---
---     > values, indices = roper.tensor{3, 1, 2}:topk(2)
---     > values
---     float32 [2]
---     3 2
---     > indices
---     int32 [2]
---     1 3
---@param x tensor
---@param k integer number of elements
---@param axis? integer = -1; negative axes count from the end
---@param largest? boolean = true; false for the smallest elements
---@return tensor values with size k on the axis
---@return tensor indices int32, from 1
function M.topk(x, k, axis, largest)
  check.tensor("topk", x)
  check.axis("topk", x, axis)
  check.flag("topk", "largest", largest)
  axis, k = axis or -1, check.integer("topk", "k", k)
  local indices = core.argsort(x, axis, largest ~= false)
  if k < 0 or k > x:size(axis) then
    error(("topk: k: expected an integer from 0 to %d, got %d"):format(x:size(axis), k), 2)
  end
  indices = indices:narrow(axis, 1, k)
  return x:gather(axis, indices), indices
end

--- Reverses the order of elements along axes.
---
--- Errors: an axis that x does not have; the same axis twice.
---
---     > roper.tensor{{1, 2, 3}, {4, 5, 6}}:flip(2)
---     float32 [2, 3]
---     3 2 1
---     6 5 4
---@param x tensor
---@param axes integer|integer[] negative axes count from the end
---@return tensor y with the shape of x
function M.flip(x, axes)
  check.tensor("flip", x)
  local shape, strides, offset, stride = x:shape(), {}, 0, 1
  for axis = #shape, 1, -1 do
    strides[axis], stride = stride, stride * shape[axis]
  end
  axes = type(axes) == "table" and axes or { check.integer("flip", "axes", axes) }
  for _, axis in ipairs(axes) do
    check.axis("flip", x, axis)
    local size = x:size(axis)
    axis = axis < 0 and axis + #shape + 1 or axis
    if strides[axis] < 0 then
      error(("flip: expected different axes, got axis %d twice"):format(axis), 2)
    end
    offset = offset + strides[axis] * (size - 1)
    strides[axis] = -strides[axis]
  end
  return x:as_strided(shape, strides, x:count() > 0 and offset or 0):clone()
end

--- Rolls the elements along an axis: those moved past one end reappear at the other.
---
--- Errors: an axis that x does not have; a shift that is not an integer.
---
---     > roper.tensor{1, 2, 3, 4}:roll(1)
---     float32 [4]
---     4 1 2 3
---@param x tensor
---@param shift integer number of indices; negative to move towards the start
---@param axis? integer negative axes count from the end; by default x is rolled as a flattened
---   vector
---@return tensor y with the shape of x
function M.roll(x, shift, axis)
  check.tensor("roll", x)
  shift = check.integer("roll", "shift", shift)
  check.axis("roll", x, axis)
  if axis == nil then
    return M.roll(x:view { x:count() }, shift, 1):view(x:shape())
  end
  local size = x:size(axis)
  local moved = size > 0 and shift % size or 0
  return core.cat({ x:narrow(axis, size - moved + 1, moved), x:narrow(axis, 1, size - moved) },
    axis)
end

return M
