--- Checks of option tables: unknown names and values of the wrong kind are errors.
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

-- Kinds of numbers: a description, and a predicate.
local NUMBERS <const> = {
  integer = { "a whole number", function(x) return math.type(x) == "integer" end },
  size = { "a whole number from 1 on", function(x)
    return math.type(x) == "integer" and x >= 1
  end },
  number = { "a finite number", function(x) return x - x == 0 end },
  amount = { "a finite number from 0 on", function(x) return x >= 0 and x < math.huge end },
  share = { "a number from 0 to 1", function(x) return x >= 0 and x <= 1 end },
  probability = { "a number from 0 to below 1", function(x) return x >= 0 and x < 1 end },
}

local function is_native(kind)
  return function(metatable) return rawget(metatable, "__name") == "roper." .. kind end
end

-- Kinds of objects of the library: predicates on the metatable and the value.
local OBJECTS <const> = {
  task = is_native "task",
  tensor = is_native "tensor",
  module = function(metatable, value)
    return type(value) == "table" and metatable.is_module == true
  end,
  scheme = function(metatable, value)
    return type(value) == "table" and metatable.is_scheme == true
  end,
}

--- Describes the expected value if a value does not have a kind.
---@param kind string|table as for `check`
---@param value any
---@return string? expected nil if the value fits
function M.mismatch(kind, value)
  local numbers = NUMBERS[kind]
  if numbers then
    return not (math.type(value) and numbers[2](value)) and numbers[1] or nil
  elseif type(kind) == "table" and kind.smallest then
    local fits = math.type(value) == "integer" and value >= kind.smallest and value <= kind.largest
    return not fits and ("a whole number from %d to %d"):format(kind.smallest, kind.largest) or nil
  elseif type(kind) == "table" then
    return not tables.set(kind)[value] and "one of " .. table.concat(kind, ", ") or nil
  elseif OBJECTS[kind] then
    local metatable = debug.getmetatable(value)
    return not (metatable and OBJECTS[kind](metatable, value)) and "a " .. kind or nil
  elseif kind == "callable" then
    local metatable = debug.getmetatable(value)
    local is_called = type(value) == "function" or metatable and metatable.__call
    return not is_called and "a function" or nil
  elseif kind == "any" then
    return value == nil and "a value" or nil
  end
  return type(value) ~= kind and "a " .. kind or nil
end

--- A value as text for messages: strings in quotes, tables and objects by their kind.
---@param value any
---@return string
function M.shown(value)
  local metatable = debug.getmetatable(value)
  if type(value) == "string" then
    return ('"%s"'):format(value)
  elseif value == nil or type(value) == "boolean" or math.type(value) then
    return tostring(value)
  end
  local name = metatable and (rawget(metatable, "__name") or rawget(metatable, "name"))
  name = type(name) == "string" and name:gsub("^roper%.", "") or type(value)
  return (name:find "^[AEIOUaeiou]" and "an " or "a ") .. name
end

--- Checks an option table and fills in defaults.
---
--- Errors: an unknown option; a value of another kind; a required option is missing.
---@param name string of the function, for messages
---@param given table?
---@param known table by option, its kind if it is required, its kind with "?" if it is optional, or
---   {kind, default}. Kinds: "size" (integer of at least 1), "integer", {smallest =, largest =}
---   (an integer in this range), "number" (finite), "amount" (finite, at least 0), "share" (0 to
---   1), "probability" (at least 0, below 1), "tensor", "task", "module", "scheme", "callable",
---   "any", a Lua type, or a list of choices
---@param level integer? stack level of the error; 3 (the caller's caller) by default
---@return table a new table with every option
function M.check(name, given, known, level)
  level = level or 3
  if given ~= nil and type(given) ~= "table" then
    error(("%s: expected a table of options, got %s"):format(name, type(given)), level)
  end
  given = given or {}
  local result, names = {}, tables.keys(known)
  for option in pairs(given) do
    if known[option] == nil then
      error(("%s: unknown option %s%s"):format(name, tostring(option),
        #names == 0 and "; it takes none" or suggest.hint(tostring(option), names, "it takes")),
        level)
    end
  end
  for _, option in ipairs(names) do
    local rule = known[option]
    local kind, default, optional = rule, nil, false
    if type(rule) == "table" then
      kind, default, optional = rule[1], rule[2], true
    elseif rule:sub(-1) == "?" then
      kind, optional = rule:sub(1, -2), true
    end
    local value = given[option]
    if value == nil and optional then
      value = default
    else
      local expected = M.mismatch(kind, value)
      if expected then
        error(("%s: option %s: expected %s, got %s"):format(name, option, expected,
          M.shown(value)), level)
      end
    end
    result[option] = value
  end
  return result
end

return M
