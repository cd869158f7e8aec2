--- Progress of long jobs: a live display, bars and durations to show in it, and a progress line for
--- work measured in bytes.
local clock = require "roper.system.clock"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"
local widths = require "roper.text.width"

local M = {}

local BAR <const> = 12 -- cells

-- Seconds before a job shows its line; shorter jobs show none.
local PATIENCE <const> = 1

--- A duration as text: 42s, 3m10s, 2h05m; <1s if it is above 0 but rounds to 0.
---@param seconds number
---@return string
function M.duration(seconds)
  local whole = math.floor(seconds + 0.5)
  if whole == 0 and seconds > 0 then
    return "<1s"
  elseif whole < 60 then
    return whole .. "s"
  elseif whole < 3600 then
    return ("%dm%02ds"):format(whole // 60, whole % 60)
  end
  return ("%.0fh%02.0fm"):format(whole // 3600, whole % 3600 // 60)
end

--- The end of a progress line: the remaining time, "" for a finished job.
---@param seconds number
---@return string
function M.left(seconds)
  return seconds > 0 and ("  %s left"):format(M.duration(seconds)) or ""
end

--- A progress bar of `width` cells, of which the share `fraction` is full.
---@param fraction number from 0 to 1
---@param width integer the bar is empty below 1
---@return string
function M.bar(fraction, width)
  local full = math.floor(fraction * width + 0.5)
  return ("█"):rep(full) .. ("░"):rep(width - full)
end

--- A function that gets the lines of a display whenever they change, none at its end; nil where
--- displays write to terminals.
---@type fun(lines: string[])?
M.on_screen = nil

local Display = {}
Display.__index = Display
Display.__close = function(display)
  display:finish()
end

--- A live display of one or more lines. On a terminal they rewrite themselves, cut to its width,
--- below the messages; elsewhere, in a pipe or a log file, the last line is printed at intervals.
---@param options? {stream?: file*, every?: number, clock?: fun(): number} defaults:
---   stream: io.stderr; every: 30, seconds between printed lines; clock: os.time
---@return table display with the methods `room`, `show`, `say`, `finish` and `clear`; finishes when
---   it goes out of scope as a variable <close>
function M.display(options)
  options = options or {}
  local stream = options.stream or io.stderr
  return setmetatable({ stream = stream, every = options.every or 30,
    clock = options.clock or clock.time,
    rewrites = M.on_screen ~= nil or terminal.is_capable(stream),
    printed_at = -math.huge,
    lines = {}, -- on the screen
    waiting = nil, -- the newest line, if it was not printed yet
  }, Display)
end

--- The number of columns to which lines are cut.
---@return number room infinite unless the display rewrites itself
function Display:room()
  return self.rewrites and terminal.columns(self.stream) - 3 or math.huge -- 3 for ^C, cursor
end

-- Replaces the lines on the screen by a message, if any, and other lines. A single write that does
-- not clear first avoids flicker.
function Display:draw(lines, message)
  if M.on_screen then
    self.stream:write(message and message .. "\n" or "")
    M.on_screen(lines)
  else
    local up = #self.lines - 1
    self.stream:write(table.concat { "\r", up > 0 and ("\27[%dA"):format(up) or "",
      message and message:gsub("\n", "\27[K\n") .. "\27[K\n" or "",
      table.concat(lines, "\27[K\n"), "\27[J" })
  end
  self.stream:flush()
  self.lines = lines
end

--- Shows a new state of the job.
---@param state string|string[] one line or several, of which the last describes the whole job
function Display:show(state)
  local room = self:room()
  local lines = tables.map(type(state) == "table" and state or { state }, function(line)
    return widths.cut(escape.line(line), room)
  end)
  if self.rewrites then
    if table.concat(lines, "\n") ~= table.concat(self.lines, "\n") then
      self:draw(lines)
    end
    return
  end
  self.waiting = lines[#lines]
  if self.clock() - self.printed_at >= self.every then
    self.printed_at = self.clock()
    self:finish()
  end
end

--- Prints a message that stays.
---@param message string
function Display:say(message)
  message = escape.text(message)
  if self.rewrites then
    self:draw(self.lines, message)
  else
    self.stream:write(message, "\n")
    self.stream:flush()
  end
end

--- Leaves the newest state on the screen or in the log.
function Display:finish()
  if self.lines[1] and M.on_screen then
    self:draw({}, table.concat(self.lines, "\n"))
  elseif self.lines[1] or self.waiting then
    self.stream:write(self.waiting or "", "\n")
    self.stream:flush()
  end
  self.lines, self.waiting = {}, nil
end

--- Removes the lines; messages stay.
function Display:clear()
  if self.lines[1] then
    self:draw {}
  end
  self.waiting = nil
end

--- A progress line for a job measured in bytes.
---@param name string
---@param total integer bytes in total
---@param seconds? fun(): number the clock; by default a monotonic one
---@return table work a display with another method, `add`, which counts finished bytes
function M.work(name, total, seconds)
  seconds = seconds or clock.seconds
  local work, done, start = M.display(), 0, seconds()
  function work:add(bytes)
    done = done + bytes
    local elapsed = seconds() - start
    if elapsed >= PATIENCE then
      self:show(("%s %s %.1f of %.1f MB%s"):format(name, M.bar(math.min(1, done / total), BAR),
        done / 1e6, total / 1e6, M.left(elapsed / done * math.max(0, total - done))))
    end
  end
  return work
end

return M
