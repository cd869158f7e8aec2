--- Progress display: bars, durations, and a progress line for work measured in bytes.
local terminal = require "roper.base.terminal"

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

--- A bar of `width` cells, of which `fraction` are full.
---@param fraction number from 0 to 1
---@param width integer the bar is empty below 1
---@return string
function M.bar(fraction, width)
  local full = math.floor(fraction * width + 0.5)
  return ("█"):rep(full) .. ("░"):rep(width - full)
end

local Work = {}
Work.__index = Work
Work.__close = function(work)
  work:finish()
end

--- A progress line for a job measured in bytes.
---@param name string
---@param total integer bytes in total
---@param clock? fun(): number returns seconds; by default a monotonic clock
---@return table work with the methods `add` and `finish`
function M.work(name, total, clock)
  clock = clock or function()
    return require("luv").hrtime() * 1e-9
  end
  return setmetatable({ name = name, total = total, done = 0, clock = clock, start = clock(),
    line = terminal.progress() }, Work)
end

--- Adds finished bytes.
---@param bytes integer
function Work:add(bytes)
  self.done = self.done + bytes
  local elapsed = self.clock() - self.start
  if elapsed >= PATIENCE then
    local left = elapsed / self.done * math.max(0, self.total - self.done)
    self.line:update(("%s %s %.1f of %.1f MB%s"):format(self.name,
      M.bar(math.min(1, self.done / self.total), BAR), self.done / 1e6, self.total / 1e6,
      M.left(left)))
  end
end

function Work:finish()
  self.line:finish()
end

return M
