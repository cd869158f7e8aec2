--- The rings over which an identity is evaluated. A ring has `number` (converts an integer to an
--- element), `add`, `multiply`, `negate` and `angle`, which returns the cosine and sine of a sum of
--- integer multiples of angles, passed as a list of {angle, multiple}.
local M = {}

--- Lua's floating-point numbers, each with the scale of its sums, by which rounding errors are
--- judged. Angles are in radians.
M.real = {
  number = function(n) return { value = n + 0.0, size = math.abs(n + 0.0) } end,
  add = function(a, b) return { value = a.value + b.value, size = a.size + b.size } end,
  multiply = function(a, b) return { value = a.value * b.value, size = a.size * b.size } end,
  negate = function(a) return { value = -a.value, size = a.size } end,
  angle = function(parts)
    local sum = 0
    for _, part in ipairs(parts) do
      sum = sum + part[1] * part[2]
    end
    return { value = math.cos(sum), size = 1 }, { value = math.sin(sum), size = 1 }
  end,
}

--- The size of the field. It is prime, which makes division possible; below 2^31.5, so products fit
--- Lua's integers; and 3 modulo 4, so -1 is not a square.
M.PRIME = (1 << 31) - 1

local P <const> = M.PRIME

local function multiply(a, b)
  return a * b % P
end

-- Combines `count` equal values by squaring; `unit` is the result for none.
local function repeated(combine, unit, value, count)
  local result = unit
  while count > 0 do
    if count & 1 == 1 then
      result = combine(result, value)
    end
    value, count = combine(value, value), count >> 1
  end
  return result
end

--- Returns a point of the circle c^2 + s^2 = 1 over the field: c = (1 - t^2)/(1 + t^2),
--- s = 2t/(1 + t^2). The integers t from 0 to PRIME - 1 give all points except (-1, 0), each once.
---@param t integer
---@return integer[] point c, s
function M.point(t)
  local inverse = repeated(multiply, 1, (1 + t * t) % P, P - 2)
  return { (1 - t * t) % P * inverse % P, 2 * t % P * inverse % P }
end

-- Returns the point of the sum of two angles.
local function compose(a, b)
  return { (a[1] * b[1] - a[2] * b[2]) % P, (a[2] * b[1] + a[1] * b[2]) % P }
end

-- Returns the point of `count` times an angle; the count can be negative.
local function turns(point, count)
  point = count < 0 and { point[1], -point[2] } or point
  return repeated(compose, { 1, 0 }, point, math.abs(count))
end

--- Integers modulo PRIME. An angle is a point of the circle.
M.field = {
  number = function(n) return n % P end,
  add = function(a, b) return (a + b) % P end,
  multiply = multiply,
  negate = function(a) return -a % P end,
  angle = function(parts)
    local point = { 1, 0 }
    for _, part in ipairs(parts) do
      point = compose(point, turns(part[1], part[2]))
    end
    return point[1], point[2]
  end,
}

--- Bounds on polynomials in place of numbers. They are floats, which become infinite rather than
--- wrap around like integers.
---@class PolynomialSize
---@field degree number in the variables and in the cosines and sines of the angles
---@field turns number the largest number of cosines and sines in one term
---@field size number sum of the absolute values of the coefficients
M.measure = {
  variable = { degree = 1.0, turns = 0.0, size = 1.0 },
  number = function(n) return { degree = 0.0, turns = 0.0, size = math.abs(n + 0.0) } end,
  add = function(a, b)
    return { degree = math.max(a.degree, b.degree), turns = math.max(a.turns, b.turns),
      size = a.size + b.size }
  end,
  multiply = function(a, b)
    return { degree = a.degree + b.degree, turns = a.turns + b.turns, size = a.size * b.size }
  end,
  negate = function(a) return a end,
  angle = function(parts)
    local degree = 0.0
    for _, part in ipairs(parts) do
      degree = degree + math.abs(part[2])
    end
    local measure = { degree = degree, turns = 1.0, size = 1.0 }
    return measure, measure
  end,
}

return M
