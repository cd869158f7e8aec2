--- Positions in an identity: sums of integer multiples of named positions, of named angles and of
--- 1, such as i - n or 2 * m + 1. A position m rotates by m theta, where theta is the frequency of
--- a pair. Multiplied by theta once more, as in (i - n) * theta, it rotates by (i - n) theta^2. An
--- angle, such as one that a scheme trains, rotates each pair by a number of its own.
local tables = require "roper.base.tables"

local M = {}

local Angle = {}
Angle.__index = Angle
Angle.__name = "position"

--- Suffix of the keys of parts that are multiplied by theta.
M.SLOWED = "*theta"

--- Returns true if a value is a position.
function M.is(value)
  return getmetatable(value) == Angle
end

local MOST <const> = 1 << 31 -- largest multiple; the product of two still fits an integer

-- `multiples` maps the key of a part (a name or "1", optionally followed by SLOWED) to an integer
-- other than 0; `own` has the names that are angles.
local function new(multiples, is_many, own)
  for _, multiple in pairs(multiples) do
    if multiple > MOST or multiple < -MOST then
      error("a position can be multiplied by 2^31 at most", 0)
    end
  end
  return setmetatable({ multiples = multiples, is_many = is_many, own = own or {} }, Angle)
end

--- The frequency of each pair, as a position.
M.THETA = new({ ["1" .. M.SLOWED] = 1 }, false)

--- Creates a named position or angle.
---@param name string
---@param is_many boolean true for a separate value in each term of a sum
---@param is_angle boolean true for a value of its own in each pair
---@return table
function M.new(name, is_many, is_angle)
  return new({ [name] = 1 }, is_many, is_angle and { [name] = true })
end

--- Converts an integer to a position; returns a position unchanged.
---@param value any
---@return table? nil if it is neither
function M.lift(value)
  local whole = type(value) == "number" and math.tointeger(value)
  return M.is(value) and value
    or whole and new({ ["1"] = whole ~= 0 and whole or nil }, false) or nil
end

local function combine(first, second, sign)
  local a, b = M.lift(first), M.lift(second)
  if not a or not b then
    local value = a and second or first
    local metatable = getmetatable(value)
    local got = type(value) == "number" and value or metatable and metatable.__name or type(value)
    error("a position can only be added to positions and integers, got " .. tostring(got), 0)
  end
  local multiples = tables.merged(a.multiples)
  for key, multiple in pairs(b.multiples) do
    local sum = (multiples[key] or 0) + sign * multiple
    multiples[key] = sum ~= 0 and sum or nil
  end
  return new(multiples, a.is_many or b.is_many, tables.merged(a.own, b.own))
end

function Angle.__add(a, b)
  return combine(a, b, 1)
end

function Angle.__sub(a, b)
  return combine(a, b, -1)
end

-- Multiplies a position by theta.
local function slowed(angle)
  local multiples = {}
  for key, multiple in pairs(angle.multiples) do
    if key:find(M.SLOWED, 1, true) then
      error("a position can be multiplied by theta only once", 0)
    elseif angle.own[key] then
      error(("%s is an angle: it has a value for each pair, and only a position is multiplied by "
        .. "theta"):format(key), 0)
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
    error("a position can only be multiplied by integers and by theta", 0)
  end
  local multiples = {}
  whole = math.max(-MOST - 1, math.min(whole, MOST + 1))
  for key, multiple in pairs(angle.multiples) do
    multiples[key] = whole ~= 0 and multiple * whole or nil
  end
  return new(multiples, angle.is_many, angle.own)
end

function Angle.__unm(a)
  return a * -1
end

function Angle.__div()
  error("a position can only be multiplied by integers and by theta", 0)
end

Angle.__pow = Angle.__div

--- Returns the keys of the parts, sorted, with their multiples.
---@return {[1]: string, [2]: integer}[]
function Angle:parts()
  return tables.map(tables.keys(self.multiples), function(key)
    return { key, self.multiples[key] }
  end)
end

--- Evaluates the position: separately for the parts without theta, those multiplied by theta, and
--- angles.
---@param values table maps a position to a list of one number, or of one for each term, and an
---   angle to {tensor}, [1 or terms, pairs]
---@return number[] plain for each term, or one for all
---@return number[]? slowed likewise; nil if no part is multiplied by theta
---@return tensor? own the sum of the angles; nil if there are none
function Angle:values(values)
  local plain, with_theta, has_theta, own = {}, {}, false, nil
  local whole = {}
  for key, multiple in pairs(self.multiples) do
    if self.own[key] then
      local part = values[key][1] * multiple
      own = own and own + part or part
    else
      whole[key] = multiple
    end
  end
  for term = 1, self.is_many and values.terms or 1 do
    plain[term], with_theta[term] = 0, 0
    for key, multiple in pairs(whole) do
      local name, suffix = key:match "^([^*]+)(.*)$"
      local value = name == "1" and 1 or values[name][term] or values[name][1]
      local list = suffix == M.SLOWED and with_theta or plain
      has_theta = has_theta or list == with_theta
      list[term] = list[term] + multiple * value
    end
  end
  return plain, has_theta and with_theta or nil, own
end

return M
