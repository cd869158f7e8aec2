--- The size of what is added up to each element of a side: what comes out where every number is
--- taken without its sign and every cosine and sine as 1. Rounding errors are in proportion to it.
local core = require "roper.core"
local tensors = require "roper.identity.tensors"

local M = {}

local Sizes = setmetatable({}, { __index = tensors.Tensors })
Sizes.__index = Sizes

--- The operations on sizes, tensors of float64.
---@param shape table terms, width
---@param values table name to a tensor
---@return table algebra
function M.new(shape, values)
  return setmetatable({ dtype = "float64", values = values, terms = shape.terms,
    pairs = shape.width // 2 }, Sizes)
end

function Sizes:variable(name)
  return self.values[name]:abs()
end

function Sizes.number(_, n)
  return core.full({ 1, 1, 1 }, math.abs(n + 0.0), "float64")
end

function Sizes.negate(_, x)
  return x
end

function Sizes:rotate(x, angle)
  local terms = math.max(x:size(1), angle.is_many and self.terms or 1)
  local both = (self:part(x, 1) + self:part(x, 2)):expand { terms, self.pairs, 1 }
  return self:join(both, both)
end

function Sizes:rotation(angle)
  local one = core.eye(self.pairs, "float64")
  local rows = core.cat({ one, one }, 1)
  return core.cat({ rows, rows }, 2):unsqueeze(1)
    :expand { angle.is_many and self.terms or 1, 2 * self.pairs, 2 * self.pairs }
end

return M
