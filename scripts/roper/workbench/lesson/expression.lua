--- Recognizes expressions of numbers, which can be evaluated wherever they come from: they call
--- only functions of `math` and end at once. `quiz/expression.mjs` evaluates the same on pages.
local tables = require "roper.base.tables"

local M = {}

local MATH <const> = tables.set { "abs", "ceil", "floor", "sqrt", "sin", "cos", "tan", "asin",
  "acos", "atan", "exp", "max", "min", "log", "deg", "rad", "fmod", "pi", "huge" }
local WORDS <const> = tables.set { "and", "or", "not", "true", "false" }
local NUMBERS <const> = { "^0[xX]%x+()", "^%d+%.?%d*[eE][+-]?%d+()", "^%d+%.?%d*()", "^%.%d+()" }
local OPERATORS <const> = { "^//()", "^[=~<>]=()", "^[-+*/%%^()<>,]()" }

local function first_match(text, patterns, at)
  for _, pattern in ipairs(patterns) do
    local after = text:match(pattern, at)
    if after then
      return after
    end
  end
end

--- Is a text an expression of numbers, or at least nothing that can do more? It may still fail.
---@param source string
---@param names table<string, any> the names of numbers that it can use
---@return boolean
function M.is_plain(source, names)
  local at = 1
  if source:find "%-%-" or source:find "[<>][<>]" then
    return false -- a comment, or an operator of bits
  end
  while true do
    at = source:match("^%s*()", at)
    if at > #source then
      return true
    end
    local after = first_match(source, NUMBERS, at)
    local name, behind = source:match("^([%a_][%w_.]*)()", at)
    if after and source:find("^[%w_.]", after) then
      return false
    elseif name and not (WORDS[name] or names[name] or MATH[name:match "^math%.(%w+)$"]) then
      return false
    end
    at = after or behind or first_match(source, OPERATORS, at)
    if not at then
      return false
    end
  end
end

return M
