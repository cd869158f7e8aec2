--- Scale of the sums in each element of a side, used to judge rounding: the value of the side with
--- all numbers replaced by absolute values, and all cosines and sines by 1.
local core = require "roper.core"
local tensors = require "roper.identity.tensors"

local M = {}

local Sizes = setmetatable({}, { __index = tensors.Tensors })
Sizes.__index = Sizes

--- Creates an algebra of scales, which are float64 tensors.
---@param shape table terms, width
---@param values table maps a name to a tensor
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
