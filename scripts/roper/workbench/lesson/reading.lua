--- Reads answers to questions for a number as they are written at school: `0,5`, `cos 60°`,
--- `√2/2`, `45 degrees`. Each is translated to Lua. An answer that can mean two numbers has two
--- readings: `cos(60)` is of radians or of degrees. `quiz/reading.mjs` does the same on pages; one
--- table of cases tests both.
local tables = require "roper.base.tables"

local M = {}

-- Functions of one argument at school, and their names in Lua. After trigonometric functions, an
-- angle follows.
local ONE_ARGUMENT <const> = tables.set { "sqrt", "exp", "ln", "abs", "sin", "cos", "tan", "asin",
  "acos", "arcsin", "arccos", "arctan", "floor", "ceil" }
local OTHERS <const> = tables.set { "log", "atan", "max", "min", "deg", "rad", "fmod" }
local NAMES <const> = { ln = "log", arcsin = "asin", arccos = "acos", arctan = "atan" }
local OF_ANGLES <const> = tables.set { "sin", "cos", "tan" }
local TO_ANGLES <const> = tables.set { "asin", "acos", "atan", "arcsin", "arccos", "arctan" }

local SIGNS <const> = { ["−"] = "-", ["·"] = "*", ["×"] = "*", ["⋅"] = "*", ["÷"] = "/",
  ["√"] = "sqrt ", ["π"] = "pi", ["²"] = "^2", ["³"] = "^3", ["½"] = "(1/2)", ["\u{A0}"] = " " }

-- Words after a number, and what they mean.
local UNITS <const> = { ["°"] = "degrees", degree = "degrees", degrees = "degrees", deg = "degrees",
  radian = "radians", radians = "radians", rad = "radians", ["%"] = "percent" }

local PATTERNS <const> = { "^%s+", "^0[xX]%x+", "^%d+%.?%d*[eE][+-]?%d+", "^%d+%.?%d*", "^%.%d+",
  "^[%a_][%w_]*", "^" .. utf8.charpattern, "^." }

