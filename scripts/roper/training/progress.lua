--- Progress line of a training run: step, loss and its floor, speed, time left.
local progress = require "roper.text.progress"
local widths = require "roper.text.width"

local M = {}

local BAR <const> = 12 -- cells; fewer if the numbers need the space

local Progress = {}
Progress.__index = Progress

-- Formats a rate per second: 950, 12.3k, 1.2M.
local function rate(value)
  if value >= 1e6 then
    return ("%.1fM"):format(value / 1e6)
  elseif value >= 1e3 then
    return ("%.1fk"):format(value / 1e3)
  end
  return ("%.0f"):format(value)
end

---@param options table name; steps; floor: the lowest possible mean loss, nil if it is not known;
---   tokens: number predicted in a step
---@return Progress with update, note and finish
function M.new(options)
  return setmetatable({ options = options, display = progress.display() }, Progress)
end

---@param step integer steps done so far
---@param loss number of this step; the line contains a running mean
---@param speed number steps per second
function Progress:update(step, loss, speed)
  local o = self.options
  self.smooth = self.smooth and 0.95 * self.smooth + 0.05 * loss or loss
  local floor = o.floor and (" (floor %.3f)"):format(o.floor) or ""
  local numbers = ("%d/%d  loss %.3f%s  %s tokens/s%s"):format(step, o.steps, self.smooth, floor,
    rate(speed * o.tokens), progress.left((o.steps - step) / speed))
  local room = self.display:room() - #numbers - 1
  local name = widths.cut(o.name, math.max(0, room))
  local bar = progress.bar(step / o.steps, math.min(BAR, room - widths.width(name) - 1))
  self.display:show(name .. " " .. (bar ~= "" and bar .. " " or "") .. numbers)
end

--- Prints a note on a separate line.
function Progress:note(text)
  self.display:say(("%s: %s"):format(self.options.name, text))
end

function Progress:finish()
  self.display:finish()
end

return M
