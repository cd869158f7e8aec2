--- Positions in an identity: sums of whole multiples of named positions and of 1, such as i - n or
--- 2 * m + 1. Each turns by its multiple of theta, the speed of a pair; multiplied by theta once
--- more, as in (i - n) * theta, by one of theta^2.
local tables = require "roper.base.tables"

local M = {}

local Angle = {}
Angle.__index = Angle
Angle.__name = "position"

--- What the key of a part ends with if it was multiplied by theta.
M.SLOWED = "*theta"

--- Is it a position?
---@param value any
---@return boolean
function M.is(value)
  return getmetatable(value) == Angle
end

local MOST <const> = 1 << 31 -- times a position: the product of two of these still is an integer

-- multiples: key of a part (a name, or "1", and SLOWED) to a whole number, not 0.
local function new(multiples, is_many)
  for _, multiple in pairs(multiples) do
    if multiple > MOST or multiple < -MOST then
      error("a position is multiplied by 2^31 at most", 0)
    end
  end
  return setmetatable({ multiples = multiples, is_many = is_many }, Angle)
end

--- The speed of each pair, as a position.
M.THETA = new({ ["1" .. M.SLOWED] = 1 }, false)

--- A position of its own.
---@param name string
---@param is_many boolean one for each term of a sum
---@return table
function M.new(name, is_many)
  return new({ [name] = 1 }, is_many)
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
  return new({ ["1"] = whole ~= 0 and whole or nil }, false)
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
  local multiples = tables.merged(a.multiples)
  for key, multiple in pairs(b.multiples) do
    local sum = (multiples[key] or 0) + sign * multiple
    multiples[key] = sum ~= 0 and sum or nil
  end
  return new(multiples, a.is_many or b.is_many)
end

function Angle.__add(a, b)
  return combine(a, b, 1)
end

function Angle.__sub(a, b)
  return combine(a, b, -1)
end

-- A position times theta.
local function slowed(angle)
  local multiples = {}
  for key, multiple in pairs(angle.multiples) do
    if key:find(M.SLOWED, 1, true) then
      error("a position is multiplied by theta once at most", 0)
    end
    multiples[key .. M.SLOWED] = multiple
  end
  return new(multiples, angle.is_many)
end

function Angle.__mul(a, b)
  local angle, factor = a, b
  if not M.is(a) or a == M.THETA and M.is(b) then
    angle, factor = b, a
  end
  if factor == M.THETA then
    return slowed(angle)
  end
  local whole = type(factor) == "number" and math.tointeger(factor)
  if not whole then
    error("a position is multiplied by whole numbers and by theta only", 0)
  end
  local multiples = {}
  whole = math.max(-MOST - 1, math.min(whole, MOST + 1))
  for key, multiple in pairs(angle.multiples) do
    multiples[key] = whole ~= 0 and multiple * whole or nil
  end
  return new(multiples, angle.is_many)
end

function Angle.__unm(a)
  return a * -1
end

function Angle.__div()
  error("a position is multiplied by whole numbers and by theta only", 0)
end

Angle.__pow = Angle.__div

--- The keys of its parts, sorted, and their multiples.
---@return {[1]: string, [2]: integer}[]
function Angle:parts()
  return tables.map(tables.keys(self.multiples), function(key)
    return { key, self.multiples[key] }
  end)
end

--- The values of what is not multiplied by theta in it, and of what is, where the named positions
--- have values.
---@param values table name to a number, or to a list of them, one for each term
---@return number|number[] plain
---@return number|number[]? slowed nil where no part is
function Angle:values(values)
  local plain, with_theta, has_theta = {}, {}, false
  for term = 1, self.is_many and values.terms or 1 do
    plain[term], with_theta[term] = 0, 0
    for key, multiple in pairs(self.multiples) do
      local name, suffix = key:match "^([^*]+)(.*)$"
      local value = name == "1" and 1 or values[name]
      local list = suffix == M.SLOWED and with_theta or plain
      has_theta = has_theta or list == with_theta
      list[term] = list[term] + multiple * (type(value) == "table" and value[term] or value)
    end
  end
  if not self.is_many then
    plain, with_theta = plain[1], with_theta[1]
  end
  return plain, has_theta and with_theta or nil
end

return M
