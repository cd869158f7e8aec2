--- Error reports for user code: the message with its line in the user's code, suggestions, and a
--- traceback without the frames of this library.
local arity = require "roper.options.arity"
local core = require "roper.core"
local names_of = require "roper.base.names"
local escape = require "roper.base.escape"
local suggest = require "roper.base.suggest"
local cut = require("roper.text.width").cut
local terminal = require "roper.text.terminal"

local M = {}

local LIBRARY <const> = require("roper.system.paths").LIBRARY .. "/"
local LONGEST_TRACE <const> = 8

--- The source text of each chunk that is not from a file, by the name of the chunk in messages.
M.sources = {}

--- The name of a library function in the help; nil if help is not loaded or does not list it.
---@type fun(called: function): string?
M.help_name = function() end

--- An error message that corrects a habit from another language or library; nil if there is none.
---@type fun(message: string, frame: Frame, caller: Frame?): string?
M.advise = function() end

--- The same for a line that does not compile.
---@type fun(message: string, line: string): string?
M.advise_syntax = function() end

---@class Failure
---@field message string begins with the place in the user's code
---@field frames Frame[] of the user's code, innermost first
---@field interrupted boolean was it Ctrl-C?
---@field traceback string? all frames, after `roper.debug(true)`

---@class Frame
---@field place string such as "input 3:2"
---@field within string? such as " in f"
---@field line string? source of that line, if it is known
---@field is_whole boolean is the line the whole chunk?
---@field variables table[]? its local variables, each as {name, value}
---@field globals table? globals of its function
---@field called function? function that it was calling when the error occurred
---@field is_index boolean? was that function called as the metamethod __index?
---@field first any the first argument of that call

local is_full = false

--- Switches full tracebacks on or off: with them, errors list every frame, including those of this
--- library and of C.
---
---     > roper.debug(true)
---     true
---     > roper.debug(false)
---     false
---@param on? boolean by default unchanged
---@return boolean on are full tracebacks on?
function M.debug(on)
  if on ~= nil and type(on) ~= "boolean" then
    error("debug: expected true or false, got " .. type(on), 2)
  elseif on ~= nil then
    is_full = on
  end
  return is_full
end

-- Line `number` of text, trimmed.
local function line_of(text, number)
  local line = escape.lines(text)[number]
  return line and line:match "^%s*(.-)%s*$"
end

-- A frame with its place in a chunk and the source line.
local function new_frame(source, name, number)
  local text = M.sources[source:match "^=(.*)"]
  local frame = { place = ("%s:%d"):format(name, number),
    is_whole = text ~= nil and not text:find "\n" }
  if not text and source:sub(1, 1) == "@" then
    text = require("roper.system.file").peek(source:sub(2))
  end
  frame.line = text and line_of(text, number)
  return frame
end

