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

-- The constant in an index at the end of a text, and what stands before it: `x[1]`, `t["key"]`.
local function index_at_end(text)
  local head, number = text:match "^(.*)%[%s*(%-?%d+)%s*%]%s*$"
  if head then
    return head, math.tointeger(number)
  end
  local key
  head, key = text:match "^(.*)%[%s*[\"']([^\"'\\\n]*)[\"']%s*%]%s*$"
  return head, key
end

--- What the expression at the end of a text holds, if that takes no call: names, fields, indices
--- that are constants, and strings in parentheses.
---@param text string such as "f(layers[1].weight"
---@param globals table
---@return any value nil if there is none
---@return integer first where the expression begins; beyond the text if there is none
function M.at_end(text, globals)
  local head, key = index_at_end(text)
  if head then
    local holder, first = M.at_end(head, globals)
    if type(holder) == "table" then
      holder = rawget(holder, key)
    elseif math.type(key) ~= "integer" or debug.getmetatable(holder) == getmetatable "" then
      holder = nil
    end -- else an element of a tensor has the methods of the tensor
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

--- The ways to go on with the name at the end of a text.
---@param text string
---@param globals table
---@return string[] names
---@return integer length of the end of the text that each takes the place of
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
