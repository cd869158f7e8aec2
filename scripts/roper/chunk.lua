--- Lua code from outside: compiled as an expression or as statements, run so that
--- Ctrl-C can end it, its errors told without the frames of this library.
local core = require "roper.core"
local suggest = require "roper.suggest"

local M = {}

local LIBRARY <const> = debug.getinfo(1, "S").source:match "^@?(.*/)" or "./"
local LONGEST_TRACE <const> = 8
-- In front of an expression: what is to be closed keeps its frame during a call in it.
local RETURN <const> = "local __frame <close> = nil return "

-- The message and whether more input could mend it; no message when it compiles.
local function try(source, name, globals)
  local chunk, message = load(source .. "\n", "=" .. name, "t", globals)
  return chunk, message, message ~= nil and message:find "<eof>'?$" ~= nil
end

-- Does the message complain about the first word of the source?
local function is_about_start(message, source)
  local token = message:match "near '?(.-)'?$"
  return token ~= nil and source:match("^%s*(.*)"):sub(1, #token) == token
end

--- Compile an expression, or else statements.
---@param source string
---@param name string stands for the source in messages
---@param globals table
---@return function? chunk nil where it does not compile
---@return "expression"|"statement"|"incomplete"|"wrong" kind incomplete: more lines could mend it
---@return string? message why it does not compile
function M.compile(source, name, globals)
  local chunk, expression_message, expression_open = try(RETURN .. source, name, globals)
  if chunk then
    return chunk, "expression"
  end
  local statement_message, statement_open
  chunk, statement_message, statement_open = try(source, name, globals)
  if chunk then
    return chunk, "statement"
  elseif expression_open or statement_open then
    return nil, "incomplete", statement_open and statement_message or expression_message
  elseif is_about_start(statement_message, source)
    and not is_about_start(expression_message, source)
    and not expression_message:find("<eof> expected", 1, true) then
    return nil, "wrong", expression_message
  end
  return nil, "wrong", statement_message
end

-- One frame of a traceback, nil for a frame of C or of this library.
local function frame_text(info)
  if info.what == "C" or info.source:sub(2, #LIBRARY + 1) == LIBRARY then
    return nil
  end
  local where = ("%s:%d"):format(info.short_src, info.currentline)
  if info.what == "main" then
    return where
  elseif info.name then
    return ("%s in %s"):format(where, info.name)
  end
  return ("%s in a function of line %d"):format(where, info.linedefined)
end

-- The frames of the user's code, innermost first, with "…" for more of them.
local function user_frames()
  local frames, level = {}, 2
  local info = debug.getinfo(level, "Slnf")
  while info and info.func ~= core.interrupt_call do
    if #frames == LONGEST_TRACE then
      frames[#frames + 1] = "…"
      break
    end
    frames[#frames + 1] = frame_text(info)
    level = level + 1
    info = debug.getinfo(level, "Slnf")
  end
  return frames
end

-- "; did you mean …" for an error about a global that does not exist.
local function hint(message)
  local name = message:match "nil value %(global '([%w_]+)'%)$"
  if not name then
    return ""
  end
  local names = {}
  for key in pairs(_G) do
    names[#names + 1] = type(key) == "string" and key or nil
  end
  return suggest.hint(name, names)
end

-- The message with the place in the user's code in front, not one in this library,
-- and without the list of files that `require` looked for.
local function placed(message, frames)
  local rest = message:gsub("^%S*scripts/roper/[%w_/]+%.lua:%d+: ", "")
    :gsub("(module '[^\n]*' not found):\n\tno field.*", "%1")
  if rest:find "^[^\n]-:%d+: " or not frames[1] then
    return rest
  end
  return ("%s: %s"):format(frames[1]:match "^%S*:%d+", rest)
end

--- What went wrong in code that was run.
---@class Failure
---@field message string with the place in the user's code in front
---@field frames string[] of the user's code, innermost first
---@field interrupted boolean ended by Ctrl-C

-- Turn an error value into a failure, inside the code that raised it.
local function on_error(value)
  local frames = user_frames()
  local metatable = debug.getmetatable(value)
  if type(value) ~= "string" and type(value) ~= "number"
    and not (metatable and metatable.__tostring) then
    value = ("error object %s"):format(require("roper.format").value(value))
  end
  local message = tostring(value)
  return {
    message = placed(message, frames) .. hint(message),
    frames = frames,
    interrupted = message == "interrupted" or message:find ":%d+: interrupted$" ~= nil,
  }
end

-- The results of interrupt_call; on_error did not see an error that left no memory.
local function settle(ok, result, ...)
  if not ok and type(result) ~= "table" then
    result = { message = tostring(result), frames = {}, interrupted = false }
  end
  return ok, result, ...
end

--- Run a function; Ctrl-C ends it.
---@param action function
---@param ... any its arguments
---@return boolean ok
---@return any ... its results, or a Failure
function M.call(action, ...)
  return settle(core.interrupt_call(action, on_error, ...))
end

--- The frames of a failure as text, one an indented line.
---@param failure Failure
---@return string trace "" where there is one frame or none: the message names it
function M.trace(failure)
  if #failure.frames < 2 then
    return ""
  end
  return "\n  " .. table.concat(failure.frames, "\n  ")
end

return M
