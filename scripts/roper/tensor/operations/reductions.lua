--- Variance, standard deviation, norm, product, any and all.
local arguments = require "roper.options.arguments"
local check = require "roper.tensor.operations.check"
local core = require "roper.core"

local M = {}

-- Integers as float64, other dtypes unchanged.
local function as_floats(x)
  return x:dtype() == "int32" and x:to "float64" or x
end

-- A float64 result in the dtype of x. Results are computed in float64, since squares of float32
-- underflow below 1e-23.
local function like(x, y)
  return x:dtype() == "float32" and y:to "float32" or y
end

-- What to divide numbers by before they are raised to the power p, so that neither the powers nor
-- their sum overflow or underflow: the largest magnitude. For squares it is a power of two, which
-- leaves the digits as they are, and 1 for common magnitudes.
local function scale_of(x, p, axis)
  if x:count() == 0 then
    return 1
  end
  local largest = x:abs():max(axis, true)
  local one = core.full(largest:shape(), 1, "float64")
  if p == 2 then
    return core.where(largest:gt(2 ^ 400), 2 ^ 600, core.where(largest:lt(2 ^ -400), 2 ^ -600, one))
  end
  return core.where(largest:gt(0) & largest:lt(math.huge), largest, one)
end

-- A reduction of float64. `reduce(x)` returns the result with size 1 on each reduced axis, and a
-- function from the gradient of the result to that of x. Derived by hand, it overflows only if the
-- gradient does.
local function reduction(x, axis, keep, reduce)
  local shape, slope
  return core.differentiable(function(values)
    local y
    y, slope = reduce(values)
    shape = y:shape()
    return y:sum(axis, keep) -- over one element
  end, function(dy)
    return slope(dy:view(shape))
  end)(x)
end

-- The scaled deviations from the mean, their variance, the scale, and the degrees of freedom.
-- Subtracting the mean of the deviations removes the rounding error of the mean: the variance of
-- equal numbers is exactly 0.
local function moments(x, axis, correction)
  local scale = scale_of(x, 2, axis)
  local deviation = x / scale
  deviation = deviation - deviation:mean(axis, true)
  deviation = deviation - deviation:mean(axis, true)
  local sum = deviation:square():sum(axis, true)
  local free = math.max(x:count() / math.max(sum:count(), 1) - (correction or 1), 0)
  return deviation, sum / free, scale, free
end

--- The variance over one or several axes, or of all elements. Integers give float64. NaN or
--- infinity if n is at most the correction.
---
---     Σ (xᵢ − mean)² / (n − correction)
---
--- Errors: an axis that x does not have; no elements.
---
---     > roper.tensor{1, 2, 3, 4}:var()
---     1.6667 (float32)
---     > roper.tensor{{1, 2}, {1, 4}}:var(2, false, 0)
---     float32 [2]
---     0.2500 2.2500
---@param x tensor
---@param axis? integer|integer[] negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@param correction? number = 1; 1 is Bessel's correction, 0 the mean square deviation
---@return tensor y without the axis, unless `keep` is true
function M.var(x, axis, keep, correction)
  check.reduction("var", x, axis, keep)
  arguments.check("var", "correction", "number?", correction)
  return like(x, reduction(x:to "float64", axis, keep, function(values)
    local deviation, variance, scale, free = moments(values, axis, correction)
    return variance * scale * scale, function(dy)
      return dy * (deviation * (2 / free) * scale)
    end
  end))
end

--- The standard deviation over one or several axes, or of all elements. Integers give float64. NaN
--- or infinity if n is at most the correction. The gradient is 0 if all elements are equal.
---
---     √(Σ (xᵢ − mean)² / (n − correction))
---
--- Errors: an axis that x does not have; no elements.
---
---     > roper.tensor{1, 2, 3, 4}:std()
---     1.291 (float32)
---@param x tensor
---@param axis? integer|integer[] negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@param correction? number = 1; 1 is Bessel's correction, 0 the root mean square deviation
---@return tensor y without the axis, unless `keep` is true
function M.std(x, axis, keep, correction)
  check.reduction("std", x, axis, keep)
  arguments.check("std", "correction", "number?", correction)
  return like(x, reduction(x:to "float64", axis, keep, function(values)
    local deviation, variance, scale, free = moments(values, axis, correction)
    local y = variance:sqrt()
    return y * scale, function(dy)
      return core.where(y:eq(0), 0, dy * (deviation / y) / free)
    end
  end))
end

