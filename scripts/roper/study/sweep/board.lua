--- Several lines that show how a long job is getting on. On a terminal they rewrite themselves
--- below what was said; elsewhere, a pipe or a log file, the last line is printed now and then.
local printable = require "roper.base.printable"
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

--- Move to where the first of the lines began and clear all below.
function Board:clear()
  if #self.lines > 0 then
    self.stream:write(("\27[%dF\27[J"):format(#self.lines))
  end
end

function Board:draw()
  for _, line in ipairs(self.lines) do
    self.stream:write(line, "\n")
  end
  self.stream:flush()
end

--- Print a line that stays.
---@param text string
function Board:say(text)
  text = printable.text(text)
  if self.rewrites then
    self:clear()
  end
  self.stream:write(text, "\n")
  if self.rewrites then
    self:draw()
  end
  self.stream:flush()
end

--- Show the state of the job.
---@param lines string[] the last one is the job as a whole
function Board:show(lines)
  if self.rewrites then
    local room = terminal.columns(self.stream) - 1
    self:clear()
    self.lines = {}
    for i, line in ipairs(lines) do
      self.lines[i] = terminal.cut(printable.line(line), room)
    end
    self:draw()
  elseif self.clock() - self.printed_at >= self.every then
    self.printed_at = self.clock()
    self:say(lines[#lines])
  end
end

--- Take the lines away; what was said stays.
function Board:finish()
  if self.rewrites then
    self:clear()
    self.lines = {}
    self.stream:flush()
  end
end

return M
