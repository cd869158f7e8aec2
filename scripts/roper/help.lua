--- Help: what `?name`, `??name`, `help(name)` and `apropos(word)` print. Names are those of the
--- session, or of the library with or without what stands in front.
local M = {}

-- The value behind a name that was typed.
local function value_of(name, globals)
  if not name:find "^[%a_][%w_]*[%w_.:]*$" then
    return nil
  end
  return require("roper.complete").resolve(name, globals)
end

-- The entries that a name of the library may mean, the likeliest alone where it is clear.
local function entries_of(name)
  local catalogue = require "roper.help.catalogue"
  for _, path in ipairs { name, "roper." .. name, (name:gsub("%.([%w_]+)$", ":%1")) } do
    local entry = catalogue.entry(path)
    if entry then
      return { entry }
    end
  end
  local list, end_of_path = {}, "[.:]" .. name:gsub("[.:]", "[.:]") .. "$"
  for _, entry in ipairs(catalogue.entries()) do
    if entry.path:find(end_of_path) and not entry.same then
      list[#list + 1] = entry
    end
  end
  return list
end

-- "nothing is called roper.attenton; did you mean "roper.attention"?"
local function unknown(name)
  local short, long = {}, {}
  for _, entry in ipairs(require("roper.help.catalogue").entries()) do
    long[#long + 1] = entry.path
    short[#short + 1] = entry.path:match "[%w_]+$"
  end
  local hint = require("roper.suggest").hint(name, name:find "[.:]" and long or short)
  return ('nothing is called %s%s; apropos "word" searches'):format(name, hint)
end

-- What there is to say about a function of Lua's own, or one without a comment.
local function bare_function(name, value)
  local sources = require "roper.help.sources"
  local standard = name and value_of(name, _G) == value and name:match "^[%a_][%w_.]*$"
  local file, line = sources.place(value)
  if not file and debug.getinfo(value, "S").what == "C" and standard then
    return ("%s is a function of Lua: https://www.lua.org/manual/5.4/manual.html#pdf-%s\n"):format(
      name, standard)
  end
  local arguments = file and require("roper.help.comment").arguments(sources.text(file) or "", line)
  return ("%s%s: a function %s, without a documentation comment\n"):format(name or "function",
    arguments and "(" .. table.concat(arguments, ", ") .. ")" or "",
    file and ("of %s:%d"):format(file, line) or "that was typed here, or is one of C")
end

-- The page about a value.
local function about(value, name)
  local catalogue = require "roper.help.catalogue"
  local page = require "roper.help.page"
  local entry = catalogue.of_value(value)
  if entry then
    return page.entry(entry)
  elseif type(value) == "function" then
    return bare_function(name, value)
  end
  local class = catalogue.class_of(value)
  local text = require("roper.format").value(value)
  if class then
    local format = require "roper.format"
    local what = format.is_tensor(value) and format.summary(value) or text
    return ("%sa %s: %s\n\n"):format(name and name .. ": " or "", class.path, what)
      .. page.entry(class)
  end
  return ("%sa %s\n%s\n"):format(name and name .. ": " or "", type(value), text)
end

-- The page about a name.
local function about_name(name, globals)
  local value = value_of(name, globals)
  if value ~= nil then
    return about(value, name)
  end
  local page = require "roper.help.page"
  local found = entries_of(name)
  if #found == 1 then
    return page.entry(found[1])
  elseif #found > 1 then
    return page.list(name .. " may be", found)
  end
  error(unknown(name), 0)
end

--- Tell about a name or a value: how a function is called, what it takes, gives and refuses, its
--- formula and an example; what a module or a class holds. Without an argument, about the library.
---
--- In a session, `?name` does the same.
---
--- Errors: a name that nothing has; the nearest one is suggested.
---
---     > help "roper.eye"
---     roper.eye(n, dtype?)
---
---     The unit matrix.
---
---     Arguments
---       n      integer
---       dtype  "float32"|"float64"|"int32" = "float32"
---
---     Result
---       I  tensor [n, n]
---
---     Errors
---       a number below 0, or no whole one.
---
---     Example
---       > roper.eye(2)
---       float32 [2, 2]
---       1 0
---       0 1
---@param what? any a name in quotes, or a value: a function, a module, a tensor, a model
function M.help(what)
  if type(what) == "string" then
    io.stdout:write(about_name(what, _G))
  else
    io.stdout:write(about(what == nil and require "roper" or what))
  end
end

--- List what has a word in its name, then what has it in its documentation.
---
--- Errors: a word that stands nowhere.
---
---     > apropos "inverse_square"
---     by name (1)
---       roper.optim.schedule.inverse_square_root
---         A schedule: rise linearly, then fall with the inverse square root of the
---         step.
---     in the text (1)
---       roper.apropos  List what has a word in its name, then what has it in its
---                      documentation.
---@param word string in any case
function M.apropos(word)
  if type(word) ~= "string" or not word:find "%S" then
    error("apropos: expected a word, got " .. require("roper.format").value(word), 2)
  end
  local pattern = word:lower()
  local named, told = {}, {}
  for _, entry in ipairs(require("roper.help.catalogue").entries()) do
    local text = entry.comment and table.concat(entry.comment.text, " "):lower() or ""
    if entry.path:lower():find(pattern, 1, true) then
      named[#named + 1] = entry
    elseif text:find(pattern, 1, true) and not entry.same then
      told[#told + 1] = entry
    end
  end
  if #named + #told == 0 then
    error(unknown(word):gsub(";[^;]*$", ""), 2)
  end
  local page = require "roper.help.page"
  if named[1] then
    io.stdout:write(page.list(("by name (%d)"):format(#named), named))
  end
  if told[1] then
    io.stdout:write(page.list(("in the text (%d)"):format(#told), told))
  end
end

--- What `?name` prints.
---@param name string
---@param globals table of the session
function M.show(name, globals)
  io.stdout:write(about_name(name, globals))
end

-- Lines of a text, from one to another.
local function lines_of(text, first, last)
  local list, number = {}, 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    if number >= first and number <= last then
      list[#list + 1] = line
    end
  end
  return list
end

-- The source of what C implements: the function, or its row in a table.
local function native_source(place)
  local sources = require "roper.help.sources"
  local file, first = place:match "^(.*):(%d+)$"
  local text = sources.text(sources.ROOT .. "/" .. file)
  if not text then
    return place .. " (C, in the source tree)\n"
  end
  local list = {}
  for _, line in ipairs(lines_of(text, tonumber(first), math.huge)) do
    list[#list + 1] = line
    if line == "}" or (#list == 1 and line:find "^%s*{.*},$") then
      break
    end
  end
  return place .. "\n" .. table.concat(list, "\n") .. "\n"
end

--- What `??name` prints: the source of a function, and where it stands.
---@param name string
---@param globals table of the session
function M.source(name, globals)
  local catalogue = require "roper.help.catalogue"
  local sources = require "roper.help.sources"
  local value = value_of(name, globals)
  local entry = catalogue.of_value(value)
  if value == nil then
    local found = entries_of(name)
    if #found ~= 1 then
      error(#found == 0 and unknown(name)
        or ("%s may be several; ?%s lists them"):format(name, name), 0)
    end
    entry, value = found[1], found[1].value
  end
  local file, first, last
  if type(value) == "function" then
    file, first, last = sources.place(value)
  end
  if entry and entry.comment and entry.comment.source then
    io.stdout:write(native_source(entry.comment.source))
  elseif file then
    local text = sources.text(file)
    io.stdout:write(("%s:%d\n"):format(file, first))
    if text then
      io.stdout:write(table.concat(lines_of(text, first, last), "\n"), "\n")
    end
  else
    error(("%s has no source to show"):format(name), 0)
  end
end

return M
