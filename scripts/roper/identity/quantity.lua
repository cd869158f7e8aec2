--- What the two sides of an identity are written with: numbers, vectors, matrices and positions
--- that add, multiply and turn, whatever stands behind them. An algebra (grids over a ring, or
--- tensors) does the work; here is checked that it makes sense.
local angles = require "roper.identity.angle"

local M = {}

local Quantity = {}
Quantity.__name = "quantity"

local NAMES <const> = { number = "a number", pairs = "a number for each pair",
  vector = "a vector", row = "a row", matrix = "a matrix" }

-- The kind of x * y by the kinds of both; matrix products are those of CONTRACTS.
local PRODUCTS <const> = {
  number = { number = "number", pairs = "pairs", vector = "vector", row = "row",
    matrix = "matrix" },
  pairs = { number = "pairs", pairs = "pairs", vector = "vector" },
  vector = { number = "vector", pairs = "vector", vector = "vector", row = "matrix" },
  row = { number = "row", row = "row", vector = "number", matrix = "row" },
  matrix = { number = "matrix", vector = "vector", matrix = "matrix" },
}
local CONTRACTS <const> = {
  row = { vector = true, matrix = true },
  matrix = { vector = true, matrix = true },
}
local TRANSPOSED <const> = { number = "number", vector = "row", row = "vector",
  matrix = "matrix" }

local function new(algebra, kind, is_many, data)
  return setmetatable({ algebra = algebra, kind = kind, is_many = is_many, data = data }, Quantity)
end

--- What a value is, for messages.
---@param value any
---@return string
function M.describe(value)
  if getmetatable(value) == Quantity then
    return NAMES[value.kind]
  end
  return angles.is(value) and "a position" or "a " .. type(value)
end

local function is_quantity(value)
  return getmetatable(value) == Quantity
end

-- A number as a quantity of an algebra; quantities as they are.
local function lift(algebra, value, what)
  if is_quantity(value) then
    return value
  end
  local whole = type(value) == "number" and math.tointeger(value)
  if not whole then
    local got = type(value) == "number" and tostring(value) or M.describe(value)
    error(("%s: expected a quantity or a whole number, got %s"):format(what, got), 0)
  end
  return new(algebra, "number", false, algebra:number(whole))
end

--- A number as a quantity, a quantity as it is.
---@param algebra table
---@param value any
---@return table
function M.lift(algebra, value)
  return lift(algebra, value, "a side of an identity")
end

local function operands(x, y, what)
  local algebra = is_quantity(x) and x.algebra or y.algebra
  return lift(algebra, x, what), lift(algebra, y, what), algebra
end

local function refuse(what, x, y)
  error(("cannot %s %s and %s"):format(what, NAMES[x.kind], NAMES[y.kind]), 0)
end

function Quantity.__add(a, b)
  local x, y, algebra = operands(a, b, "+")
  local kind = x.kind
  if kind == "number" and y.kind == "pairs" then
    kind = "pairs"
  elseif kind ~= y.kind and not (kind == "pairs" and y.kind == "number") then
    refuse("add", x, y)
  end
  return new(algebra, kind, x.is_many or y.is_many, algebra:add(x.data, y.data))
end

function Quantity.__unm(x)
  return new(x.algebra, x.kind, x.is_many, x.algebra:negate(x.data))
end

function Quantity.__sub(a, b)
  local x, y = operands(a, b, "-")
  return x + -y
end

function Quantity.__mul(a, b)
  local x, y, algebra = operands(a, b, "*")
  local kind = PRODUCTS[x.kind][y.kind]
  if not kind then
    refuse("multiply", x, y)
  end
  local contracts = CONTRACTS[x.kind] and CONTRACTS[x.kind][y.kind]
  local data = contracts and algebra:contract(x.data, y.data) or algebra:multiply(x.data, y.data)
  return new(algebra, kind, x.is_many or y.is_many, data)
end

function Quantity.__pow(x, exponent)
  local count = type(exponent) == "number" and math.tointeger(exponent)
  if not count or count < 1 or count > 64 then
    error("^: expected a whole number from 1 to 64 as exponent, got " .. tostring(exponent), 0)
  end
  local result = x
  for _ = 2, count do
    result = result * x
  end
  return result
end

function Quantity.__div()
  error("an identity has no division: multiply both sides by the divisor", 0)
end

-- x[1] and x[2]: the members of the pairs of a vector.
function Quantity.__index(x, key)
  if rawget(x, "kind") ~= "vector" or (key ~= 1 and key ~= 2) then
    error(("%s has no [%s]; a vector has [1] and [2], the members of its pairs"):format(
      NAMES[rawget(x, "kind")], tostring(key)), 0)
  end
  return new(x.algebra, "pairs", x.is_many, x.algebra:part(x.data, key))
end

local function check_vector(name, value)
  if not is_quantity(value) or value.kind ~= "vector" then
    error(("%s: expected a vector, got %s"):format(name, M.describe(value)), 0)
  end
  return value
end

local function check_position(name, value)
  local position = angles.lift(value)
  if not position then
    local got = type(value) == "number" and value or M.describe(value)
    error(("%s: expected a position or a whole number, got %s"):format(name, got), 0)
  end
  return position
end

--- The functions that both sides may use, over an algebra.
---@param algebra table
---@return table<string, function>
function M.functions(algebra)
  local F = {}

  function F.cos(m)
    local position = check_position("cos", m)
    return new(algebra, "pairs", position.is_many, (algebra:turn(position)))
  end

  function F.sin(m)
    local position = check_position("sin", m)
    return new(algebra, "pairs", position.is_many, (select(2, algebra:turn(position))))
  end

  function F.rotate(x, m)
    local vector, position = check_vector("rotate", x), check_position("rotate", m)
    return new(algebra, "vector", vector.is_many or position.is_many,
      algebra:rotate(vector.data, position))
  end

  function F.unrotate(x, m)
    return F.rotate(x, -check_position("unrotate", m))
  end

  function F.rotation(m)
    local position = check_position("rotation", m)
    return new(algebra, "matrix", position.is_many, algebra:rotation(position))
  end

  function F.pair(first, second)
    local x, y = lift(algebra, first, "pair"), lift(algebra, second, "pair")
    for _, member in ipairs { x, y } do
      if member.kind ~= "pairs" and member.kind ~= "number" then
        error("pair: expected two numbers, got " .. NAMES[member.kind], 0)
      end
    end
    return new(algebra, "vector", x.is_many or y.is_many, algebra:join(x.data, y.data))
  end

  function F.transpose(x)
    local kind = is_quantity(x) and TRANSPOSED[x.kind]
    if not kind then
      error("transpose: expected a vector or a matrix, got " .. M.describe(x), 0)
    end
    return new(algebra, kind, x.is_many, algebra:transpose(x.data))
  end

  function F.dot(x, y)
    return F.transpose(check_vector("dot", x)) * check_vector("dot", y)
  end

  function F.sum(x)
    if not is_quantity(x) then
      error("sum: expected a quantity that each term has, got " .. M.describe(x), 0)
    elseif not x.is_many then
      error(("sum: %s is the same in each term; declare one of its parts with a plural, such as "
        .. "\"vectors\""):format(NAMES[x.kind]), 0)
    end
    return new(algebra, x.kind, false, algebra:sum(x.data, algebra.values.terms))
  end

  return F
end

--- A given quantity.
---@param algebra table
---@param name string
---@param kind "number"|"vector"|"matrix"
---@param is_many boolean
---@return table
function M.variable(algebra, name, kind, is_many)
  return new(algebra, kind, is_many, algebra:variable(name))
end

return M
