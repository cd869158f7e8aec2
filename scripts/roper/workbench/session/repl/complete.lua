--- Completion of Lua code and commands: globals, fields and methods, options of functions and their
--- values, position schemes, and files in strings.
local escape = require "roper.base.escape"
local commands = require "roper.workbench.session.repl.commands"
local files = require "roper.system.file"
local names_of = require "roper.base.names"
local cursor = require "roper.workbench.session.repl.cursor"
local tables = require "roper.base.tables"

local M = {}

-- Commands with a path as their argument.
local TAKES_PATH <const> = { run = true, save = true, cd = true }

-- The names that begin with `start`, and its length. A single name gets the ending, unless it is a
-- folder.
local function matches(start, names, ending)
  local list = {}
  for _, name in ipairs(names) do
    list[#list + 1] = name:sub(1, #start) == start and name or nil
  end
  if #list == 1 and list[1]:sub(-1) ~= "/" then
    list[1] = list[1] .. ending
  end
  return list, #start
end

-- The files that complete a path, followed by the closing quote.
local function file_names(path, quote)
  local folder, start = path:match "^(.-)([^/]*)$"
  local ok, found = pcall(files.names, folder == "" and "." or folder)
  local names = {}
  for _, name in ipairs(ok and found or {}) do
    local fits = name:sub(1, 1) ~= "." or start ~= ""
    if fits and escape.line(name) == name and not name:find "[\"'\\]" then
      local readable, stat = pcall(files.stat, folder .. name)
      names[#names + 1] = name .. (readable and stat and stat.type == "directory" and "/" or "")
    end
  end
  return matches(start, names, quote)
end

-- Is a string after this text a position scheme, as in `position = "` or `position = {"rope", "`?
local function names_scheme(before)
  before = before:gsub('"[^"\n]*"', '""'):gsub("'[^'\n]*'", "''") -- may have options in braces
  return before:find "%f[%w_]position%s*=%s*{?[^{}=]*$"
    or before:find "%f[%w_]position[.:]%a+%s*%(?%s*$"
end

local function entry_of(caller, globals)
  return require("roper.workbench.help.catalogue").of_value((names_of.at_end(caller, globals)))
end

-- The keys of the table that a string after this text indexes, as in `t["`. Nil if it is not an
-- index.
local function keys_before(before, globals)
  local holder = before:match "^(.*[%w_%])\"'])%[%s*$"
  local value, names = holder and names_of.at_end(holder, globals), {}
  for key in next, type(value) == "table" and value or {} do
    local is_plain = type(key) == "string" and escape.line(key) == key
    names[#names + 1] = is_plain and not key:find "[\"'\\]" and key or nil
  end
  return holder and names
end

local function options_at(place, globals)
  local entry = entry_of(place.caller, globals)
  return entry and require("roper.workbench.help.catalogue").options(entry) or {}
end

-- The options of a function that are not set in the table yet.
local function option_names(place, globals)
  local names = {}
  for _, option in ipairs(options_at(place, globals)) do
    local is_given = place.table:find("%f[%w_]" .. option.name .. "%s*=")
    names[#names + 1] = not is_given and option.name or nil
  end
  return matches(place.table:match "[%w_]*$", names, " = ")
end

-- The choices of the option or argument for which a string after this text is the value.
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
    return matches(command, tables.keys(commands.percent), " ")
  elseif path then
    return file_names(path, "")
  end
  local place = cursor.at_end(text)
  if place.kind == "string" and names_scheme(text:sub(1, -#place.text - 2)) then
    local names, start, is_name = require("roper.position.text").completions(place.text,
      require("roper.position").list())
    return matches(start, names, is_name and place.quote or "")
  elseif place.kind == "string" then
    local before = text:sub(1, -#place.text - 2)
    local keys = keys_before(before, globals)
    local names = keys or listed_strings(before, globals)
    if keys or names[1] then
      return matches(place.text, names, place.quote)
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

--- The completions of incomplete input.
---@param text string the input up to the cursor
---@param globals table
---@return string[] names sorted
---@return integer length number of bytes at the end of the text that each name replaces
function M.names(text, globals)
  local names, length = find(text, globals)
  table.sort(names)
  return names, length
end

--- The help of what a text ends with: an option in the table of a function, a position scheme in a
--- string, or a name, such as that of a function before its open parenthesis.
---
--- Errors: the name is unknown.
---@param text string
---@param globals table
---@return string help
function M.help(text, globals)
  local help = require "roper.workbench.help"
  local name = text:match "([%a_][%w_.:]*)[^%w_]*$" or ""
  local place = cursor.at_end((text:gsub("%s*=%s*$", "")))
  if place.kind == "options" then
    for _, option in ipairs(options_at(place, globals)) do
      if option.name == name then
        return help.option(option)
      end
    end
  elseif place.kind == "string" and place.text == name
    and names_scheme(text:sub(1, -#name - 2)) then
    name = "roper.position." .. name
  end
  return help.text(name, globals)
end

return M
