--- Evaluates input in a session: runs Lua and prints its values, runs commands, and reports errors.
local eval = require "roper.base.eval"
local commands = require "roper.workbench.session.repl.commands"
local diagnostics = require "roper.base.diagnostics"
local format = require "roper.base.format"
local global = require "roper.workbench.session.repl.globals"
local habits = require "roper.workbench.help.habits"
local escape = require "roper.base.escape"
local terminal = require "roper.base.terminal"
local transcript = require "roper.workbench.session.repl.transcript"

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

-- Does a final `;` suppress printing?
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

-- Does a line continue the statement before it? No statement or command begins like this.
local function continues(line)
  if commands.percent[line:match "^%s*%%(%a+)" or ""] then
    return false
  end
  return (line:find "^%s*[:.+*/%%^<>=~|&)}%]]" ~= nil and not line:find "^%s*::")
    or line:find "^%s*and%f[^%w_]" ~= nil or line:find "^%s*or%f[^%w_]" ~= nil
end

-- Does the next line that is not empty continue line i?
local function is_continued(lines, i)
  repeat
    i = i + 1
  until not lines[i] or lines[i]:find "%S"
  return lines[i] ~= nil and continues(lines[i])
end

-- The kind of a source as from eval.compile, except that a block of Python is wrong.
local function kind_of(source, globals)
  local _, kind = eval.compile(source, NAME, globals)
  return kind == "incomplete" and habits.is_python(source) and "wrong" or kind
end

-- Splits text into the parts that would run one after the other if its lines were typed. Returns
-- them and the incomplete rest, or nil.
local function split(text, globals)
  local parts, open = {}, nil
  local lines = escape.lines(text)
  for i, line in ipairs(lines) do
    local is_command = not open and commands.find(line, globals) ~= nil
    open = open and open .. "\n" .. line or line
    if is_command then
      parts[#parts + 1] = { source = open, kind = "command" }
      open = nil
    elseif not open:find "%S" then
      open = nil
    elseif not is_continued(lines, i) then
      local kind = kind_of(open, globals)
      if kind ~= "incomplete" then
        parts[#parts + 1] = { source = open, kind = kind }
        open = nil
      end
    end
  end
  return parts, open
end

-- The source of one chunk for all parts. It passes the values of expressions to its argument, a
-- function, unless a parenthesis would continue the line before.
local function block_form(parts)
  local forms, closing = {}, ""
  for i, part in ipairs(parts) do
    local is_value = part.kind == "expression" and (i == 1 or not part.source:find "^%s*%(")
    forms[i] = is_value and ("%s;(...)(%d, %s"):format(closing, i, part.source:gsub(";%s*$", ""))
      or closing .. part.source
    closing = is_value and ");" or ""
  end
  return table.concat(forms, "\n") .. (closing ~= "" and "\n" .. closing or "")
end

-- The parts as one block if they need each other: they share a local, or one does not compile
-- alone. The second result is the kind as from eval.compile.
local function joined(parts, open, globals)
  local sources, belong_together = {}, false
  parts = table.move(parts, 1, #parts, 1, {})
  parts[#parts + 1] = open and { source = open, kind = "incomplete" }
  for i, part in ipairs(parts) do
    sources[i] = part.source
    belong_together = belong_together or part.kind == "wrong"
      or (part.kind == "statement" and part.source:find "^%s*local%f[%s]" ~= nil)
  end
  if not belong_together or #parts < 2 then
    return nil
  end
  local source, form = table.concat(sources, "\n"), block_form(parts)
  local _, kind = eval.compile(form, NAME, globals)
  if kind ~= "wrong" then
    return { source = source, form = form, parts = parts }, kind
  elseif parts[#parts].kind == "expression" then
    sources[#sources] = "return " .. sources[#sources]
    form = table.concat(sources, "\n")
  else
    form = source
  end
  _, kind = eval.compile(form, NAME, globals)
  return kind ~= "wrong" and { source = source, form = form, kind = kind } or nil, kind
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

-- The field x.mean for a method x:mean that is named but not called; nil for other input.
local function method_form(source)
  local path, name = source:match "^%s*([%a_][%w_.]*):([%a_][%w_]*)%s*$"
  return path and ("%s.%s"):format(path, name) or nil
end

-- Runs a part. Returns false after an error in Lua, which cancels the rest of the input.
function Session:run_part(part)
  if part.kind == "command" then
    self:attempt(commands.find(part.source, self.globals), self)
    return true
  end
  return self:run(part.source, part.form, part.parts)
end

--- Runs the complete parts of a text, up to the first error. Removes prompts before pasted lines.
---@param text string one or several lines
---@return string? rest incomplete input, to be passed again with more lines
function Session:feed(text)
  text = transcript.typed(text, self.globals)
  local parts, open = split(text, self.globals)
  local block, kind = joined(parts, open, self.globals)
  if block and kind == "incomplete" then
    return text
  elseif block then
    parts, open = { block }, nil
  elseif open and method_form(open) then
    parts[#parts + 1] = { source = open, form = method_form(open), kind = "expression" }
    open = nil
  end
  self.is_alone = #parts == 1
  for _, part in ipairs(parts) do
    if not self:run_part(part) then
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
