--- What becomes of the lines of a session: Lua is run and its values are shown,
--- commands are carried out, errors are told.
local code = require "roper.base.code"
local commands = require "roper.session.repl.commands"
local failures = require "roper.base.failure"
local format = require "roper.base.format"
local global = require "roper.session.repl.globals"
local habits = require "roper.session.help.habits"
local percent = require "roper.session.repl.percent"
local printable = require "roper.base.printable"
local terminal = require "roper.base.terminal"
local transcript = require "roper.session.repl.transcript"

local M = {}

local NAME <const> = "input" -- stands for what was typed in messages, with its number

local Session = {}
Session.__index = Session

--- A session over globals as they are now; `who` lists those that come later.
---@param globals table
---@return table session with the methods `feed`, `run` and `attempt`, and is_over once its person
---   has left; where it is at no terminal, others may take the place of `show` and `tell`
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
    count = 0, -- chunks that were compiled
    done = {}, -- statements that ran without an error
    failure = nil, -- the last that %debug tells of, and the number of the frame it is at
    frame = 1,
    is_alone = true, -- was what runs all that was typed?
  }, Session)
end

--- What went wrong. Of typed code the lines that led there are shown, but for one that was typed
--- alone: it stands right above.
---@param failure Failure
---@return string
function Session:explain(failure)
  local place, message = failure.message:match("^(" .. NAME .. " %d+:%d+): (.*)$")
  if failure.interrupted then
    return "interrupted"
  elseif not place or failure.traceback then
    return failure.message .. code.trace(failure)
  end
  if self.is_alone and #failure.frames == 1 and failure.frames[1].is_whole then
    return message
  end
  return message .. failures.lines(failure, place)
end

--- Tell what went wrong.
---@param failure Failure
function Session:tell(failure)
  if failure.interrupted then
    io.stdout:flush()
    io.stderr:write "\ninterrupted\n" -- after the ^C that the terminal shows
  else
    terminal.report("error", self:explain(failure))
  end
end

--- Show the results of an expression.
---@param results table as table.pack makes it
---@param hint string what to add
function Session.show(_, results, hint)
  io.stdout:write(format.results(results), hint, "\n")
end

--- Run a function and tell what went wrong. It is kept for %debug, unless memory is short: its
--- variables hold some.
---@param action function
---@param ... any its arguments
---@return boolean ok
function Session:attempt(action, ...)
  local ok, failure = code.call(action, ...)
  if not ok then
    if failure.message:find "out of memory: " then
      self.failure = nil
    elseif failure.frames[1] then
      self.failure, self.frame = failure, 1
    end
    self:tell(failure)
  end
  return ok
end

--- Keep a value as the last one, and the last two before it.
---@param value any
function Session:keep(value)
  local globals = self.globals
  globals._2, globals._1, globals._ = globals._1, globals._, value
end

--- What was typed, by the number that messages give it.
---@param number integer
---@return string? source
function Session:input(number)
  return number <= self.count and failures.sources[("%s %d"):format(NAME, number)] or nil
end

--- Compile code that was typed, and remember it for the lines that errors show.
---@param source string
---@return function? action nil where it does not compile, which is told
---@return "expression"|"statement"|"incomplete"|"wrong" kind
---@return string? statements as of code.compile
function Session:compile(source)
  self.count = self.count + 1
  local name = ("%s %d"):format(NAME, self.count)
  failures.sources[name] = source
  local action, kind, message, statements = code.compile(source, name, self.globals)
  if not action then
    self:tell(failures.bare(message))
  end
  return action, kind, statements
end

-- "; x.shape is a method: …" where the source is the name of a method alone.
local function method_hint(source, value, globals)
  local path = type(value) == "function" and source:match "^%s*([%a_][%w_.]*)%s*$"
  local text = path and habits.about_method(path, { globals = globals })
  return text and "; " .. text or ""
end

