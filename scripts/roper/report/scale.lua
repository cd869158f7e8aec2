--- Axes: from values to places on them, and round numbers to label them with.
local round_step = require("roper.plot.axis").round_step

local M = {}

local Scale = {}
Scale.__index = Scale

--- An axis over values, ended at round numbers unless it is `exact`.
---@param low number
---@param high number at least low
---@param options table? ticks = 5, about so many; exact = false: end at low and high
---@return Scale low, high, step; place(value), ticks()
function M.new(low, high, options)
  options = options or {}
  if high <= low then
    local half = math.max(math.abs(low) * 0.05, 0.5)
    low, high = low - half, high + half
  end
  local step = round_step((high - low) / (options.ticks or 5))
  local self = setmetatable({ low = low, high = high, step = step }, Scale)
  if not options.exact then
    self.low, self.high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
  end
  return self
end

--- Where a value stands, from 0 (low) to 1 (high).
---@param value number
---@return number
function Scale:place(value)
  return (value - self.low) / (self.high - self.low)
end

--- Round values along the axis.
---@return table[] {value, text} each
function Scale:ticks()
  local digits = math.max(0, -math.floor(math.log(self.step, 10) + 1e-9))
  local list = {}
  local first = math.ceil(self.low / self.step - 1e-9)
  for i = first, math.floor(self.high / self.step + 1e-9) do
    local value = i * self.step
    list[#list + 1] = { value = value, text = require("roper.report.number").fixed(value, digits) }
  end
  return list
end

return M
