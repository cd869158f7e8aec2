--- Option tables of Lua functions: unknown names and values of the wrong kind are errors.
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

local function is_size(value)
  return math.type(value) == "integer" and value >= 1
end

-- Does `value` have the kind? If not, what was expected.
local function mismatch(kind, value)
  if type(kind) == "table" then
    for _, choice in ipairs(kind) do
      if value == choice then
        return nil
      end
    end
    return "one of " .. table.concat(kind, ", ")
  elseif kind == "size" then
    return not is_size(value) and "a whole number from 1 on" or nil
  elseif kind == "integer" then
    return math.type(value) ~= "integer" and "a whole number" or nil
  elseif kind == "number" then
    local finite = type(value) == "number" and value == value and math.abs(value) ~= math.huge
    return not finite and "a finite number" or nil
  elseif kind == "probability" then
    return not (type(value) == "number" and value >= 0 and value < 1)
      and "a number from 0 to below 1" or nil
  elseif kind == "task" then
    local metatable = debug.getmetatable(value)
    return not (metatable and rawget(metatable, "__name") == "roper.task") and "a task" or nil
  elseif kind == "any" then
    return value == nil and "a value" or nil
  end
  return type(value) ~= kind and "a " .. kind or nil
end

--- A value as messages show it: a string in quotes.
---@param value any
---@return string
function M.shown(value)
  return type(value) == "string" and ('"%s"'):format(value) or tostring(value)
end

--- Check an option table against what a function takes.
---@param name string of the function, for messages
---@param given table?
---@param known table option to kind, if it is required; to kind and "?", if it may be absent; or to
---   {kind, default}. Kinds: "size" (integer from 1), "integer", "number" (finite),
---   "probability" (below 1), "task", "any", a Lua type, or a list of choices
---@param level integer? of the stack to blame; 3 (the caller's caller) by default
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
      error(("%s: unknown option %s%s; it takes %s"):format(name, tostring(option),
        suggest.hint(tostring(option), names), table.concat(names, ", ")), level)
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
      local expected = mismatch(kind, value)
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