-- Is a file part of this library? Lua shortens long paths to "..." and their end.
local function is_ours(file)
  local tail = file:match "^%.%.%.(.*)"
  if not tail then
    return file:sub(1, #LIBRARY) == LIBRARY
  end
  for stop in tail:gmatch "/()" do
    local part = tail:sub(1, stop - 1)
    if part:find "roper/$" and part == LIBRARY:sub(-#part) then
      return true
    end
  end
  return false
end

-- The globals of a function; nil if it uses none.
local function globals_of(f)
  local i, name, value = 1, debug.getupvalue(f, 1)
  while name and name ~= "_ENV" do
    i = i + 1
    name, value = debug.getupvalue(f, i)
  end
  return value
end

-- A frame of the user's code. `level` is its stack level as seen by the caller; `is_inner` is true
-- if it was calling another function.
local function frame_of(info, level, is_inner)
  local frame = new_frame(info.source, info.short_src, info.currentline)
  frame.variables, frame.globals = {}, globals_of(info.func)
  if is_inner then
    local inner = debug.getinfo(level, "fn")
    frame.called = arity.original(inner.func)
    frame.is_index = inner.namewhat == "metamethod" and inner.name == "index"
    frame.first = select(2, debug.getlocal(level, frame.called == inner.func and 1 or -1))
  end
  local i, name, value = 1, debug.getlocal(level + 1, 1)
  while name do
    local is_own = name:find "^[%a_]" and name ~= "__frame" -- RETURN in eval.lua
    table.insert(frame.variables, is_own and { name, value } or nil)
    i = i + 1
    name, value = debug.getlocal(level + 1, i)
  end
  if info.what ~= "main" then
    frame.within = info.name and " in " .. info.name
      or (" in a function of line %d"):format(info.linedefined)
  end
  return frame
end

-- The frames of the user's code, innermost first; "…" replaces those beyond LONGEST_TRACE. Also
-- returns the library function that the code called; nil if the error is in the code or in C.
local function user_frames()
  local frames, level, called = {}, 3, nil
  local info = debug.getinfo(level, "Slnf")
  while info and info.func ~= core.interrupt_call do
    if #frames == LONGEST_TRACE then
      frames[#frames + 1] = { place = "…" }
      break
    elseif info.what ~= "C" and is_ours(info.source:sub(2)) then
      called = #frames == 0 and info.func or called
    elseif info.what ~= "C" then
      frames[#frames + 1] = frame_of(info, level, level > 3)
    end
    level = level + 1
    info = debug.getinfo(level, "Slnf")
  end
  return frames, called
end

-- The message for an error "attempt to ..." inside this library, which an argument of the wrong
-- type causes; nil for other errors.
local function argument_failure(message, called)
  local reason = message:match "%.lua:%d+: (attempt to .*)$" or message:match "^attempt to .*$"
  local name = reason and called and M.help_name(called)
  return name and ("%s: failed on its arguments (roper.debug(true) shows where); ?%s shows what "
    .. "it takes"):format(name, name)
end

-- Appends the names of the functions in a table, and in nested tables up to a depth.
local function function_names(holder, depth, names)
  for name, value in next, holder do
    if type(value) == "function" and type(name) == "string" then
      names[#names + 1] = name
    elseif type(value) == "table" and depth > 0 then
      function_names(value, depth - 1, names)
    end
  end
  return names
end

-- The names that could replace a field or a method in a line; none unless its object is reached
-- from a global.
local function names_instead(name, line)
  local path = line and line:match("([%a_][%w_.]*[.:])" .. name .. "%f[^%w_]") or ""
  local ok, names = pcall(names_of.after, path, _G)
  for i, found in ipairs(ok and names or {}) do
    names[i] = found:sub(#path + 1)
  end
  return ok and names or {}
end

--- The hint for a message about an undefined global.
---@param name string
---@return string hint as of `suggest.hint`
function M.global_hint(name)
  local names = {}
  for key in pairs(_G) do
    names[#names + 1] = type(key) == "string" and key or nil
  end
  return suggest.hint(name, names)
end

-- "; did you mean …" for undefined variables in a line that called a function with them.
local function unset_hint(frame)
  local is_local = {}
  for _, variable in ipairs(frame.variables) do
    is_local[variable[1]] = true
  end
  local code = " " .. frame.line:gsub("%-%-.*", ""):gsub("([\"']).-%1", " ")
  for before, name, after in code:gmatch "([^%w_])%s*([%a_][%w_]*)%s*()" do
    local is_field = before:find "[.:]" or code:find("^=[^=]", after)
    local is_set = is_local[name] or rawget(_G, name) ~= nil
    if not is_field and not is_set and load("local " .. name) then
      local found = M.global_hint(name)
      if found ~= "" then
        return found
      end
    end
  end
  return ""
end

-- "; did you mean …" for an error about an undefined name, whose message is Lua's.
local function hint(message, frame)
  local kind, name = message:match "nil value %((%a+) '([%w_]+)'%)$"
  if kind == "global" then
    return M.global_hint(name)
  elseif kind == "method" or kind == "field" then
    local names = names_instead(name, frame and frame.line)
    if names[1] then
      return suggest.hint(name, names)
    end
    local library = { string, table, math, io, os, package.loaded.roper }
    local nearest = suggest.nearest(name, function_names(library, 3, {}))
    return nearest and nearest ~= name and suggest.hint(name, { nearest }) or ""
  end
  local is_call = frame and frame.line and frame.called and not frame.is_index
    and frame.called ~= error and not M.is_interrupt(message)
  return is_call and unset_hint(frame) or ""
end

--- An error message without the place in this library at its start.
---@param message string
---@return string
function M.without_place(message)
  local file, text = message:match "^([^\n]-%.lua):%d+: (.*)$"
  return file and is_ours(file) and text or message
end

-- The message with the place in the user's code in front, without a place in this library and
-- without the files that `require` tried.
local function placed(message, frames)
  local rest = M.without_place(message)
    :gsub("(module '[^\n]*' not found):\n\tno field.*", "%1")
  if rest:find "^[^\n]-:%d+: " or not frames[1] then
    return rest
  end
  return ("%s: %s"):format(frames[1].place, rest)
end

--- Is an error value caused by Ctrl-C?
---@param value any
---@return boolean
function M.is_interrupt(value)
  return type(value) == "string"
    and (value == "interrupted" or value:find ":%d+: interrupted$" ~= nil)
end

--- True for an error that says nothing about the data at hand: Ctrl-C, or lack of memory. Code that
--- explains an error by its data raises such an error again.
---@param value any
---@return boolean
function M.is_transient(value)
  return M.is_interrupt(value) or type(value) == "string"
    and (value == "not enough memory" or value:find("out of memory: ", 1, true) ~= nil)
end

--- A failure from a message alone, for code that does not compile.
---@param message string
---@return Failure
function M.bare(message)
  local name, number = message:match "^([^\n]-):(%d+): "
  local frame = M.sources[name] and new_frame("=" .. name, name, tonumber(number))
  if frame then -- a message about the end of the text is about its last line
    local line = frame.line or M.sources[name]:match "([^\n]*)%s*$"
    message = M.advise_syntax(message, line) or message
  end
  return { message = message, frames = { frame }, interrupted = false }
end

--- The text of an error value; error objects without a text are described.
---@param value any
---@return string text
function M.text_of(value)
  local metatable = debug.getmetatable(value)
  if type(value) ~= "string" and type(value) ~= "number"
    and not (metatable and metatable.__tostring) then
    value = ("error object %s"):format(require("roper.text.format").value(value))
  end
  return tostring(value)
end

--- Converts an error value to a failure. Call it while the stack of the error exists, as a message
--- handler does.
---@param value any
---@return Failure
function M.of(value)
  local frames, called = user_frames()
  local message = M.text_of(value)
  -- `advise` reads the user's values, whose metamethods may raise errors.
  local ok, advised = pcall(M.advise, message, frames[1] or {}, frames[2])
  local text = ok and advised or argument_failure(message, called)
    or message .. hint(message, frames[1])
  return {
    message = placed(text, frames),
    frames = frames,
    interrupted = M.is_interrupt(message),
    traceback = is_full and debug.traceback(nil, 2) or nil,
  }
end

--- The traceback of a failure, an indented line for each frame. An arrow marks the frame that the
--- message is about.
---@param failure Failure
---@return string trace "" if there is at most one frame: the message names it
function M.trace(failure)
  local frames = failure.frames
  if failure.traceback then
    return "\n" .. failure.traceback
  elseif #frames < 2 then
    return ""
  end
  return M.lines(failure, failure.message:match "^(.-:%d+): ")
end

--- The frames of a failure as lines of text, each after a newline.
---@param failure Failure
---@param marked string|integer? place or number of the frame with the arrow; by default the
---   innermost
---@return string
function M.lines(failure, marked)
  local arrow = math.type(marked) and marked or 1
  for i, frame in ipairs(failure.frames) do
    arrow = frame.place == marked and i or arrow
  end
  local room, lines = terminal.columns(io.stderr) - 2, {}
  for i, frame in ipairs(failure.frames) do
    local text = frame.place .. (frame.within or "") .. (frame.line and ": " .. frame.line or "")
    lines[i] = (i == arrow and "\n→ " or "\n  ") .. cut(text, room)
  end
  return table.concat(lines)
end

return M
