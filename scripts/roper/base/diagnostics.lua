--- What went wrong in code that was run: the message with the place in the user's code, and the
--- lines of that code that led there, without the frames of this library.
local core = require "roper.core"
local names_of = require "roper.base.names"
local escape = require "roper.base.escape"
local suggest = require "roper.base.suggest"
local terminal = require "roper.base.terminal"

local M = {}

local LIBRARY <const> = require("roper.base.paths").LIBRARY .. "/"
local LONGEST_TRACE <const> = 8

--- The text of chunks that are in no file, by the names that messages call them.
M.sources = {}

--- What help calls a function of the library; nil where there is no help, or it does not know it.
---@type fun(called: function): string?
M.help_name = function() end

--- An error message with what else to type, for what somebody typed from habit; nil without one.
---@type fun(message: string, frame: Frame, caller: Frame?): string?
M.advise = function() end

--- The same for code that does not compile, of which a line is known.
---@type fun(message: string, line: string): string?
M.advise_syntax = function() end

---@class Failure
---@field message string with the place in the user's code in front
---@field frames Frame[] of the user's code, innermost first
---@field interrupted boolean ended by Ctrl-C
---@field traceback string? all frames, after `roper.debug(true)`

---@class Frame
---@field place string such as "input 3:2"
---@field within string? such as " in f"
---@field line string? what stands there, where that is known
---@field is_whole boolean is that line all there is of the chunk?
---@field variables table[]? its local variables, a name and a value each
---@field globals table? of its function
---@field called function? by the function, when the error came
---@field first any the first argument of that call

local is_full = false

--- Have errors tell every frame, also those of this library and of C, or the user's alone again.
---
---     > roper.debug(true)
---     true
---     > roper.debug(false)
---     false
---@param on? boolean by default nothing changes
---@return boolean on do they?
function M.debug(on)
  if on ~= nil and type(on) ~= "boolean" then
    error("debug: expected true or false, got " .. type(on), 2)
  elseif on ~= nil then
    is_full = on
  end
  return is_full
end

-- Line `number` of text, without the spaces around it.
local function line_of(text, number)
  local line = escape.lines(text)[number]
  return line and line:match "^%s*(.-)%s*$"
end

-- A place in a chunk, and what stands there.
local function new_frame(source, name, number)
  local text = M.sources[source:match "^=(.*)"]
  local frame = { place = ("%s:%d"):format(name, number),
    is_whole = text ~= nil and not text:find "\n" }
  if not text and source:sub(1, 1) == "@" then
    text = require("roper.base.file").peek(source:sub(2))
  end
  frame.line = text and line_of(text, number)
  return frame
end

-- Is it a file of this library? Lua writes long paths as "..." and their end.
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

-- The globals of a function; nil where it uses none.
local function globals_of(f)
  local i, name, value = 1, debug.getupvalue(f, 1)
  while name and name ~= "_ENV" do
    i = i + 1
    name, value = debug.getupvalue(f, i)
  end
  return value
end

-- One frame of the user's code, at a level of the stack of the function that asks.
local function frame_of(info, level, is_inner)
  local frame = new_frame(info.source, info.short_src, info.currentline)
  frame.variables, frame.globals = {}, globals_of(info.func)
  if is_inner then
    frame.called = debug.getinfo(level, "f").func
    frame.first = select(2, debug.getlocal(level, 1))
  end
  local i, name, value = 1, debug.getlocal(level + 1, 1)
  while name do
    local is_own = name:find "^[%a_]" and name ~= "__frame" -- of RETURN in code.lua
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

-- The frames of the user's code, innermost first, with "…" for more of them; and the function of
-- this library that it called, nil where the error is in the user's code or in C.
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

-- What to say instead where this library stumbles over a value of a wrong type.
local function stumbled(message, called)
  local reason = message:match "%.lua:%d+: (attempt to .*)$" or message:match "^attempt to .*$"
  local name = reason and called and M.help_name(called)
  return name and ("%s: failed on its arguments (roper.debug(true) shows where); ?%s shows what "
    .. "it takes"):format(name, name)
end

-- Names that code may have meant: those of functions in tables, and in the tables in these.
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