--- Run Lua code. The values of an expression are shown, but for a `;` at its end,
--- and the first is kept as `_`; `_1` and `_2` are those before it.
---@param source string
---@return boolean ok
function Session:run(source)
  local action, kind, statements = self:compile(source)
  if not action then
    return false
  end
  local is_muted = source:find ";%s*$" ~= nil
  return self:attempt(function()
    local results = table.pack(action())
    self:note(statements or source, kind, is_muted and "_ = %s" or "print(%s)")
    if results[1] ~= nil then
      self:keep(results[1])
    end
    if results.n > 0 and not is_muted then
      self:show(results, method_hint(source, results[1], self.globals))
    end
  end)
end

-- What stands before the `return` that ends statements, and what it returns. Without one, all of
-- them and nothing.
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

--- Remember what was done, for `script`.
---@param source string
---@param kind "expression"|"statement"|nil as of code.compile; nil for a statement without values
---@param form string? what makes a statement of the values
function Session:note(source, kind, form)
  local body, value = source:gsub(";%s*$", ""), ""
  if kind == "statement" then
    body, value = split_return(body)
  elseif kind == "expression" and not load(body) then
    body, value = "", body
  end
  if value ~= "" then
    local shown = form:format(value)
    if not load(shown) then -- a comment at its end hides what comes after
      shown = form:gsub("%%s", "%%s\n"):format(value)
    end
    body = body .. shown
  end
  self.done[#self.done + 1] = body:find "%S" and body or nil
end

--- All that was done without an error, as a script.
---@return string
function Session:script()
  return table.concat(self.done, "\n") .. (#self.done > 0 and "\n" or "")
end

-- Does a line go on with the statement before it? No statement starts like this, nor a command.
local function goes_on(line)
  if percent[line:match "^%s*%%(%a+)" or ""] then
    return false
  end
  return (line:find "^%s*[:.+*/%%^<>=~|&)}%]]" ~= nil and not line:find "^%s*::")
    or line:find "^%s*and%f[^%w_]" ~= nil or line:find "^%s*or%f[^%w_]" ~= nil
end

-- Does the line after the empty ones that follow a line go on with it?
local function is_continued(lines, i)
  repeat
    i = i + 1
  until not lines[i] or lines[i]:find "%S"
  return lines[i] ~= nil and goes_on(lines[i])
end

-- The kind of a source as code.compile has it, except that a block of Python is wrong.
local function kind_of(source, globals)
  local _, kind = code.compile(source, NAME, globals)
  return kind == "incomplete" and habits.is_python(source) and "wrong" or kind
end

-- Text as the parts that would run one after the other if its lines were typed,
-- and the rest that is not complete, nil where all is.
local function split(text, globals)
  local parts, open = {}, nil
  local lines = printable.lines(text)
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

-- The parts as one, where pasted lines only make sense together: they share a
-- local, or one is wrong alone.
local function joined(parts, open, globals)
  local sources, belong_together = {}, false
  for i, part in ipairs(parts) do
    sources[i] = part.source
    belong_together = belong_together or part.kind == "wrong"
      or (part.kind == "statement" and part.source:find "^%s*local%f[%s]" ~= nil)
  end
  if not belong_together or #parts + (open and 1 or 0) < 2 then
    return nil
  end
  if open then
    sources[#sources + 1] = open
  elseif parts[#parts].kind == "expression" then
    sources[#sources] = "return " .. sources[#sources]
  end
  local source = table.concat(sources, "\n")
  local _, kind = code.compile(source, NAME, globals)
  return kind ~= "wrong" and source or nil, kind
end

--- Take lines in: what is complete is carried out, up to the first error. Prompts in front of
--- pasted lines are left out.
---@param text string one line or several
---@return string? rest what is not complete yet: give it back with more lines after it
function Session:feed(text)
  text = transcript.typed(text, self.globals)
  local parts, open = split(text, self.globals)
  local whole, kind = joined(parts, open, self.globals)
  if whole and kind == "incomplete" then
    return text
  elseif whole then
    parts, open = { { source = whole, kind = kind } }, nil
  end
  self.is_alone = #parts == 1
  for _, part in ipairs(parts) do
    if part.kind == "command" then
      self:attempt(commands.find(part.source, self.globals), self)
    elseif not self:run(part.source) then
      return nil
    end
  end
  return open
end

return M
