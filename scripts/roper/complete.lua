--- Completion of names: globals, and the fields and methods of what they hold.
-- Nothing is called on the way, so that asking for names has no effects.
local M = {}

local LONGEST_CHAIN <const> = 10 -- of metatables that point to each other

-- The tables that `value.name` is looked up in, without calling anything.
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
    -- A class whose __index is a function lists its names in a `methods` table.
    local methods, index = rawget(metatable, "methods"), rawget(metatable, "__index")
    tables[#tables + 1] = type(methods) == "table" and methods or nil
    if type(index) ~= "table" then
      break
    end
    value = index
  end
  return tables
end

-- What `a.b.c` holds, found in the tables alone; nil where there is nothing.
local function resolve(path, environment)
  local value = environment
  for name in path:gmatch "[%a_][%w_]*" do
    local found
    for _, fields in ipairs(lookup_tables(value)) do
      found = rawget(fields, name)
      if found ~= nil then
        break
      end
    end
    value = found
  end
  return value
end

--- The ways to go on with a name that was typed in part.
---@param text string the line up to the cursor; its end matters
---@param environment table the globals
---@return string[] names sorted; each replaces the last name in `text` with its path
function M.names(text, environment)
  local path, start = text:match "([%a_][%w_%.]*[%.:])([%a_]?[%w_]*)$"
  if not path then
    path, start = "", text:match "[%a_][%w_]*$" or ""
  end
  local before = text:sub(1, #text - #path - #start):sub(-1)
  if path .. start == "" or before:match "[%w%.:]" then
    return {}
  end
  local only_methods = path:sub(-1) == ":"
  local names, seen = {}, {}
  for _, fields in ipairs(lookup_tables(resolve(path, environment))) do
    for name, value in next, fields do
      local fits = type(name) == "string" and name:match "^[%a_][%w_]*$"
        and name:sub(1, #start) == start and (name:sub(1, 1) ~= "_" or start ~= "")
      if fits and not seen[name] and not (only_methods and type(value) ~= "function") then
        seen[name] = true
        names[#names + 1] = path .. name
      end
    end
  end
  table.sort(names)
  return names
end

return M
