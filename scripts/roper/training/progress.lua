--- The line that a training run shows: step, loss beside its floor, speed, time left.
local terminal = require "roper.base.terminal"

local M = {}

local BAR <const> = 12 -- cells; fewer where the numbers need the room

local Progress = {}
Progress.__index = Progress

--- Seconds as people say them: 42s, 3m10s, 2h05m.
---@param seconds number
---@return string
function M.duration(seconds)
  local whole = math.floor(seconds + 0.5)
  if whole < 60 then
    return whole .. "s"
  elseif whole < 3600 then
    return ("%dm%02ds"):format(whole // 60, whole % 60)
  end
  return ("%.0fh%02.0fm"):format(whole // 3600, whole % 3600 // 60)
end

-- A number of things a second: 950, 12.3k, 1.2M.
local function rate(value)
  if value >= 1e6 then
    return ("%.1fM"):format(value / 1e6)
  elseif value >= 1e3 then
    return ("%.1fk"):format(value / 1e3)
  end
  return ("%.0f"):format(value)
end

--- A bar of `width` cells, of which `fraction` are full.
---@param fraction number from 0 to 1
---@param width integer none below 1
---@return string
function M.bar(fraction, width)
  local full = math.floor(fraction * width + 0.5)
  return ("█"):rep(full) .. ("░"):rep(width - full)
end

---@param options table name, steps, floor: lowest mean loss that is possible, tokens: predicted a
---   step
---@return Progress with update, note and finish
function M.new(options)
  return setmetatable({ options = options, line = terminal.progress(), smooth = nil }, Progress)
end

---@param step integer steps that are done
---@param loss number of this step; a running mean is shown
---@param speed number steps a second
function Progress:update(step, loss, speed)
  local o = self.options
  self.smooth = self.smooth and 0.95 * self.smooth + 0.05 * loss or loss
  local numbers = ("%d/%d  loss %.3f (floor %.3f)  %s tokens/s  %s left"):format(step, o.steps,
    self.smooth, o.floor, rate(speed * o.tokens), M.duration((o.steps - step) / speed))
  local room = self.line:room() - #numbers - 1
  local name = terminal.cut(o.name, math.max(0, room))
  local bar = M.bar(step / o.steps, math.min(BAR, room - utf8.len(name) - 1))
  self.line:update(name .. " " .. (bar ~= "" and bar .. " " or "") .. numbers)
end

--- Say something, on a line of its own.
---@param text string
function Progress:note(text)
  self.line:finish()
  self.line.stream:write(self.options.name, ": ", text, "\n")
end

function Progress:finish()
  self.line:finish()
end

return M
