--- Small vectors and matrices over a ring, for exact checks and counterexamples. A grid is a list
--- with `terms`, `rows` and `columns`; an axis that is shorter than that of the other operand is
--- repeated. A vector is a column: all first members of its pairs, then all second members.
local M = {}

local Grids = {}
Grids.__index = Grids

local function new(terms, rows, columns)
  return { terms = terms, rows = rows, columns = columns }
end

-- Returns the element at indices from 0, which wrap around.
local function at(x, term, row, column)
  return x[(term % x.terms * x.rows + row % x.rows) * x.columns + column % x.columns + 1]
end

-- Creates a grid from a function of the indices (term, row, column), from 0.
local function build(terms, rows, columns, element)
  local result = new(terms, rows, columns)
  for term = 0, terms - 1 do
    for row = 0, rows - 1 do
      for column = 0, columns - 1 do
        result[#result + 1] = element(term, row, column)
      end
    end
  end
  return result
end

local function combine(x, y, operation)
  return build(math.max(x.terms, y.terms), math.max(x.rows, y.rows),
    math.max(x.columns, y.columns), function(term, row, column)
      return operation(at(x, term, row, column), at(y, term, row, column))
    end)
end

--- Creates an algebra of grids over a ring.
---@param ring table from roper.identity.ring
---@param pairs integer number of pairs of a vector
---@param values table maps a name to a grid, and a position to {angle for each term and pair}
---@return table algebra
function M.new(ring, pairs, values)
  return setmetatable({ ring = ring, pairs = pairs, values = values }, Grids)
end

M.fill = build

function Grids:variable(name)
  return self.values[name]
end

function Grids:number(n)
  return build(1, 1, 1, function() return self.ring.number(n) end)
end

function Grids:add(x, y)
  return combine(x, y, self.ring.add)
end

function Grids:multiply(x, y)
  return combine(x, y, self.ring.multiply)
end

function Grids:negate(x)
  return combine(x, x, self.ring.negate)
end

-- Returns the sum of `count` elements.
function Grids:total(count, element)
  local sum = element(0)
  for i = 1, count - 1 do
    sum = self.ring.add(sum, element(i))
  end
  return sum
end

--- Returns the matrix product; x has as many columns as y has rows.
function Grids:contract(x, y)
  return build(math.max(x.terms, y.terms), x.rows, y.columns, function(term, row, column)
    return self:total(x.columns, function(i)
      return self.ring.multiply(at(x, term, row, i), at(y, term, i, column))
    end)
  end)
end

function Grids.transpose(_, x)
  return build(x.terms, x.columns, x.rows, function(term, row, column)
    return at(x, term, column, row)
  end)
end

--- Returns the sum over the terms.
function Grids:sum(x)
  return build(1, x.rows, x.columns, function(_, row, column)
    return self:total(self.values.terms, function(term) return at(x, term, row, column) end)
  end)
end

--- Returns the first or second members of the pairs of a vector.
function Grids:part(x, k)
  return build(x.terms, self.pairs, 1, function(term, row)
    return at(x, term, (k - 1) * self.pairs + row, 0)
  end)
end

--- Returns the vector with these members.
function Grids:join(x, y)
  return build(math.max(x.terms, y.terms), 2 * self.pairs, 1, function(term, row)
    return at(row < self.pairs and x or y, term, row % self.pairs, 0)
  end)
end

--- Returns the cosine and sine of a position's angle for each pair.
function Grids:turn(position)
  local parts, terms = position:parts(), position.is_many and self.values.terms or 1
  local c, s = new(terms, self.pairs, 1), new(terms, self.pairs, 1)
  for term = 1, terms do
    for pair = 1, self.pairs do
      local angles = {}
      for i, part in ipairs(parts) do
        local of_terms = self.values[part[1]]
        angles[i] = { (of_terms[term] or of_terms[1])[pair], part[2] }
      end
      c[#c + 1], s[#s + 1] = self.ring.angle(angles)
    end
  end
  return c, s
end

--- Returns R_p x, computed by its definition (RoFormer eq. 13).
function Grids:rotate(x, position)
  local c, s = self:turn(position)
  local first, second = self:part(x, 1), self:part(x, 2)
  return self:join(
    self:add(self:multiply(first, c), self:negate(self:multiply(second, s))),
    self:add(self:multiply(second, c), self:multiply(first, s)))
end

--- Returns the matrix R_p (RoFormer eq. 15).
function Grids:rotation(position)
  local c, s = self:turn(position)
  local zero = self.ring.number(0)
  return build(c.terms, 2 * self.pairs, 2 * self.pairs, function(term, row, column)
    if row % self.pairs ~= column % self.pairs then
      return zero
    elseif row == column then
      return at(c, term, row, 0)
    end
    local sine = at(s, term, row, 0)
    return row < column and self.ring.negate(sine) or sine
  end)
end

return M