--- The p-norm over one or several axes, or of all elements. Integers give float64. The gradient of
--- a norm of 0 is 0.
---
---     (Σ |xᵢ|ᵖ)^(1/p), and max |xᵢ| for p = math.huge
---
--- Errors: a p below 1; an axis that x does not have.
---
---     > roper.tensor{3, -4}:norm()
---     5 (float32)
---     > roper.tensor{3, -4}:norm(1)
---     7 (float32)
---@param x tensor
---@param p? number = 2; at least 1
---@param axis? integer|integer[] negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@return tensor y without the axis, unless `keep` is true
function M.norm(x, p, axis, keep)
  check.reduction("norm", x, axis, keep)
  p = p == nil and 2 or p
  if math.type(p) == nil or p ~= p or p < 1 then
    error(("norm: p: expected a number of at least 1, got %s"):format(tostring(p)), 2)
  end
  if p == math.huge then
    return as_floats(x):abs():max(axis, keep)
  elseif p == 1 then
    return as_floats(x):abs():sum(axis, keep)
  end
  return like(x, reduction(x:to "float64", axis, keep, function(values)
    local scale = scale_of(values, p, axis)
    local size = values:abs() / scale
    local sum = (p == 2 and size:square() or size ^ p):sum(axis, true)
    local y = p == 2 and sum:sqrt() or sum ^ (1 / p)
    return y * scale, function(dy)
      return core.where(y:eq(0), 0, dy * values:sign() * (size / y) ^ (p - 1))
    end
  end))
end

-- The product along an axis, which is kept with size 1. The halves are multiplied with each
-- other, without divisions, so gradients are correct for elements that are 0 too.
local function product(x, axis)
  local size = x:size(axis)
  if size == 0 then
    return x:sum(axis, true) + 1 -- depends on x, for the gradient
  elseif size == 1 then
    return x:clone()
  end
  while size > 1 do
    local half = size // 2
    local y = x:narrow(axis, 1, half) * x:narrow(axis, half + 1, half)
    x = size % 2 == 0 and y or core.cat({ y, x:narrow(axis, size, 1) }, axis)
    size = size - half
  end
  return x
end

--- The product over an axis, or of all elements. Integers give float64.
---
--- Errors: an axis that x does not have.
---
---     > roper.tensor{{1, 2}, {3, 4}}:prod()
---     24 (float32)
---     > roper.tensor{{1, 2}, {3, 4}}:prod(1)
---     float32 [2]
---     3 8
---@param x tensor
---@param axis? integer negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@return tensor y without the axis, unless `keep` is true
function M.prod(x, axis, keep)
  check.tensor("prod", x)
  check.axis("prod", x, axis)
  check.flag("prod", "keep", keep)
  x = as_floats(x)
  local y = axis and product(x, axis) or product(x:view { x:count() }, 1)
  if not axis then
    local units = {}
    for i = 1, keep and x:rank() or 0 do
      units[i] = 1
    end
    return y:view(units)
  end
  return keep and y or y:squeeze(axis)
end

-- The mask, or without an axis a boolean.
local function decided(mask, axis)
  if axis == nil then
    return mask:item() ~= 0
  end
  return mask
end

--- Is any element not 0? Without an axis, returns a boolean that can be used in `if`. NaN is not 0.
---
--- Errors: an axis that x does not have.
---
---     > x = roper.tensor{{0, 2}, {0, 0}}
---     > x:any()
---     true
---     > x:any(2)
---     int32 [2], mask
---     1 0
---@param x tensor
---@param axis? integer|integer[] negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@return boolean|tensor yes a boolean, or with `axis` a mask without the axis
function M.any(x, axis, keep)
  check.reduction("any", x, axis, keep)
  return decided(core.ne(x, 0):sum(axis, keep):gt(0), axis)
end

--- Are all elements not 0? Without an axis, returns a boolean that can be used in `if`. NaN is not
--- 0.
---
--- Errors: an axis that x does not have.
---
---     > x = roper.tensor{{1, 2}, {0, 3}}
---     > x:gt(-1):all()
---     true
---     > x:all(1)
---     int32 [2], mask
---     0 1
---@param x tensor
---@param axis? integer|integer[] negative axes count from the end; by default all
---@param keep? boolean = false; keep the axis with size 1
---@return boolean|tensor yes a boolean, or with `axis` a mask without the axis
function M.all(x, axis, keep)
  check.reduction("all", x, axis, keep)
  return decided(core.eq(x, 0):sum(axis, keep):eq(0), axis)
end

return M
