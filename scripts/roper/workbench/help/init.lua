--- Help for `?name`, `??name`, `help(name)` and `apropos(word)`. A name is a variable of the
--- session, or a name of the library, with or without its module or class.
local arity = require "roper.options.arity"
local escape = require "roper.base.escape"
local pager = require "roper.workbench.help.pager"
local render = require("roper.text.document.terminal").render

local M = {}

local LONGEST <const> = 60 -- characters of a name; no suggestions for longer names

local function value_of(name, globals)
  if not name:find "^[%a_][%w_]*[%w_.:]*$" then
    return nil
  end
  return (require("roper.base.names").at_end(name:match "^.*[%w_]", globals))
end

-- The entries that match a name of the library: only one if the match is exact.
local function entries_of(name)
  local catalogue = require "roper.workbench.help.catalogue"
  for _, path in ipairs { name, "roper." .. name, (name:gsub("%.([%w_]+)$", ":%1")) } do
    local entry = catalogue.entry(path)
    if entry then
      return { entry }
    end
  end
  local class = require("roper.workbench.help.sources").classes()[name]
  if class then
    return { { path = name, kind = "class", comment = class.comment } }
  end
  local list, ending = {}, "." .. name:gsub(":", ".")
  for _, entry in ipairs(catalogue.entries()) do
    if entry.path:gsub(":", "."):sub(-#ending) == ending and not entry.same then
      list[#list + 1] = entry
    end
  end
  return list
end

-- The error message for a name that was not found, after the words `lead`.
local function unknown(name, lead)
  local names = {}
  lead = lead or "unknown name"
  if #name > LONGEST then
    return ("%s %s…"):format(lead, name:sub(1, LONGEST))
  end
  for i, entry in ipairs(require("roper.workbench.help.catalogue").entries()) do
    names[i] = name:find "[.:]" and entry.path or entry.name
  end
  local hint = require("roper.base.suggest").hint(name, names)
  return ("%s %s%s"):format(lead, name, hint)
end

local BASE <const> = {} -- Lua's own globals, as keys
for name in ([[assert collectgarbage dofile error getmetatable ipairs load loadfile next pairs pcall
  print rawequal rawget rawlen rawset require select setmetatable tonumber tostring type warn
  xpcall]]):gmatch "%a+" do
  BASE[name] = true
end

-- The name of a function of Lua's standard library; nil for others.
local function standard_name(value)
  for _, library in ipairs(debug.getinfo(value, "S").what == "C" and { "_G", "string", "table",
    "math", "io", "os", "utf8", "coroutine", "debug" } or {}) do
    for name, found in pairs(package.loaded[library]) do
      if rawequal(found, value) and (library ~= "_G" or BASE[name]) then
        return library == "_G" and name or library .. "." .. name
      end
    end
  end
  return nil
end

local function bare_function(value, name)
  local standard = standard_name(value)
  if standard then
    return ("%s is a standard function of Lua; see\n%s#pdf-%s\n"):format(standard,
      "https://www.lua.org/manual/5.4/manual.html", standard)
  end
  local original, arguments = arity.original(value), {}
  local where = debug.getinfo(original, "Su")
  for i = 1, where.nparams do
    arguments[i] = debug.getlocal(original, i)
  end
  arguments[#arguments + 1] = where.isvararg and "…" or nil
  return ("%s(%s)\n\nA function in %s, without a documentation comment.\n"):format(
    name or "function", table.concat(arguments, ", "), where.what == "C" and "C"
    or ("%s:%d"):format(where.short_src, where.linedefined))
end

local function with_article(noun)
  return (noun:find "^[AEIOUaeiou]" and "an " or "a ") .. noun
end

-- The page of a value: its documentation, or its type and content.
local function about(value, name)
  local catalogue = require "roper.workbench.help.catalogue"
  local format = require "roper.text.format"
  local page = require "roper.workbench.help.page"
  local entry = catalogue.of_value(value)
  if entry and (entry.comment or type(value) ~= "function") then
    return render((page.entry(entry)))
  elseif type(value) == "function" then
    return bare_function(value, name)
  end
  local class = catalogue.class_of(value)
  local text = format.is_tensor(value) and format.summary(value) or format.value(value)
  return ("%s is %s: %s\n%s"):format(name or "This", with_article(class and class.path
    or math.type(value) or type(value)), text, class and "\n" .. render((page.entry(class))) or "")
end

--- The page of a name.
---
--- Errors: the name is unknown.
---@param name string
---@param globals table of the session
---@return string
function M.text(name, globals)
  if name == "notation" then
    return render(require("roper.text.notation").document())
  elseif name:lower():gsub("^from ", "") == "pytorch" then
    return render(require("roper.workbench.help.pytorch").page())
  end
  local value = value_of(name, globals)
  if value ~= nil then
    return about(value, name)
  end
  local page = require "roper.workbench.help.page"
  local found = entries_of(name)
  if #found == 1 then
    return found[1].comment and render((page.entry(found[1])))
      or about(found[1].value, found[1].path)
  elseif #found > 1 then
    return render(page.list(name .. " matches", found))
  end
  error(unknown(name), 0)
end

--- The description of an option.
---@param option Parameter
---@return string
function M.option(option)
  return render { require("roper.workbench.help.page").parameter(option) }
end

--- Prints the documentation of a name or a value: for a function its arguments, results, errors,
--- formula and an example; for a module or a class its contents. Without an argument, describes the
--- library.
---
--- In a session, `?name` does the same. `?pytorch` lists what to write instead of PyTorch, and
--- `?notation` the letters of the lessons.
---
--- Errors: the name is unknown; the message suggests the nearest name.
---
---     > help(string.rep)
---     string.rep is a standard function of Lua; see
---     https://www.lua.org/manual/5.4/manual.html#pdf-string.rep
---@param what? any a name in quotes, or a value: a function, a module, a tensor, a model
function M.help(what)
  if type(what) == "string" then
    pager.write(M.text(what, _G))
  else
    pager.write(about(what == nil and require("roper.base.public").root or what))
  end
end

local function has_option(entry, text)
  for _, option in ipairs(require("roper.workbench.help.catalogue").options(entry)) do
    if option.name:lower():find(text, 1, true) then
      return true
    end
  end
  return false
end

--- Searches the documentation for a word, and lists matching names, then functions with a matching
--- option, then matching texts.
---
--- Errors: the word is not found.
---
---     > apropos "noam"
---     by name (1)
---       roper.optim.schedule.noam
---         Returns the schedule of Vaswani et al. 2017 (eq. 3); use it with rate = 1.
---@param word string in any case
function M.apropos(word)
  if type(word) ~= "string" or not word:find "%S" then
    error("apropos: expected a word, got " .. require("roper.text.format").value(word), 2)
  end
  local pattern = word:lower()
  local catalogue = require "roper.workbench.help.catalogue"
  local named, optional, texts = {}, {}, {}
  for _, entry in ipairs(catalogue.entries()) do
    local list = entry.path:lower():find(pattern, 1, true) and named
      or has_option(entry, pattern) and optional
      or not entry.same and catalogue.prose(entry):lower():find(pattern, 1, true) and texts or {}
    list[#list + 1] = entry
  end
  local function group(title, list)
    return require("roper.workbench.help.page").list(("%s (%d)"):format(title, #list), list)
  end
  if not (named[1] or optional[1] or texts[1]) then
    error(unknown(word, "apropos: no documentation contains"), 2)
  end
  pager.write(render { group("by name", named), group("by name of an option", optional),
    group("in the text", texts) })
end

--- Prints the page of a name, for `?name`.
---@param name string
---@param globals table of the session
function M.show(name, globals)
  pager.write(M.text(name, globals))
end

-- The lines of a text from line `first` to the first line for which `is_last` is true.
local function excerpt(text, first, is_last)
  local lines, last = escape.lines(text), first
  while lines[last + 1] and not is_last(lines[last], last) do
    last = last + 1
  end
  return table.concat(lines, "\n", first, math.min(last, #lines)) .. "\n"
end

-- The source of a function in C, or its row in a table.
local function native_source(place)
  local sources = require "roper.workbench.help.sources"
  local file, first = place:match "^(.*):(%d+)$"
  local text = require("roper.system.file").read(sources.ROOT .. "/" .. file)
  if not text then
    return place .. " (C, in the source tree)\n"
  end
  local is_row = false -- is it a macro in operation/, which may span lines?
  return place .. "\n" .. excerpt(text, tonumber(first), function(line, number)
    is_row = is_row or number == tonumber(first) and line:find "^%u[%u_]*%(" ~= nil
    return line:find "^};?$" or is_row and line:find "%)$"
      or number == tonumber(first) and line:find "^%s*{.*},$"
  end)
end

-- The source of a Lua function; nil if it is not available.
local function lua_source(value, comment)
  local sources = require "roper.workbench.help.sources"
  local text, file, first, last, _
  local made_in = type(value) == "function" and sources.maker_file(value)
  if made_in then
    file, first, last = made_in, 1, math.huge
    text = require("roper.system.file").read(file)
  elseif type(value) == "function" then
    text, file = sources.text(value)
    _, first, last = sources.place(value)
  elseif comment and comment.arguments then
    file, first = comment.file, comment.line
    text = require("roper.system.file").read(file)
  end
  return text and ("%s:%d\n%s"):format(file, first, excerpt(text, first, function(line, number)
    return number == last or not last and line == "end"
  end))
end

--- Prints the source of a function and its location, for `??name`.
---@param name string
---@param globals table of the session
function M.source(name, globals)
  local value = value_of(name, globals)
  local entry = require("roper.workbench.help.catalogue").of_value(value)
  if value == nil then
    local found = entries_of(name)
    if #found ~= 1 then
      error(#found == 0 and unknown(name)
        or ("%s is ambiguous; ?%s lists the matches"):format(name, name), 0)
    end
    entry, value = found[1], found[1].value
  end
  local comment = entry and entry.comment
  local text = comment and comment.source and native_source(comment.source)
    or lua_source(value, comment)
  if not text then
    error(("%s: no source is available"):format(name), 0)
  end
  pager.write(escape.text(text))
end

--- Makes error messages use the public names of functions, and suggest Lua for lines of PyTorch and
--- Python.
function M.name_in_failures()
  local diagnostics = require "roper.text.diagnostics"
  diagnostics.help_name = function(called)
    local entry = require("roper.workbench.help.catalogue").of_value(called)
    return entry and entry.path
  end
  for _, name in ipairs { "advise", "advise_syntax" } do
    diagnostics[name] = function(...)
      return require("roper.workbench.help.habits")[name](...)
    end
  end
end

return M
