--- Several lines that show how a long job is getting on. On a terminal they rewrite themselves
--- below what was said; elsewhere, a pipe or a log file, the last line is printed now and then.
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local terminal = require "roper.base.terminal"

local M = {}

local Board = {}
Board.__index = Board

---@param options? {stream?: file*, every?: number, clock?: fun(): number}
---   stream: io.stderr; every: seconds between printed lines, 30; clock: os.time
---@return Board with say, show and finish
function M.new(options)
  options = options or {}
  local stream = options.stream or io.stderr
  local clock = options.clock or os.time
  return setmetatable({ stream = stream, every = options.every or 30, clock = clock,
    rewrites = terminal.is_capable(stream), printed_at = clock(), lines = {} }, Board)
end

-- Replace what is on the screen by some text, if any, and other lines, in one write without
-- clearing first, so that nothing flickers.
function Board:rewrite(text, lines)
  local parts = { #self.lines > 0 and ("\27[%dF"):format(#self.lines) or "" }
  if text then
    parts[2] = text:gsub("\n", "\27[K\n") .. "\27[K\n"
  end
  for _, line in ipairs(lines) do
    parts[#parts + 1] = line .. "\27[K\n"
  end
  parts[#parts + 1] = "\27[J"
  self.lines = lines
  self.stream:write(table.concat(parts))
  self.stream:flush()
end

--- Print a line that stays.
---@param text string
function Board:say(text)
  text = escape.text(text)
  if self.rewrites then
    self:rewrite(text, self.lines)
  else
    self.stream:write(text, "\n")
    self.stream:flush()
  end
end

--- Show the state of the job.
---@param lines string[] the last one is the job as a whole
function Board:show(lines)
  if self.rewrites then
    local room = terminal.columns(self.stream) - 1
    self:rewrite(nil, tables.map(lines, function(line)
      return terminal.cut(escape.line(line), room)
    end))
  elseif self.clock() - self.printed_at >= self.every then
    self.printed_at = self.clock()
    self:say(lines[#lines])
  end
end

--- Take the lines away; what was said stays.
function Board:finish()
  if self.rewrites then
    self:rewrite(nil, {})
  end
end

return M
