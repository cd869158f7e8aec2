--- Vectors and matrices as tensors [terms, rows, columns], rotated by the library's kernels. A
--- check with this algebra covers the code that attention runs. A second algebra computes the scale
--- of their sums, by which rounding is judged.
local core = require "roper.core"
local position = require "roper.position"

local M = {}

local Tensors = {}
Tensors.__index = Tensors

--- Creates an algebra of tensors.
---@param dtype "float32"|"float64"
---@param shape table terms, width, base, pairing
---@param values table maps a name to a tensor, and a position to a list of numbers
---@return table algebra
function M.new(dtype, shape, values)
  local function rope(base)
    return position.rope { dim = shape.width, base = base, pairing = shape.pairing }
  end
  return setmetatable({ dtype = dtype, values = values, pairs = shape.width // 2,
    pairing = shape.pairing, rope = rope(shape.base), -- squaring the base squares each theta
    slow_rope = rope(shape.base ^ 2) }, Tensors)
end

function Tensors:variable(name)
  return self.values[name]
end

function Tensors:number(n)
  return core.full({ 1, 1, 1 }, n, self.dtype)
end

-- Gives both operands the same number of rows: if only one has a number for each pair, repeats
-- these for the second members of the pairs.
local function matched(x, y)
  local rows, others = x:size(2), y:size(2)
  if rows < others and rows > 1 then
    x = core.cat({ x, x }, 2)
  elseif others < rows and others > 1 then
    y = core.cat({ y, y }, 2)
  end
  return x, y
end

function Tensors.add(_, x, y)
  x, y = matched(x, y)
  return x + y
end

function Tensors.multiply(_, x, y)
  x, y = matched(x, y)
  return x * y
end

function Tensors.negate(_, x)
  return -x
end

function Tensors.contract(_, x, y)
  return x:matmul(y)
end

function Tensors.transpose(_, x)
  return x:transpose(2, 3)
end

function Tensors.sum(_, x)
  return x:sum(1):unsqueeze(1)
end

function Tensors:part(x, k)
  return x:narrow(2, (k - 1) * self.pairs + 1, self.pairs)
end

function Tensors:join(x, y)
  local terms = math.max(x:size(1), y:size(1))
  local shape = { terms, self.pairs, 1 }
  return core.cat({ x:expand(shape), y:expand(shape) }, 2)
end

-- Reorders an axis from "first members, then second members" to the order of the pairing, or back.
function Tensors:reorder(x, axis, is_back)
  if self.pairing == "half" then
    return x
  end
  local shape = x:shape()
  local split = { table.unpack(shape, 1, axis - 1) }
  local first, second = 2, self.pairs
  if is_back then
    first, second = second, first
  end
  split[#split + 1], split[#split + 2] = first, second
  table.move(shape, axis + 1, #shape, #split + 1, split)
  return x:contiguous():view(split):transpose(axis, axis + 1):contiguous():view(shape)
end

function Tensors:rotate(x, angle)
  local where, slowed, own = angle:values(self.values)
  local terms = math.max(x:size(1), #where)
  local rows = x:expand { terms, 2 * self.pairs, 1 }:contiguous():view { terms, 2 * self.pairs }
  local turned = self.rope:rotate(self:reorder(rows, 2), where[2] and where or where[1])
  if slowed then
    turned = self.slow_rope:rotate(turned, slowed[2] and slowed or slowed[1])
  end
  turned = self:reorder(turned, 2, true)
  if own then
    turned = core.rotate(turned:view { 1, 1, terms, -1 }, own:expand { terms, self.pairs }
      :contiguous():view { 1, 1, terms, -1 }):view { terms, -1 }
  end
  return turned:unsqueeze(3)
end

function Tensors:rotation(angle)
  local where, slowed, own = angle:values(self.values)
  local matrices, features = {}, 2 * self.pairs
  for i, p in ipairs(where) do
    local turn = self.rope:matrix(p)
    if slowed then
      turn = self.slow_rope:matrix(slowed[i]):matmul(turn)
    end
    local matrix = self:reorder(turn, 1, true)
    matrix = self:reorder(matrix, 2, true)
    if own then -- rotates each column
      local angles = own:narrow(1, own:size(1) > 1 and i or 1, 1):view { 1, 1, 1, -1 }
        :expand { 1, 1, features, self.pairs }:contiguous()
      matrix = core.rotate(matrix:transpose(1, 2):contiguous():view { 1, 1, features, features },
        angles):view { features, features }:transpose(1, 2)
    end
    matrices[i] = matrix:unsqueeze(1)
  end
  return core.cat(matrices, 1):to(self.dtype)
end

local Scales = setmetatable({}, { __index = Tensors })
Scales.__index = Scales

--- Creates an algebra of scales, in float64: values with all numbers replaced by absolute values,
--- and all cosines and sines by 1.
---@param shape table terms, width
---@param values table maps a name to a tensor
---@return table algebra
function M.scales(shape, values)
  return setmetatable({ dtype = "float64", values = values, terms = shape.terms,
    pairs = shape.width // 2 }, Scales)
end

function Scales:variable(name)
  return self.values[name]:abs()
end

function Scales.number(_, n)
  return core.full({ 1, 1, 1 }, math.abs(n + 0.0), "float64")
end

function Scales.negate(_, x)
  return x
end

function Scales:rotate(x, angle)
  local terms = math.max(x:size(1), angle.is_many and self.terms or 1)
  local both = (self:part(x, 1) + self:part(x, 2)):expand { terms, self.pairs, 1 }
  return self:join(both, both)
end

function Scales:rotation(angle)
  local one = core.eye(self.pairs, "float64")
  local rows = core.cat({ one, one }, 1)
  return core.cat({ rows, rows }, 2):unsqueeze(1)
    :expand { angle.is_many and self.terms or 1, 2 * self.pairs, 2 * self.pairs }
end

return M
