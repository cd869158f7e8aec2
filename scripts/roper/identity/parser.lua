--- Evaluates a side of an equation: a Lua expression of integers, names, calls such as
--- dot(x, y), the parts x[1] and x[2], and + - * ^. Only these tokens reach Lua's `load`, all
--- operators act on operands defined here, and integers never wrap around.
local quantity = require "roper.identity.quantity"
local tables = require "roper.base.tables"

local M = {}

local TOO_LARGE <const> = 2.0 ^ 53 -- integers below this are exact as floats

local OPERATORS <const> = {
  __add = { "+", function(a, b) return a + b end },
  __sub = { "-", function(a, b) return a - b end },
  __mul = { "*", function(a, b) return a * b end },
  __div = { "/", function(a, b) return a / b end },
  __pow = { "^", function(a, b) return a ^ b end },
}

local function whole(number, text)
  local is_exact = math.abs(number) < TOO_LARGE
  if not is_exact then
    error(text .. ": expected integers below 2^53", 0)
  end
  return math.tointeger(number) or error(("expected an integer, got %s"):format(text), 0)
end

-- A value in an expression: an integer, a quantity, a position or a function.
local Operand = {}

local function wrap(value)
  return setmetatable({ value }, Operand)
end

local function unwrap(operand)
  return rawget(operand, 1)
end

for event, operator in pairs(OPERATORS) do
  local sign, apply = table.unpack(operator)
  Operand[event] = function(left, right)
    local a, b = unwrap(left), unwrap(right)
    if type(a) == "function" or type(b) == "function" then
      error(("unexpected '%s'"):format(sign), 0)
    elseif type(a) ~= "number" or type(b) ~= "number" then
      return wrap(apply(a, b))
    end
    return wrap(whole(apply(a + 0.0, b + 0.0), ("%d %s %d"):format(a, sign, b)))
  end
end

function Operand.__unm(operand)
  local value = unwrap(operand)
  return wrap(type(value) ~= "function" and -value or error("unexpected '-'", 0))
end

function Operand.__index(operand, key)
  local value, index = unwrap(operand), unwrap(key)
  local is_number = type(index) == "number"
  return wrap(is_number and type(value) == "table" and value[index]
    or error(("%s has no [%s]"):format(quantity.describe(value),
      is_number and index or quantity.describe(index)), 0))
end

function Operand.__call(operand, ...)
  local f = unwrap(operand)
  if type(f) ~= "function" then
    error("unexpected '('", 0)
  end
  return wrap(f(table.unpack(tables.map({ ... }, unwrap))))
end

-- Raises an error for characters that are not allowed, comments, long strings, and //.
local function check_characters(text)
  local at = text:find "[^%w%s_.,()%[%]+*/^-]"
  local strange = at and (text:match("^" .. utf8.charpattern, at) or text:sub(at, at))
    or text:match "%-%-" or text:match "%[%[" or text:match "//"
  if strange then
    error(("unexpected '%s'"):format(strange), 0)
  end
end

-- Raises an error for a problem that `load` has found.
local function refuse(problem)
  local near = problem:match "near 'v?(.-)'$"
  error(near and ("unexpected '%s'"):format(near) or problem:find "<eof>" and "unexpected end"
    or problem:find "overflow" and "expected fewer nested parentheses or signs" or problem, 0)
end

--- Evaluates a side.
---@param text string
---@param lookup fun(name: string): any returns the value of a name
---@return any ... values, of which there should be one
function M.read(text, lookup)
  check_characters(text)
  local values = {}
  local code = text:gsub("[%w_.]+", function(word)
    local is_number = word:find "^%d"
    if is_number and word:find "%D" then
      error("expected an integer, got " .. word, 0)
    end
    local name = "v" .. word -- never a keyword
    values[name] = wrap(is_number and whole(tonumber(word) + 0.0, word) or lookup(word))
    return name
  end)
  local f, problem = load("return " .. code, "=", "t", values)
  return table.unpack(tables.map({ (f or refuse(problem))() }, unwrap))
end

return M
