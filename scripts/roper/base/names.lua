--- Lookup and completion of names: globals, and the fields and methods of their values.
-- Lookup has no side effects: it calls no user code. The one exception is `__names` in a metatable,
-- a function that lists the fields that __index loads on first use. If __index is a function,
-- `methods` in the metatable is a table of methods.
local tables_of = require "roper.base.tables"

local M = {}

local LONGEST_CHAIN <const> = 10 -- maximum number of metatables to follow; they may form a cycle

-- The tables in which `value.name` is looked up.
local function lookup_tables(value)
  local tables = {}
  for _ = 1, LONGEST_CHAIN do
    local metatable = debug.getmetatable(value)
    if type(value) == "table" then
      tables[#tables + 1] = value
    end
    if not metatable then
      break
    end
    local methods, index = rawget(metatable, "methods"), rawget(metatable, "__index")
    tables[#tables + 1] = type(methods) == "table" and methods or nil
    if type(index) ~= "table" then
      break
    end
    value = index
  end
  return tables
end

-- The fields that are loaded on first use, as keys.
local function loadable(value)
  local metatable = debug.getmetatable(value)
  local list = metatable and rawget(metatable, "__names")
  return tables_of.set(type(list) == "function" and list() or {})
end

-- The value of `value.name`, or nil.
local function field(value, name)
  for _, fields in ipairs(lookup_tables(value)) do
    local found = rawget(fields, name)
    if found ~= nil then
      return found
    end
  end
  return loadable(value)[name] and value[name] or nil
end

-- The text before a constant index at the end of a text, such as `x[1]` or `t["key"]`, and the
-- constant.
local function index_at_end(text)
  local head, number = text:match "^(.*)%[%s*(%-?%d+)%s*%]%s*$"
  if head then
    return head, math.tointeger(number)
  end
  local key
  head, key = text:match "^(.*)%[%s*[\"']([^\"'\\\n]*)[\"']%s*%]%s*$"
  return head, key
end

--- The value of the expression at the end of a text, without calling functions: it may have names,
--- fields, constant indices, and strings in parentheses.
---@param text string such as "f(layers[1].weight"
---@param globals table
---@return any value nil if there is none
---@return integer first offset of the expression; beyond the text if there is none
function M.at_end(text, globals)
  local head, key = index_at_end(text)
  if head then
    local holder, first = M.at_end(head, globals)
    if type(holder) == "table" then
      holder = rawget(holder, key)
    elseif math.type(key) ~= "integer" or debug.getmetatable(holder) == getmetatable "" then
      holder = nil
    end -- else holder stays the tensor: its elements have the same methods
    return holder, first
  end
  local before, string = text:match "^(.*)%(%s*([\"'][^\"'\\\n]*[\"'])%s*%)$"
  if string and not before:find "[%w_%]\"')}]%s*$" then
    return string:sub(2, -2), #before + 1
  end
  local name
  head, name = text:match "^(.-)([%a_][%w_]*)$"
  local mark = head and head:match "[.:]$"
  if not name or head:find "%.%.$" or head:find "%d$" then
    return nil, #text + 1
  elseif mark then
    local holder, first = M.at_end(head:sub(1, -2), globals)
    return field(holder, name), first
  end
  return field(globals, name), #head + 1
end

--- The completions of the name at the end of a text.
---@param text string
---@param globals table
---@return string[] names
---@return integer length number of bytes at the end of the text that a name replaces
function M.after(text, globals)
  local head, mark, start = text:match "^(.*)([.:])([%a_]?[%w_]*)$"
  start = start or text:match "[%a_][%w_]*$" or ""
  local holder, first = globals, #text - #start + 1
  if mark then
    holder, first = M.at_end(head, globals)
  end
  if first > #(head or text) or text:sub(first - 1, first - 1):find "[%w.:]" then
    return {}, 0
  end
  local path = text:sub(first, #text - #start)
  local names, seen = {}, {}
  local tables = lookup_tables(holder)
  tables[#tables + 1] = loadable(holder)
  for _, fields in ipairs(tables) do
    for name, value in next, fields do
      local fits = type(name) == "string" and name:match "^[%a_][%w_]*$"
        and name:sub(1, #start) == start and (name:sub(1, 1) ~= "_" or start ~= "")
      if fits and not seen[name] and not (mark == ":" and type(value) ~= "function") then
        seen[name] = true
        names[#names + 1] = path .. name
      end
    end
  end
  return names, #path + #start
end

return M