-- The names that could stand in place of a field or a method in a line; none where what it is
-- taken from is no global.
local function names_instead(name, line)
  local path = line and line:match("([%a_][%w_.]*[.:])" .. name .. "%f[^%w_]") or ""
  local ok, names = pcall(names_of.after, path, _G)
  for i, found in ipairs(ok and names or {}) do
    names[i] = found:sub(#path + 1)
  end
  return ok and names or {}
end

-- The name that a message says is unknown, or the string that it did not expect, and those that it
-- lists instead; nil where it is about something else.
local function refused(message)
  local name, listed = message:match "unknown %a+ ([%w_]+)[^;]*; it takes ([^;]*)$"
  if not name then
    listed, name = message:match 'expected one of ([^:]*), got "([^"]+)"%)?$'
  end
  local names, form = {}, "[%w_]+"
  if not name then
    listed, name = message:match 'expected ([^:]*), got "([^"]+)"%)?$'
    form = '"([%w_]+)"'
  end
  for candidate in (listed or ""):gmatch(form) do
    names[#names + 1] = candidate
  end
  return name, names
end

--- The end of a message about a global that nobody has set.
---@param name string
---@return string hint as of `suggest.hint`
function M.global_hint(name)
  local names = {}
  for key in pairs(_G) do
    names[#names + 1] = type(key) == "string" and key or nil
  end
  return suggest.hint(name, names)
end

-- "; did you mean …" for the variables of a line that nobody has set, for an error about a nil.
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

-- "; did you mean …" for an error about a name that stands for nothing, in a frame where that is
-- known.
local function hint(message, frame)
  local name, names = refused(message)
  if name then
    return suggest.hint(name, names)
  elseif frame and frame.line and (message:find "got nil" or message:find "got no value") then
    return unset_hint(frame)
  end
  local kind
  kind, name = message:match "nil value %((%a+) '([%w_]+)'%)$"
  local unset = message:match 'undefined variable "([%w_]+)"$'
  if unset or kind == "global" then
    return M.global_hint(unset or name)
  elseif kind == "method" or kind == "field" then
    names = names_instead(name, frame and frame.line)
    if names[1] then
      return suggest.hint(name, names)
    end
    local library = { string, table, math, io, os, package.loaded.roper }
    local nearest = suggest.nearest(name, function_names(library, 3, {}))
    return nearest and nearest ~= name and suggest.hint(name, { nearest }) or ""
  end
  return ""
end

--- An error message without the place in this library that raised it, wherever the library is.
---@param message string
---@return string
function M.without_place(message)
  local file, text = message:match "^([^\n]-%.lua):%d+: (.*)$"
  return file and is_ours(file) and text or message
end

-- The message with the place in the user's code in front, not one in this library,
-- and without the list of files that `require` looked for.
local function placed(message, frames)
  local rest = M.without_place(message)
    :gsub("(module '[^\n]*' not found):\n\tno field.*", "%1")
  if rest:find "^[^\n]-:%d+: " or not frames[1] then
    return rest
  end
  return ("%s: %s"):format(frames[1].place, rest)
end

--- Is an error value that of Ctrl-C?
---@param value any
---@return boolean
function M.is_interrupt(value)
  return type(value) == "string"
    and (value == "interrupted" or value:find ":%d+: interrupted$" ~= nil)
end

--- A failure of which the message is all that is known: of code that does not compile.
---@param message string
---@return Failure
function M.bare(message)
  local name, number = message:match "^([^\n]-):(%d+): "
  local frame = M.sources[name] and new_frame("=" .. name, name, tonumber(number))
  if frame then -- a message about the end is about what is before it
    local line = frame.line or M.sources[name]:match "([^\n]*)%s*$"
    message = M.advise_syntax(message, line) or message
  end
  return { message = message, frames = { frame }, interrupted = false }
end

--- Turn an error value into a failure, inside the code that raised it.
---@param value any
---@return Failure
function M.of(value)
  local frames, called = user_frames()
  local metatable = debug.getmetatable(value)
  if type(value) ~= "string" and type(value) ~= "number"
    and not (metatable and metatable.__tostring) then
    value = ("error object %s"):format(require("roper.base.format").value(value))
  end
  local message = tostring(value)
  -- Advice looks at the user's values, whose metamethods may raise.
  local is_asked, advised = pcall(M.advise, message, frames[1] or {}, frames[2])
  local told = is_asked and advised or stumbled(message, called)
    or message .. hint(message, frames[1])
  return {
    message = placed(told, frames),
    frames = frames,
    interrupted = M.is_interrupt(message),
    traceback = is_full and debug.traceback(nil, 2) or nil,
  }
end

--- The frames of a failure as text, each an indented line; an arrow marks the one that the message
--- is about.
---@param failure Failure
---@return string trace "" where there is one frame or none: the message names it
function M.trace(failure)
  local frames = failure.frames
  if failure.traceback then
    return "\n" .. failure.traceback
  elseif #frames < 2 then
    return ""
  end
  return M.lines(failure, failure.message:match "^(.-:%d+): ")
end

--- Frames of a failure as lines of text, each after a line end.
---@param failure Failure
---@param marked string|integer? the place or the number of the frame that the arrow points at; the
---   innermost where it is none of them
---@return string
function M.lines(failure, marked)
  local arrow = math.type(marked) and marked or 1
  for i, frame in ipairs(failure.frames) do
    arrow = frame.place == marked and i or arrow
  end
  local room, lines = terminal.columns(io.stderr) - 2, {}
  for i, frame in ipairs(failure.frames) do
    local text = frame.place .. (frame.within or "") .. (frame.line and ": " .. frame.line or "")
    lines[i] = (i == arrow and "\n→ " or "\n  ") .. terminal.cut(text, room)
  end
  return table.concat(lines)
end

return M
