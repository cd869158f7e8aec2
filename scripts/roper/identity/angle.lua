--- Positions in an identity: sums of whole multiples of named positions and of 1, such as i - n or
--- 2 * m + 1.
local M = {}

local Angle = {}
Angle.__index = Angle
Angle.__name = "position"

--- Is it a position?
---@param value any
---@return boolean
function M.is(value)
  return getmetatable(value) == Angle
end

local function new(multiples, constant, is_many)
  return setmetatable({ multiples = multiples, constant = constant, is_many = is_many }, Angle)
end

--- A position of its own.
---@param name string
---@param is_many boolean one for each term of a sum
---@return table
function M.new(name, is_many)
  return new({ [name] = 1 }, 0, is_many)
end

-- A whole number as a position.
local function lift(value)
  if M.is(value) then
    return value
  end
  local whole = type(value) == "number" and math.tointeger(value)
  if not whole then
    local metatable = getmetatable(value)
    local got = type(value) == "number" and value or metatable and metatable.__name or type(value)
    error("a position adds to positions and whole numbers, got " .. tostring(got), 0)
  end
  return new({}, whole, false)
end

--- A position or a whole number as a position.
---@param value any
---@return table? nil where it is neither
function M.lift(value)
  local ok, angle = pcall(lift, value)
  return ok and angle or nil
end

local function combine(a, b, sign)
  a, b = lift(a), lift(b)
  local multiples = {}
  for name, multiple in pairs(a.multiples) do
    multiples[name] = multiple
  end
  for name, multiple in pairs(b.multiples) do
    local sum = (multiples[name] or 0) + sign * multiple
    multiples[name] = sum ~= 0 and sum or nil
  end
  return new(multiples, a.constant + sign * b.constant, a.is_many or b.is_many)
end

function Angle.__add(a, b)
  return combine(a, b, 1)
end

function Angle.__sub(a, b)
  return combine(a, b, -1)
end

function Angle.__mul(a, b)
  local angle, factor = a, b
  if not M.is(a) then
    angle, factor = b, a
  end
  local whole = type(factor) == "number" and math.tointeger(factor)
  if not whole then
    error("a position is multiplied by whole numbers only", 0)
  end
  local multiples = {}
  for name, multiple in pairs(angle.multiples) do
    multiples[name] = whole ~= 0 and multiple * whole or nil
  end
  return new(multiples, angle.constant * whole, angle.is_many)
end

function Angle.__unm(a)
  return a * -1
end

--- Its named positions, sorted, and their multiples; the constant goes by the name 1.
---@return {[1]: string|integer, [2]: integer}[]
function Angle:parts()
  local list = {}
  for name, multiple in pairs(self.multiples) do
    list[#list + 1] = { name, multiple }
  end
  table.sort(list, function(a, b) return a[1] < b[1] end)
  if self.constant ~= 0 then
    list[#list + 1] = { 1, self.constant }
  end
  return list
end

--- Its value where the named positions have values.
---@param values table name to a number, or to a list of them, one for each term
---@return number|number[]
function Angle:value(values)
  local function at(term)
    local sum = self.constant
    for name, multiple in pairs(self.multiples) do
      local value = values[name]
      sum = sum + multiple * (type(value) == "table" and value[term] or value)
    end
    return sum
  end
  if not self.is_many then
    return at(1)
  end
  local list = {}
  for term = 1, values.terms do
    list[term] = at(term)
  end
  return list
end

return M
