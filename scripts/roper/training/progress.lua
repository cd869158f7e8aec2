--- The line that a training run shows: step, loss beside its floor, speed, time left.
local progress = require "roper.base.progress"
local terminal = require "roper.base.terminal"

local M = {}

local BAR <const> = 12 -- cells; fewer where the numbers need the room

local Progress = {}
Progress.__index = Progress

-- A number of things a second: 950, 12.3k, 1.2M.
local function rate(value)
  if value >= 1e6 then
    return ("%.1fM"):format(value / 1e6)
  elseif value >= 1e3 then
    return ("%.1fk"):format(value / 1e3)
  end
  return ("%.0f"):format(value)
end

---@param options table name, steps, floor: lowest mean loss that is possible, nil where it is not
---   known, tokens: predicted a step
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
  local floor = o.floor and (" (floor %.3f)"):format(o.floor) or ""
  local numbers = ("%d/%d  loss %.3f%s  %s tokens/s%s"):format(step, o.steps, self.smooth, floor,
    rate(speed * o.tokens), progress.left((o.steps - step) / speed))
  local room = self.line:room() - #numbers - 1
  local name = terminal.cut(o.name, math.max(0, room))
  local bar = progress.bar(step / o.steps, math.min(BAR, room - utf8.len(name) - 1))
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
