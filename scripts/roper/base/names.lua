--- What names stand for, and how they may go on: globals, and the fields and methods of what they
--- hold.
-- Nothing is called on the way, so that asking for names has no effects, but for
-- what a metatable offers for it: `methods`, a table, where __index is a function,
-- and `__names`, a function that lists fields which __index loads on first use.
local tables_of = require "roper.base.tables"

local M = {}

local LONGEST_CHAIN <const> = 10 -- of metatables that point to each other

-- The tables that `value.name` is looked up in.
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

-- What `value.name` holds, nil where there is nothing.
local function field(value, name)
  for _, fields in ipairs(lookup_tables(value)) do
    local found = rawget(fields, name)
    if found ~= nil then
      return found
    end
  end
  return loadable(value)[name] and value[name] or nil
end

--- What `a.b.c` or `a:b` holds.
---@param path string
---@param globals table
---@return any value nil where there is nothing
function M.resolve(path, globals)
  local value = globals
  for name in path:gmatch "[%a_][%w_]*" do
    value = field(value, name)
  end
  return value
end

--- The ways to go on with the name at the end of a text.
---@param text string
---@param globals table
---@return string[] names
---@return integer length of the end of the text that each takes the place of
function M.after(text, globals)
  local path, start = text:match "([%a_][%w_%.]*[%.:])([%a_]?[%w_]*)$"
  if not path then
    path, start = "", text:match "[%a_][%w_]*$" or ""
  end
  local before = text:sub(1, #text - #path - #start):sub(-1)
  if path .. start == "" or before:match "[%w%.:]" then
    return {}, 0
  end
  local only_methods = path:sub(-1) == ":"
  local names, seen = {}, {}
  local holder = M.resolve(path, globals)
  local tables = lookup_tables(holder)
  tables[#tables + 1] = loadable(holder)
  for _, fields in ipairs(tables) do
    for name, value in next, fields do
      local fits = type(name) == "string" and name:match "^[%a_][%w_]*$"
        and name:sub(1, #start) == start and (name:sub(1, 1) ~= "_" or start ~= "")
      if fits and not seen[name] and not (only_methods and type(value) ~= "function") then
        seen[name] = true
        names[#names + 1] = path .. name
      end
    end
  end
  return names, #path + #start
end

return M
