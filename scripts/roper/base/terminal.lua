--- What the terminal can show: its width, colours, a line that rewrites itself.
--- Without a terminal (a pipe, a file) everything is plain text.
local core = require "roper.core"
local escape = require "roper.base.escape"

local M = {}

local DESCRIPTORS = { [io.stdin] = 0, [io.stdout] = 1, [io.stderr] = 2 }
local STYLES = { bold = "1", dim = "2", red = "31", green = "32", yellow = "33", cyan = "36" }

-- Columns and rows of the terminal behind a stream, nil where there is none.
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

--- The width to fit output to.
---@param stream file*
---@return integer columns 80 where there is no terminal
function M.columns(stream)
  return size(stream) or 80
end

--- The lines that a terminal shows at once.
---@param stream file*
---@return integer rows infinite where there is no terminal
function M.rows(stream)
  return select(2, size(stream)) or math.huge
end

--- Is there a terminal behind the stream that understands control sequences?
---@param stream file*
---@return boolean
function M.is_capable(stream)
  local name = os.getenv "TERM"
  return M.is_terminal(stream) and name ~= nil and name ~= "" and name ~= "dumb"
end

--- Should text on the stream be coloured? Not where there is no terminal, where it is a dumb one,
--- or where the environment sets NO_COLOR.
---@param stream file*
---@return boolean
function M.is_colored(stream)
  local refused = os.getenv "NO_COLOR"
  return M.is_capable(stream) and (refused == nil or refused == "")
end

--- The text in a style, unchanged where the stream is no terminal, the terminal
--- is a dumb one, or the environment sets NO_COLOR.
---@param stream file* where it will be written
---@param style "bold"|"dim"|"red"|"green"|"yellow"|"cyan"
---@param text string
---@return string
function M.styled(stream, style, text)
  if not M.is_colored(stream) then
    return text
  end
  return ("\27[%sm%s\27[0m"):format(STYLES[style], text)
end

--- Write an error message to standard error, after what standard output holds.
---@param head string who or what reports, coloured
---@param message string
function M.report(head, message)
  io.stdout:flush()
  io.stderr:write(M.styled(io.stderr, "red", head .. ":"), " ",
    escape.text(message), "\n")
end

--- The first `count` characters of UTF-8 text; bytes where it is not UTF-8.
---@param text string
---@param count integer
---@return string
function M.cut(text, count)
  local length = utf8.len(text)
  if not length then
    return text:sub(1, count)
  end
  return length <= count and text or text:sub(1, utf8.offset(text, count + 1) - 1)
end

local Progress = {}
Progress.__index = Progress

--- A line that tells how far a long job is. On a terminal it rewrites itself,
--- cut to the width; elsewhere a line is printed at first and then now and then.
---@param options? {stream?: file*, every?: number, clock?: fun(): number}
---   stream: io.stderr; every: seconds between printed lines, 30; clock: os.time
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
    shown = nil, -- the newest text where it is on the screen
    waiting = nil, -- the newest text where it was not printed yet
  }, Progress)
end

--- The columns that an update is cut to.
---@return number room infinite where lines are printed
function Progress:room()
  return self.rewrites and M.columns(self.stream) - 3 or math.huge -- ^C and the cursor take 3
end

--- Show a new state of the job.
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

--- Leave the newest state standing, on a line of its own.
function Progress:finish()
  if self.rewrites and self.shown then
    self.stream:write("\n")
  elseif self.waiting then
    self.stream:write(self.waiting, "\n")
  end
  self.shown, self.waiting = nil, nil
end

return M
