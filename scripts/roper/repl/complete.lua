--- Completion: of globals and the fields and methods of what they hold, of the options of a
--- function, of files in strings, of commands.
-- Nothing is called on the way, so that asking for names has no effects, but for
-- what a metatable offers for it: `methods`, a table, where __index is a function,
-- and `__names`, a function that lists fields which __index loads on first use.
local foreign = require "roper.foreign"
local cursor = require "roper.repl.cursor"

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
  local names = {}
  for _, name in ipairs(type(list) == "function" and list() or {}) do
    names[name] = true
  end
  return names
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

-- The ways to go on with a name, and how much of the text they replace.
local function code_names(text, globals)
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

-- The files that a path may go on with. One alone is ended by the quote.
local function file_names(path, quote)
  local luv = require "luv"
  local folder, start = path:match "^(.-)([^/]*)$"
  local names = {}
  local scan = luv.fs_scandir(folder == "" and "." or folder)
  if not scan then
    return {}, 0
  end
  for name, kind in luv.fs_scandir_next, scan do
    local fits = name:sub(1, #start) == start and (name:sub(1, 1) ~= "." or start ~= "")
    if fits and foreign.line(name) == name and not name:find "[\"'\\]" then
      local is_folder = (luv.fs_stat(folder .. name) or { type = kind }).type == "directory"
      names[#names + 1] = name .. (is_folder and "/" or "")
    end
  end
  if #names == 1 and names[1]:sub(-1) ~= "/" then
    names[1] = names[1] .. quote
  end
  return names, #start
end

-- The options of a function that are not in the table yet. One alone gets its equals sign.
local function option_names(place, globals)
  local start = place.table:match "[%w_]*$"
  local catalogue = require "roper.help.catalogue"
  local entry = catalogue.of_value(M.resolve(place.caller, globals))
  local names = {}
  for _, option in ipairs(entry and catalogue.options(entry) or {}) do
    local is_given = place.table:find("%f[%w_]" .. option .. "%s*=")
    if option:sub(1, #start) == start and not is_given then
      names[#names + 1] = option
    end
  end
  if #names == 1 then
    names[1] = names[1] .. " = "
  end
  return names, #start
end

local function command_names(start)
  local names = {}
  for _, name in ipairs(require("roper.repl.commands").names()) do
    if name:sub(1, #start) == start then
      names[#names + 1] = name .. " "
    end
  end
  return names, #start
end

local function find(text, globals)
  local command = text:match "^%s*%%(%a*)$"
  local path = text:match "^%s*%%%a+%s+(.*)$" or text:match "^%s*%$.*%s(%S*)$"
  if command then
    return command_names(command)
  elseif path and not text:find "^%s*%%time%s" and not text:find "^%s*%%bench%s" then
    return file_names(path, "")
  end
  local place = cursor.at_end(text)
  if place.kind == "string" then
    return file_names(place.text, place.quote)
  elseif place.kind == "options" then
    local names, length = option_names(place, globals)
    if names[1] then
      return names, length
    end
  end
  if place.kind == "comment" then
    return {}, 0
  end
  return code_names(text, globals)
end

--- The ways to go on with what was typed in part.
---@param text string what was typed up to the cursor; its end matters
---@param globals table the globals
---@return string[] names sorted
---@return integer length of the end of the text that each takes the place of
function M.names(text, globals)
  local names, length = find(text, globals)
  table.sort(names)
  return names, length
end

return M
