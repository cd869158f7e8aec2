--- Clamping, tests for NaN and infinity, outer products and triangles.
local check = require "roper.tensor.operations.check"
local core = require "roper.core"
local format = require "roper.text.format"

local M = {}

--- Limits each element to the bounds low and high. The gradient is passed to elements that are not
--- changed. NaN stays NaN.
---
--- Errors: neither bound is given; a tensor as a bound whose shape or dtype does not match x.
---
---     > roper.tensor{-1, 0.5, 3}:clamp(0, 1)
---     float32 [3]
---     0.0000 0.5000 1.0000
---     > roper.tensor{-1, 0.5, 3}:clamp(nil, 1)
---     float32 [3]
---     -1.0000  0.5000  1.0000
---@param x tensor
---@param low? number|tensor
---@param high? number|tensor
---@return tensor y
function M.clamp(x, low, high)
  check.tensor("clamp", x)
  for what, bound in pairs { low = low, high = high } do
    if not math.type(bound) then
      check.tensor("clamp", bound, what)
    end
  end
  if low == nil and high == nil then
    error("clamp: expected a bound, got none", 2)
  end
  local y = low == nil and x or core.maximum(x, low)
  return high == nil and y or core.minimum(y, high)
end

--- 1 for each element that is NaN, else 0.
---
---     > roper.tensor{1, 0 / 0, math.huge}:isnan()
---     int32 [3], mask
---     0 1 0
---@param x tensor
---@return tensor mask int32, with the shape of x
function M.isnan(x)
  check.tensor("isnan", x)
  return core.ne(x, x)
end

--- 1 for each finite element, 0 for NaN and infinities.
---
---     > roper.tensor{1, 0 / 0, math.huge}:isfinite()
---     int32 [3], mask
---     1 0 0
---@param x tensor
---@return tensor mask int32, with the shape of x
function M.isfinite(x)
  check.tensor("isfinite", x)
  local values = x:detach()
  return core.eq(values - values, 0) -- inf - inf is NaN
end

--- 1 for each infinite element, else 0.
---
---     > roper.tensor{1, 0 / 0, -math.huge}:isinf()
---     int32 [3], mask
---     0 0 1
---@param x tensor
---@return tensor mask int32, with the shape of x
function M.isinf(x)
  check.tensor("isinf", x)
  return ~M.isfinite(x) & core.eq(x, x)
end

--- 1 for each element that is 0, else 0. For masks, ~x is the same.
---
---     > roper.tensor{0, 2}:logical_not()
---     int32 [2], mask
---     1 0
---@param x tensor
---@return tensor mask int32, with the shape of x
function M.logical_not(x)
  check.tensor("logical_not", x)
  return core.eq(x, 0)
end

--- The outer product of two vectors.
---
---     yᵢⱼ = aᵢ bⱼ
---
--- Errors: a tensor that does not have exactly one axis.
---
---     > roper.tensor{1, 2}:outer(roper.tensor{3, 4, 5})
---     float32 [2, 3]
---      3  4  5
---      6  8 10
---@param a tensor [m]
---@param b tensor [n]
---@return tensor y [m, n]
function M.outer(a, b)
  check.tensor("outer", a, "a")
  check.tensor("outer", b, "b")
  if a:rank() ~= 1 or b:rank() ~= 1 then
    error(("outer: expected two tensors with one axis, got %s and %s"):format(format.summary(a),
      format.summary(b)), 2)
  end
  return a:unsqueeze(2) * b
end

-- x with 0 for elements unless relation(column - diagonal, row) holds.
local function triangle(name, x, diagonal, relation)
  if x:rank() < 2 then
    error(("%s: expected at least two axes, got %d"):format(name, x:rank()), 3)
  end
  local rows, columns = x:size(-2), x:size(-1)
  local shift = math.max(-rows, math.min(columns, diagonal)) -- fits int32; larger have no effect
  local row = core.arange(0, rows, 1, "int32"):view { rows, 1 }
  local column = core.arange(-shift, columns - shift, 1, "int32")
  return core.where(relation(column, row), x, 0)
end

--- The lower triangles of matrices; elements above are 0.
---
--- Errors: fewer than two axes.
---
---     > roper.ones{2, 3}:tril()
---     float32 [2, 3]
---     1 0 0
---     1 1 0
---     > roper.ones{2, 3}:tril(1)
---     float32 [2, 3]
---     1 1 0
---     1 1 1
---@param x tensor [..., rows, columns]
---@param diagonal? integer = 0; the last diagonal to keep; positive ones are above the main one
---@return tensor y with the shape of x
function M.tril(x, diagonal)
  check.tensor("tril", x)
  diagonal = check.integer("tril", "diagonal", diagonal == nil and 0 or diagonal)
  return triangle("tril", x, diagonal, core.le)
end

--- The upper triangles of matrices; elements below are 0.
---
--- Errors: fewer than two axes.
---
---     > roper.ones{2, 3}:triu(1)
---     float32 [2, 3]
---     0 1 1
---     0 0 1
---@param x tensor [..., rows, columns]
---@param diagonal? integer = 0; the first diagonal to keep; positive ones are above the main one
---@return tensor y with the shape of x
function M.triu(x, diagonal)
  check.tensor("triu", x)
  diagonal = check.integer("triu", "diagonal", diagonal == nil and 0 or diagonal)
  return triangle("triu", x, diagonal, core.ge)
end

return M
