--- Evaluates input in a session: runs Lua and prints its values, runs commands, and reports errors.
local eval = require "roper.text.eval"
local commands = require "roper.workbench.session.repl.commands"
local diagnostics = require "roper.text.diagnostics"
local format = require "roper.text.format"
local global = require "roper.workbench.session.repl.globals"
local habits = require "roper.workbench.help.habits"
local inputs = require "roper.workbench.session.repl.input"
local terminal = require "roper.text.terminal"

local M = {}

local NAME <const> = "input" -- name of input in error messages, followed by its number

local Session = {}
Session.__index = Session

--- Creates a session. `who` lists globals that are defined later.
---@param globals table
---@return table session with the methods `feed`, `run` and `attempt`, and `is_over` after `exit`;
---   `show` and `report` may be replaced if it is not at a terminal
function M.new(globals)
  global.prepare(globals)
  local known = { _ = true, _1 = true, _2 = true }
  for name in next, globals do
    known[name] = true
  end
  return setmetatable({
    globals = globals,
    known = known,
    is_over = false,
    count = 0, -- compiled chunks
    done = {}, -- statements that ran without an error
    failure = nil, -- the last error, for %debug
    frame = 1, -- the number of its frame that %debug shows
    is_alone = true, -- is the running chunk the whole input?
  }, Session)
end

--- The text of an error report. It shows the lines of typed code that led to the error, except for
--- input of a single line, which is right above.
---@param failure Failure
---@return string
function Session:explain(failure)
  local place, message = failure.message:match("^(" .. NAME .. " %d+:%d+): (.*)$")
  if failure.interrupted then
    return "interrupted"
  elseif not place or failure.traceback then
    return failure.message .. eval.trace(failure)
  end
  if self.is_alone and #failure.frames == 1 and failure.frames[1].is_whole then
    return message
  end
  return message .. diagnostics.lines(failure, place)
end

--- Reports an error.
---@param failure Failure
function Session:report(failure)
  if failure.interrupted then
    io.stdout:flush()
    io.stderr:write "\ninterrupted\n" -- after the terminal's ^C
  else
    terminal.report("error", self:explain(failure))
  end
end

--- Prints the results of an expression.
---@param results table from table.pack
---@param hint string text to append
function Session.show(_, results, hint)
  io.stdout:write(format.results(results), hint, "\n")
end

--- Calls a function and reports its error. The error is kept for %debug, unless memory is short,
--- since it keeps variables alive.
---@param action function
---@param ... any its arguments
---@return boolean ok
function Session:attempt(action, ...)
  local ok, failure = eval.call(action, ...)
  if not ok then
    if failure.message:find "out of memory: " then
      self.failure = nil
    elseif failure.frames[1] then
      self.failure, self.frame = failure, 1
    end
    self:report(failure)
  end
  return ok
end

--- Sets `_` to a value and moves the earlier ones to `_1` and `_2`.
---@param value any
function Session:keep(value)
  local globals = self.globals
  globals._2, globals._1, globals._ = globals._1, globals._, value
end

--- The input with a number, as in error messages.
---@param number integer
---@return string? source
function Session:input(number)
  return number <= self.count and diagnostics.sources[("%s %d"):format(NAME, number)] or nil
end

--- Compiles typed code, and stores it for error messages. Reports code that does not compile.
---@param source string
---@param form string? code to compile instead, with the same lines
---@return function? action nil if it does not compile
---@return "expression"|"statement"|"incomplete"|"wrong" kind
---@return string? statements as from eval.compile
function Session:compile(source, form)
  self.count = self.count + 1
  local name = ("%s %d"):format(NAME, self.count)
  diagnostics.sources[name] = source
  local action, kind, message, statements = eval.compile(form or source, name, self.globals, true)
  if not action then
    self:report(diagnostics.bare(message))
  end
  return action, kind, statements
end

-- A hint for input that only names a function: how to call the method, or how to get help.
local function name_hint(source, value, globals)
  local path = type(value) == "function" and source:match "^%s*([%a_][%w_.:]*)%s*$"
  if not path then
    return ""
  end
  local text = not path:find(":", 1, true) and habits.about_method(path, { globals = globals })
  local entry = not text and require("roper.workbench.help.catalogue").of_value(value)
  return text and "; " .. text or entry and entry.comment and ("; ?%s explains it"):format(path)
    or ""
