--- Completion: of globals and the fields and methods of what they hold, of the options of a
--- function and the values they may have, of position schemes and of files in strings, of commands.
local escape = require "roper.base.escape"
local names_of = require "roper.base.names"
local cursor = require "roper.workbench.session.repl.cursor"
local tables = require "roper.base.tables"

local M = {}

-- Commands that are followed by no Lua.
local TAKES_PATH <const> = { run = true, save = true, cd = true }

-- The names that begin with a start, and its length. One alone that is no folder gets an ending.
local function going_on(start, names, ending)
  local list = {}
  for _, name in ipairs(names) do
    list[#list + 1] = name:sub(1, #start) == start and name or nil
  end
  if #list == 1 and list[1]:sub(-1) ~= "/" then
    list[1] = list[1] .. ending
  end
  return list, #start
end

-- The files that a path may go on with, up to the quote that ends it.
local function file_names(path, quote)
  local luv = require "luv"
  local folder, start = path:match "^(.-)([^/]*)$"
  local scan, names = luv.fs_scandir(folder == "" and "." or folder), {}
  for name, kind in scan and luv.fs_scandir_next or next, scan or {} do
    local fits = name:sub(1, 1) ~= "." or start ~= ""
    if fits and escape.line(name) == name and not name:find "[\"'\\]" then
      local is_folder = (luv.fs_stat(folder .. name) or { type = kind }).type == "directory"
      names[#names + 1] = name .. (is_folder and "/" or "")
    end
  end
  return going_on(start, names, quote)
end

-- Is a string after this text the name of a position scheme: position = ", position = {"rope", "?
local function names_scheme(before)
  return before:find "%f[%w_]position%s*=%s*{?[^{}=]*$"
    or before:find "%f[%w_]position[.:]%a+%s*%(?%s*$"
end

-- What is known about the function that the end of a text names.
local function entry_of(caller, globals)
  return require("roper.workbench.help.catalogue").of_value((names_of.at_end(caller, globals)))
end

-- The keys of the table that a string after this text indexes, t["; nil if it indexes nothing.
local function keys_before(before, globals)
  local holder = before:match "^(.*[%w_%])\"'])%[%s*$"
  local value, names = holder and names_of.at_end(holder, globals), {}
  for key in next, type(value) == "table" and value or {} do
    local is_plain = type(key) == "string" and escape.line(key) == key
    names[#names + 1] = is_plain and not key:find "[\"'\\]" and key or nil
  end
  return holder and names
end

-- The options of a function that are not in the table yet.
local function option_names(place, globals)
  local entry, names = entry_of(place.caller, globals), {}
  local catalogue = require "roper.workbench.help.catalogue"
  for _, option in ipairs(entry and catalogue.options(entry) or {}) do
    local is_given = place.table:find("%f[%w_]" .. option.name .. "%s*=")
    names[#names + 1] = not is_given and option.name or nil
  end
  return going_on(place.table:match "[%w_]*$", names, " = ")
end

-- The strings that are listed for an option, or for the arguments of a function, which a string
-- after this text is.
local function listed_strings(before, globals)
  local names, parameters = {}, {}
  local head, option = before:match "^(.-)([%a_][%w_]*)%s*=%s*$"
  local place = option and cursor.at_end(head) or {}
  local caller = place.caller or not option and before:match "^(.-)%s*%(?%s*$"
  local entry = caller and entry_of(caller, globals)
  if entry and place.caller then
    parameters = require("roper.workbench.help.catalogue").options(entry)
  elseif entry and entry.comment then
    parameters = entry.comment.parameters
  end
  for _, parameter in ipairs(parameters) do
    local is_meant = not option or parameter.name == option
    for name in (is_meant and parameter.type or ""):gmatch '"([^"]*)"' do
      names[#names + 1] = name
    end
  end
  return tables.keys(tables.set(names))
end

local function find(text, globals)
  local command, blank, rest = text:match "^%s*%%(%a*)(%s*)(.*)$"
  local path = TAKES_PATH[command] and rest or text:match "^%s*[$!].*%s(%S*)$"
  if command and blank .. rest == "" then
    return going_on(command, require("roper.workbench.session.repl.commands").names(), " ")
  elseif path then
    return file_names(path, "")
  end
  local place = cursor.at_end(text)
  if place.kind == "string" and names_scheme(text:sub(1, -#place.text - 2)) then
    local start = place.text:match "[^+]*$" -- the last of several that are joined
    return going_on(start, require("roper.position").list(), place.quote)
  elseif place.kind == "string" then
    local before = text:sub(1, -#place.text - 2)
    local keys = keys_before(before, globals)
    local names = keys or listed_strings(before, globals)
    if keys or names[1] then
      return going_on(place.text, names, place.quote)
    end
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
  return names_of.after(text, globals)
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
