--- Terminal output: width and colours. Without a terminal (a pipe, a file), output is plain text.
local core = require "roper.core"
local environment = require "roper.system.environment"
local escape = require "roper.base.escape"

local M = {}

local DESCRIPTORS = { [io.stdin] = 0, [io.stdout] = 1, [io.stderr] = 2 }
local STYLES = { bold = "1", dim = "2", red = "31", green = "32", yellow = "33", cyan = "36" }

-- Columns and rows of a stream's terminal, nil without a terminal.
local function size(stream)
  local descriptor = DESCRIPTORS[stream]
  if descriptor then
    return core.terminal_size(descriptor)
  end
end

--- Is the stream connected to a terminal?
---@param stream file*
---@return boolean
function M.is_terminal(stream)
  return size(stream) ~= nil
end

--- The width of output in columns.
---@param stream file*
---@return integer columns 80 without a terminal
function M.columns(stream)
  return size(stream) or 80
end

--- The number of lines of the terminal.
---@param stream file*
---@return integer rows infinite without a terminal
function M.rows(stream)
  return select(2, size(stream)) or math.huge
end

--- Is the stream connected to a terminal that supports control sequences?
---@param stream file*
---@return boolean
function M.is_capable(stream)
  local name = environment.get "TERM"
  return M.is_terminal(stream) and name ~= nil and name ~= "" and name ~= "dumb"
end

--- Should text on the stream be coloured? False without a terminal, on a dumb terminal, and if the
--- environment variable NO_COLOR is set.
---@param stream file*
---@return boolean
function M.is_colored(stream)
  local refused = environment.get "NO_COLOR"
  return M.is_capable(stream) and (refused == nil or refused == "")
end

--- Text in a style; unchanged if `is_colored` is false.
---@param stream file* to which it will be written
---@param style "bold"|"dim"|"red"|"green"|"yellow"|"cyan"
---@param text string
---@return string
function M.styled(stream, style, text)
  if not M.is_colored(stream) then
    return text
  end
  return ("\27[%sm%s\27[0m"):format(STYLES[style], text)
end

--- Flushes standard output and writes an error message to standard error.
---@param head string coloured start of the message, such as a program name
---@param message string
function M.report(head, message)
  io.stdout:flush()
  io.stderr:write(M.styled(io.stderr, "red", head .. ":"), " ",
    escape.text(message), "\n")
end

return M