end

local function is_muted(source)
  return source:find ";%s*$" ~= nil
end

-- Keeps the first value of an expression and prints all of them.
function Session:deliver(source, results)
  if results[1] ~= nil then
    self:keep(results[1])
  end
  if results.n > 0 and not is_muted(source) then
    self:show(results, name_hint(source, results[1], self.globals))
  end
end

--- Runs Lua code. Prints the values of an expression, unless it ends with `;`, and keeps the first
--- one as `_`.
---@param source string
---@param form string? code to compile instead, with the same lines
---@param parts table[]? of a block; its form passes the values of each expression to a function,
---   its argument
---@return boolean ok
function Session:run(source, form, parts)
  local action, kind, statements = self:compile(source, form)
  local function deliver(i, ...)
    self:deliver(parts[i].source, table.pack(...))
  end
  return action ~= nil and self:attempt(function()
    local results = table.pack(action(table.unpack(parts and { deliver } or {})))
    for _, part in ipairs(parts or { { source = statements or form or source, kind = kind } }) do
      self:note(part.source, part.kind, is_muted(part.source) and "_ = %s" or "print(%s)")
    end
    self:deliver(source, results)
  end)
end

-- Splits statements at their final `return`. Returns the code before it and the returned
-- expressions, or all statements and "".
local function split_return(statements)
  if not load(statements .. "\nlocal _") then
    for at in statements:gmatch "()%f[%w_]return%f[^%w_]" do
      local before, rest = statements:sub(1, at - 1), statements:sub(at)
      if load(before) and load(rest) then
        return before, (rest:gsub("^return%s*", ""))
      end
    end
  end
  return statements, ""
end

--- Records code that ran, for `script`.
---@param source string
---@param kind "expression"|"statement"|nil as from eval.compile; nil for a statement without values
---@param form string? format that makes a statement of the values
function Session:note(source, kind, form)
  local body, value = source:gsub(";%s*$", ""), ""
  if kind == "statement" then
    body, value = split_return(body)
  elseif kind == "expression" and not load(body) then
    body, value = "", body
  end
  if value ~= "" then
    local shown = form:format(value)
    if not load(shown) then -- a comment at its end hides the rest
      shown = form:gsub("%%s", "%%s\n"):format(value)
    end
    body = body .. shown
  end
  self.done[#self.done + 1] = body:find "%S" and body or nil
end

--- All code that ran without an error, as a script.
---@return string
function Session:script()
  return table.concat(self.done, "\n") .. (#self.done > 0 and "\n" or "")
end

-- The names of locals that an input declares but does not use: no other input can use them.
local function lost_locals(part)
  local names = part.source:match "^%s*local%s+([^=\n]*)" or ""
  names = names:match "^function%s+([%a_][%w_]*)" or names:gsub("%s*<%a+>", ""):gsub("%s+$", "")
  local first = names:match "^([%a_][%w_]*)[%w_, ]*$"
  local word = first and ("%%f[%%w_]%s%%f[^%%w_]"):format(first)
  local is_used = word and part.source:find(word .. ".*" .. word)
  return part.kind == "statement" and first and not is_used and names or nil
end

--- Runs the complete parts of a text, up to the first error in Lua. Removes prompts before pasted
--- lines.
---@param text string one or several lines
---@return string? rest incomplete input, to be passed again with more lines
function Session:feed(text)
  local ok, parts, open = eval.call(inputs.read, text, self.globals)
  if not ok then
    self:report(parts)
    return nil
  end
  self.is_alone = #parts == 1
  for _, part in ipairs(parts) do
    local command = part.kind == "command" and commands.find(part.source, self.globals)
    if command then -- no earlier part defined a global with its name
      self:attempt(command, self)
    elseif not self:run(part.source, part.form, part.parts) then
      return nil
    end
  end
  local lost = self.is_alone and not open and lost_locals(parts[1])
  if lost then
    io.stdout:write(("hint: a local variable lasts for one input only; omit \"local\" to keep "
      .. "%s\n"):format(lost))
  end
  return open
end

return M
