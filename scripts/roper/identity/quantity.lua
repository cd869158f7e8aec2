--- Symbolic quantities of an identity: numbers, vectors and matrices, which can be added,
--- multiplied and rotated. A quantity records the operation that created it and can be evaluated
--- over any algebra (grids over a ring, or tensors). The kinds of operands are checked here.
local angles = require "roper.identity.angle"
local counted = require("roper.base.escape").count

local M = {}

local Quantity = {}
Quantity.__name = "quantity"

local NAMES <const> = { number = "a number", pairs = "a number for each pair",
  vector = "a vector", row = "a row", matrix = "a matrix" }

-- The kind of x * y by the kinds of x and y. CONTRACTS lists the matrix products among them.
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

local function is_quantity(value)
  return getmetatable(value) == Quantity
end

-- Creates the result of an operation. `is_many` is true for a separate value in each term of a sum,
-- which any argument with such values causes.
local function new(kind, operation, ...)
  local quantity = { kind = kind, is_many = false, operation = operation, arguments = { ... },
    sums = 0.0, contractions = 0.0 }
  for _, argument in ipairs(quantity.arguments) do
    if is_quantity(argument) then
      quantity.sums = math.max(quantity.sums, argument.sums)
      quantity.contractions = math.max(quantity.contractions, argument.contractions)
    end
    quantity.is_many = quantity.is_many or type(argument) == "table" and argument.is_many
  end
  return setmetatable(quantity, Quantity)
end

--- Describes a value for messages.
function M.describe(value)
  if is_quantity(value) then
    return NAMES[value.kind]
  end
  return angles.is(value) and "a position" or "a " .. type(value)
end

-- Converts a number to a quantity; returns a quantity unchanged.
local function lift(value, what)
  if is_quantity(value) then
    return value
  end
  local whole = type(value) == "number" and math.tointeger(value)
  if not whole then
    local got = type(value) == "number" and tostring(value) or M.describe(value)
    error(("%s: expected a quantity or an integer, got %s"):format(what, got), 0)
  end
  return new("number", "number", whole)
end

--- Converts a number to a quantity; returns a quantity unchanged.
function M.lift(value)
  return lift(value, "a side of an identity")
end

local function refuse(what, x, y)
  error(("cannot %s %s and %s"):format(what, NAMES[x.kind], NAMES[y.kind]), 0)
end

function Quantity.__add(a, b)
  local x, y = lift(a, "+"), lift(b, "+")
  local kind = x.kind
  if kind == "number" and y.kind == "pairs" then
    kind = "pairs"
  elseif kind ~= y.kind and not (kind == "pairs" and y.kind == "number") then
    refuse("add", x, y)
  end
  return new(kind, "add", x, y)
end

function Quantity.__unm(x)
  return new(x.kind, "negate", x)
end

function Quantity.__sub(a, b)
  return lift(a, "-") + -lift(b, "-")
end

function Quantity.__mul(a, b)
  local x, y = lift(a, "*"), lift(b, "*")
  local kind = PRODUCTS[x.kind][y.kind]
  if not kind then
    refuse("multiply", x, y)
  end
  local contracts = CONTRACTS[x.kind] and CONTRACTS[x.kind][y.kind]
  local result = new(kind, contracts and "contract" or "multiply", x, y)
  result.sums = x.sums + y.sums -- the sums in both factors are multiplied with each other
  result.contractions = x.contractions + y.contractions + (contracts and 1 or 0)
  return result
end

function Quantity.__pow(x, exponent)
  local count = type(exponent) == "number" and math.tointeger(exponent)
  if not count or count < 1 or count > 64 then
    local got = type(exponent) == "number" and tostring(exponent) or M.describe(exponent)
    error("^: expected an integer from 1 to 64 as exponent, got " .. got, 0)
  end
  local result = lift(x, "^")
  for _ = 2, count do
    result = result * x
  end
  return result
end

function Quantity.__div()
  error("an identity has no division: multiply both sides by the divisor", 0)
end

-- Returns x[1] or x[2], the first or second members of the pairs of a vector.
function Quantity.__index(x, key)
  if rawget(x, "kind") ~= "vector" or (key ~= 1 and key ~= 2) then
    error(("%s has no [%s]; a vector has [1] and [2], the members of its pairs"):format(
      NAMES[rawget(x, "kind")], tostring(key)), 0)
  end
  return new("pairs", "part", x, key)
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
    error(("%s: expected a position or an integer, got %s"):format(name, got), 0)
  end
  return position
end

-- Returns the vector with (1, 0) in each pair, rotated.
local function turned(name, m)
  return new("vector", "rotate", new("vector", "join", lift(1), lift(0)), check_position(name, m))
end

local functions = {}

function functions.cos(m)
  return turned("cos", m)[1]
end

function functions.sin(m)
  return turned("sin", m)[2]
end

function functions.rotate(x, m)
  return new("vector", "rotate", check_vector("rotate", x), check_position("rotate", m))
end

function functions.unrotate(x, m)
  return functions.rotate(x, -check_position("unrotate", m))
end

function functions.rotation(m)
  return new("matrix", "rotation", check_position("rotation", m))
end

function functions.pair(first, second)
  local x, y = lift(first, "pair"), lift(second, "pair")
  for _, member in ipairs { x, y } do
    if member.kind ~= "pairs" and member.kind ~= "number" then
      error("pair: expected two numbers, got " .. NAMES[member.kind], 0)
    end
  end
  return new("vector", "join", x, y)
end

function functions.transpose(x)
  local kind = is_quantity(x) and TRANSPOSED[x.kind]
  if not kind then
    error("transpose: expected a vector or a matrix, got " .. M.describe(x), 0)
  end
  return new(kind, "transpose", x)
end

function functions.dot(x, y)
  return functions.transpose(check_vector("dot", x)) * check_vector("dot", y)
end

function functions.sum(x)
  if not is_quantity(x) then
    error("sum: expected a quantity that differs between terms, got " .. M.describe(x), 0)
  elseif not x.is_many then
    error(("sum: %s is the same in each term; declare one of its parts with a plural, such as "
      .. "\"vectors\""):format(NAMES[x.kind]), 0)
  end
  local result = new(x.kind, "sum", x)
  result.is_many, result.sums = false, x.sums + 1
  return result
end

--- The functions that the sides of an equation can use.
M.functions = {}

for name, f in pairs(functions) do
  local count = debug.getinfo(f, "u").nparams
  M.functions[name] = function(...)
    if select("#", ...) ~= count then
      error(("%s: expected %s, got %d"):format(name, counted(count, "argument"),
        select("#", ...)), 0)
    end
    return f(...)
  end
end

--- Creates a variable.
---@param name string
---@param kind "number"|"vector"|"matrix"
---@param is_many boolean
---@return table
function M.variable(name, kind, is_many)
  local result = new(kind, "variable", name)
  result.is_many = is_many
  return result
end

--- Evaluates a quantity over an algebra; `values` caches the quantities evaluated so far.
function M.evaluate(quantity, algebra, values)
  if not values[quantity] then
    local arguments = {}
    for i, argument in ipairs(quantity.arguments) do
      arguments[i] = is_quantity(argument) and M.evaluate(argument, algebra, values) or argument
    end
    values[quantity] = algebra[quantity.operation](algebra, table.unpack(arguments))
  end
  return values[quantity]
end

return M
