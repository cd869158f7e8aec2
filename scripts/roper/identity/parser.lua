--- Parses a side of an equation. It can contain whole numbers, names, calls such as dot(x, y), the
--- parts x[1] and x[2], parentheses, and + - * ^ with the precedence they have in Lua. No code is
--- run, and whole numbers never wrap around.
local quantity = require "roper.identity.quantity"

local M = {}

local DEEPEST <const> = 100 -- nesting depth of parentheses and signs
local TOO_LARGE <const> = 2.0 ^ 53 -- whole numbers below this are exact as floats

local OPERATIONS <const> = {
  ["+"] = function(a, b) return a + b end,
  ["-"] = function(a, b) return a - b end,
  ["*"] = function(a, b) return a * b end,
  ["/"] = function(a, b) return a / b end,
  ["^"] = function(a, b) return a ^ b end,
}

local function whole(number, text)
  local is_exact = math.abs(number) < TOO_LARGE
  if not is_exact then
    error(text .. ": expected whole numbers below 2^53", 0)
  end
  return math.tointeger(number) or error(("expected a whole number, got %s"):format(text), 0)
end

-- Applies an operator, checking the results of whole numbers.
local function operate(operator, a, b)
  if type(a) ~= "number" or type(b) ~= "number" then
    return OPERATIONS[operator](a, b)
  end
  return whole(OPERATIONS[operator](a + 0.0, b + 0.0), ("%d %s %d"):format(a, operator, b))
end

local Parser = {}
Parser.__index = Parser

-- Advances to the next token: a number with adjacent letters, a name, a sign, or "" at the end.
-- "--" is a single, invalid token, because it could be taken for a comment or for a plus.
function Parser:advance()
  self.at = self.text:find("%S", self.at) or #self.text + 1
  self.token = self.text:match("^%d[%w_.]*", self.at) or self.text:match("^[%a_][%w_]*", self.at)
    or self.text:match("^%-%-", self.at) or self.text:match("^" .. utf8.charpattern, self.at)
    or self.text:sub(self.at, self.at)
  self.at = self.at + #self.token
end

function Parser:refuse()
  error(self.token == "" and "unexpected end" or ("unexpected '%s'"):format(self.token), 0)
end

-- If this is the current token, skips it and returns true.
function Parser:take(token)
  if self.token == token then
    self:advance()
    return true
  end
  return false
end

function Parser:expect(token)
  if not self:take(token) then
    self:refuse()
  end
end

-- Returns what f(self) parses one level deeper.
function Parser:inside(f)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then
    error(("expected at most %d nested parentheses or signs, got more"):format(DEEPEST), 0)
  end
  local value = f(self)
  self.depth = self.depth - 1
  return value
end

-- Parses the arguments of f(a, b) and calls f.
function Parser:call(f)
  local arguments = {}
  if not self:take ")" then
    repeat
      arguments[#arguments + 1] = self:inside(self.sum)
    until not self:take ","
    self:expect ")"
  end
  return f(table.unpack(arguments))
end

function Parser:number()
  local token = self.token
  self:advance()
  if token:find "%D" then
    error("expected a whole number, got " .. token, 0)
  end
  return whole(tonumber(token) + 0.0, token)
end

-- A number, a name, a call, or an expression in parentheses.
function Parser:primary()
  if self.token:find "^%d" then
    return self:number()
  elseif self.token:find "^[%a_]" then
    local value = self.lookup(self.token)
    self:advance()
    if type(value) == "function" then
      self:expect "("
      return self:call(value)
    end
    return value
  end
  self:expect "("
  local value = self:inside(self.sum)
  self:expect ")"
  return value
end

-- x[1]
function Parser:part()
  local value = self:primary()
  while self:take "[" do
    local key = self.token:find "^%d" and self:number() or self:refuse()
    value = type(value) == "table" and value[key]
      or error(("%s has no [%d]"):format(quantity.describe(value), key), 0)
    self:expect "]"
  end
  return value
end

-- x^2; the exponent can have a sign
function Parser:power()
  local value = self:part()
  if self:take "^" then
    return operate("^", value, self:inside(self.signed))
  end
  return value
end

function Parser:signed()
  if self:take "-" then
    local value = self:inside(self.signed)
    return -value
  end
  return self:power()
end

-- Returns a parser of operands joined by one of two operators, which group from the left.
local function chain(operand, first, second)
  return function(self)
    local value = operand(self)
    while self.token == first or self.token == second do
      local operator = self.token
      self:advance()
      value = operate(operator, value, operand(self))
    end
    return value
  end
end

Parser.product = chain(Parser.signed, "*", "/")
Parser.sum = chain(Parser.product, "+", "-")

--- Parses and evaluates a side.
---@param text string
---@param lookup fun(name: string): any returns the value of a name
---@return any value
function M.read(text, lookup)
  local parser = setmetatable({ text = text, at = 1, depth = 0, lookup = lookup }, Parser)
  parser:advance()
  local value = parser:sum()
  if parser.token ~= "" then
    parser:refuse()
  end
  return value
end

return M