local function tokens_of(text)
  local list, at = {}, 1
  while at <= #text do
    for _, pattern in ipairs(PATTERNS) do
      local token = text:match(pattern, at)
      if token then
        list[#list + 1], at = token, at + #token
        break
      end
    end
  end
  return list
end

local function is_number(token)
  return token ~= nil and token:find "^%.?%d" ~= nil
end

local function is_space(token)
  return token ~= nil and token:find "^%s" ~= nil
end

-- The index of the bracket that closes the one at `from`, or nil.
local function closing(tokens, from, last)
  local depth = 0
  for i = from, last do
    depth = depth + (tokens[i] == "(" and 1 or tokens[i] == ")" and -1 or 0)
    if depth == 0 then
      return i
    end
  end
end

-- Translates answers. Fields: `tokens`; `is_known`, tells the names of the lesson's numbers;
-- `in_degrees`, whether angles without a unit are degrees; `has_groups`, whether 1,000 is a
-- thousand; and what was found: `has_angles`, angles without a unit, and `has_thousands`.
local Reader = {}
Reader.__index = Reader

-- Is the token at i the name of a function of school that is not a number of the lesson or a field?
function Reader:is_function(i)
  local token = self.tokens[i]
  return (ONE_ARGUMENT[token] or OTHERS[token]) and self.tokens[i - 1] ~= "."
    and not self.is_known(token)
end

-- Decimal commas: the number at i with what follows, and the index after it.
function Reader:decimal(i)
  local whole, part = self.tokens[i], self.tokens[i + 2]
  if not (self.tokens[i + 1] == "," and part and part:find "^%d+$" and whole:find "^%d+$") then
    return whole, i + 1
  end
  if #part == 3 and whole:find "^[1-9]%d?%d?$" then
    self.has_thousands = true
    return self.has_groups and whole .. part or whole .. "." .. part, i + 3
  end
  return whole .. "." .. part, i + 3
end

-- A function and its argument, in brackets or a single number: its Lua and the index after it; nil
-- if no argument follows.
function Reader:call(i, last)
  local tokens, name = self.tokens, self.tokens[i]
  local first = is_space(tokens[i + 1]) and i + 2 or i + 1
  local stop, inner
  if tokens[first] == "(" then
    stop = closing(tokens, first, last)
    inner = stop and self:translate(first + 1, stop - 1, ONE_ARGUMENT[name])
  elseif first <= last and (is_number(tokens[first]) or tokens[first] == "pi"
    or self:is_function(first)) then
    if self:is_function(first) then
      inner, stop = self:call(first, last)
      stop = stop and stop - 1
    else
      stop = UNITS[tokens[first + 1]] == "degrees" and first + 1 or first
      local _, after = self:decimal(first)
      stop = math.max(stop, after - 1)
      inner = self:translate(first, stop, true)
    end
  end
  if not inner then
    return nil
  end
  local has_unit = false
  for j = first, stop do
    has_unit = has_unit or UNITS[tokens[j]] == "degrees" or tokens[j] == "pi" or tokens[j] == "rad"
  end
  self.has_angles = self.has_angles or OF_ANGLES[name] and not has_unit or TO_ANGLES[name]
  if OF_ANGLES[name] and not has_unit and self.in_degrees then
    inner = ("math.rad(%s)"):format(inner)
  end
  local lua = ("math.%s(%s)"):format(NAMES[name] or name, inner)
  return TO_ANGLES[name] and self.in_degrees and ("math.deg(%s)"):format(lua) or lua, stop + 1
end

-- The Lua of the tokens from `first` to `last`; nil if a function lacks its argument.
function Reader:translate(first, last, has_commas)
  local tokens, parts, i, depth = self.tokens, {}, first, 0
  while i <= last do
    local token, lua, after = tokens[i], nil, nil
    depth = depth + (token == "(" and 1 or token == ")" and -1 or 0)
    local is_factor = is_number(parts[#parts]) or parts[#parts] == ")"
    if self:is_function(i) then
      lua, after = self:call(i, last)
      lua = lua or token
      after = after or i + 1
    elseif token == "pi" and tokens[i - 1] ~= "." and not self.is_known "pi" then
      lua, after = "math.pi", i + 1
    elseif is_number(token) and has_commas and (depth == 0 or tokens[i - 2] ~= ",") then
      lua, after = self:decimal(i)
    end
    if lua and lua:find "^math" and is_factor then
      parts[#parts + 1] = "*"
    end
    if not lua and token == "°" then
      parts[#parts] = ("math.rad(%s)"):format(parts[#parts] or "")
    else
      parts[#parts + 1] = lua or token
    end
    i = after or i + 1
    if is_space(tokens[i]) and is_number(parts[#parts])
      and (tokens[i + 1] == "pi" or self:is_function(i + 1)) then
      i = i + 1 -- 2 sqrt(3)
    end
  end
  return table.concat(parts)
end

-- Splits a unit from the end of an answer. Returns the index of the last token before it, and the
-- unit or nil.
local function split(reader)
  local tokens = reader.tokens
  local last = #tokens
  local unit = UNITS[tokens[last]]
  for i = 1, last do
    if unit == "degrees" and tokens[last] == "°" and OF_ANGLES[tokens[i]] then
      return last, nil
    end
  end
  if not unit then
    return last, nil
  end
  repeat
    last = last - 1
  until not is_space(tokens[last])
  local before = tokens[last]
  if not (is_number(before) or before == ")" or before == "pi") then
    return #tokens, nil
  end
  return last, unit
end

-- What an answer with a unit can mean.
local function with_unit(lua, unit)
  if unit == "percent" then
    return { ("(%s)/100"):format(lua) }
  elseif unit == "degrees" then
    return { lua, ("math.rad(%s)"):format(lua) }
  elseif unit == "radians" then
    return { lua, ("math.deg(%s)"):format(lua) }
  end
  return { lua }
end

--- The readings of an answer, as Lua: the first is what it most likely means. An answer in Lua, or
--- one that is not understood, is its own and only reading.
---@param text string
---@param is_known? fun(name: string): boolean whether the lesson has a number of this name
---@return string[] sources at least one
function M.of(text, is_known)
  if text:find "[={}\"'>\n]" then
    return { text }
  end
  local plain = text:gsub("^%s+", ""):gsub("%s+$", ""):gsub(utf8.charpattern, SIGNS)
  local found, seen = {}, {}
  local reader = setmetatable({ tokens = tokens_of(plain), has_groups = true,
    is_known = is_known or function() return false end }, Reader)
  local last, unit = split(reader)
  local function add()
    for _, source in ipairs(with_unit(reader:translate(1, last, true), unit)) do
      if not seen[source] then
        seen[source], found[#found + 1] = true, source
      end
    end
  end
  add()
  if reader.has_angles then
    reader.in_degrees = true
    add()
  end
  if reader.has_thousands then
    reader.has_groups = false
    add()
  end
  return #found == 1 and found[1] == text:match "^%s*(.-)%s*$" and { text } or found
end

return M
