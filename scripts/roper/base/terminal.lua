--- Terminal output: width, colours, and a progress line that rewrites itself. Without a terminal (a
--- pipe, a file), output is plain text.
local core = require "roper.core"
local escape = require "roper.base.escape"
local widths = require "roper.base.text"

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
  local name = os.getenv "TERM"
  return M.is_terminal(stream) and name ~= nil and name ~= "" and name ~= "dumb"
end

--- Should text on the stream be coloured? False without a terminal, on a dumb terminal, and if the
--- environment variable NO_COLOR is set.
---@param stream file*
---@return boolean
function M.is_colored(stream)
  local refused = os.getenv "NO_COLOR"
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

--- As in `base/text`.
M.cut = widths.cut

local Progress = {}
Progress.__index = Progress

--- A progress line. On a terminal, updates rewrite it, cut to the width; elsewhere they print lines
--- at intervals.
---@param options? {stream?: file*, every?: number, clock?: fun(): number} defaults:
---   stream: io.stderr; every: 30, seconds between printed lines; clock: os.time
---@return table progress with the methods `room`, `update` and `finish`
function M.progress(options)
  options = options or {}
  local stream = options.stream or io.stderr
  return setmetatable({
    stream = stream,
    every = options.every or 30,
    clock = options.clock or os.time,
    rewrites = M.is_capable(stream),
    printed_at = -math.huge,
    shown = nil, -- the newest text, if it is on the screen
    waiting = nil, -- the newest text, if it was not printed yet
  }, Progress)
end

--- The number of columns to which updates are cut.
---@return number room infinite unless the line rewrites itself
function Progress:room()
  return self.rewrites and M.columns(self.stream) - 3 or math.huge -- ^C and the cursor take 3
end

--- Shows a new state of the job.
---@param text string one line
function Progress:update(text)
  text = escape.line(text)
  if self.rewrites then
    if text ~= self.shown then
      self.stream:write("\r", M.cut(text, self:room()), "\27[K")
      self.stream:flush()
      self.shown = text
    end
  elseif self.clock() - self.printed_at >= self.every then
    self.stream:write(text, "\n")
    self.stream:flush()
    self.printed_at, self.waiting = self.clock(), nil
  else
    self.waiting = text
  end
end

--- Leaves the newest state on a line of its own.
function Progress:finish()
  if self.rewrites and self.shown then
    self.stream:write("\n")
  elseif self.waiting then
    self.stream:write(self.waiting, "\n")
  end
  self.shown, self.waiting = nil, nil
end

return M
