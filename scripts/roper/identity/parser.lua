--- The text of a side of an equation, read. It may hold whole numbers, names, calls such as
--- dot(x, y), the parts x[1] and x[2], parentheses, and + - * ^ as strong as they are in Lua. No
--- code runs, and whole numbers are added and multiplied without ever wrapping.
local quantity = require "roper.identity.quantity"

local M = {}

local DEEPEST <const> = 100 -- parentheses and signs inside each other
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

-- a operator b.
local function operate(operator, a, b)
  if type(a) ~= "number" or type(b) ~= "number" then
    return OPERATIONS[operator](a, b)
  end
  return whole(OPERATIONS[operator](a + 0.0, b + 0.0), ("%d %s %d"):format(a, operator, b))
end

local Parser = {}
Parser.__index = Parser

-- Go to the next token: a number and what sticks to it, a name, a sign, or "" at the end. Two minus
-- signs are none: one would read a comment in them, another a plus.
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

-- Is it the token? Then go on behind it.
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

-- What f(self) reads, inside of something.
function Parser:inside(f)
  self.depth = self.depth + 1
  if self.depth > DEEPEST then
    error(("more than %d parentheses or signs inside each other"):format(DEEPEST), 0)
  end
  local value = f(self)
  self.depth = self.depth - 1
  return value
end

-- f(a, b)
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

-- A number, a name, a call, or what stands in parentheses.
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

-- x^2, also with a sign in the exponent
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

-- A reader of operands with one of two operators between them, from left to right.
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

--- Read a side.
---@param text string
---@param lookup fun(name: string): any what a name stands for
---@return any value of the operations in it
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
