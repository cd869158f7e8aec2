--- Axes: the range that is shown, round numbers to mark, and where a value lies.
local M = {}

local Axis = {}
Axis.__index = Axis

-- The smallest of 1, 2, 5, 10, 20, ... times a power of ten that is at least `least`.
local function round_step(least)
  local power = 10.0 ^ math.floor(math.log(least, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= least * (1 - 1e-9) then
      return factor * power
    end
  end
  return 10 * power
end

-- A range that has some width around values that have none.
local function widened(low, high)
  local size = math.max(math.abs(low), math.abs(high))
  if size >= 1e-290 and high - low > 1e-10 * size then
    return low, high
  end
  local margin = size < 1e-290 and 1 or 0.1 * size
  return low - margin, high + margin
end

--- An axis for the finite values of several lists.
---@param lists number[][] nan where there is none
---@param options table range?: {low, high} to show in place of what the values need; log?: a
---   logarithmic scale; round?: reach to the next round numbers; integers?: mark no others
---@return table? axis nil where no value can be shown
function M.new(lists, options)
  local low, high = math.huge, -math.huge
  for _, list in ipairs(lists) do
    for i = 1, #list do
      local value = list[i]
      if value == value and (not options.log or value > 0) then
        low, high = math.min(low, value), math.max(high, value)
      end
    end
  end
  if low > high then
    return nil
  elseif options.range then
    low, high = options.range[1], options.range[2]
  elseif options.log then
    if high / low < 1.1 then
      low, high = low / 2, high * 2
    end
  else
    low, high = widened(low, high)
    if options.round then
      local step = round_step((high - low) / 5)
      low, high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
    end
  end
  return setmetatable({ low = low, high = high, log = options.log,
    integers = options.integers }, Axis)
end

--- Where a value lies, 0 at the low end and 1 at the high one; nan for what a logarithmic scale
--- does not have.
---@param value number
---@return number
function Axis:place(value)
  if self.log then
    return value > 0 and (math.log(value) - math.log(self.low))
      / (math.log(self.high) - math.log(self.low)) or 0 / 0
  end
  return (value - self.low) / (self.high - self.low)
end

-- Numbers a step apart, all written with as many digits as the step needs.
local function linear_ticks(low, high, step)
  local largest = math.max(math.abs(low), math.abs(high))
  local power = math.floor(math.log(step, 10) + 1e-9)
  local decimals = math.max(0, -power)
  local digits = math.floor(math.log(largest, 10) + 1e-9) - power + 1
  local form = largest < 1e6 and decimals <= 5 and ("%%.%df"):format(decimals)
    or ("%%.%dg"):format(math.min(digits, 15))
  local ticks = {}
  for i = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) do
    local value = i * step + 0.0 -- the sum turns -0 into 0
    ticks[#ticks + 1] = { value = value, text = form:format(value) }
  end
  return ticks
end

-- Powers of ten, some left out where they are many; with 2 and 5 times them where they are few.
local function log_ticks(low, high, count)
  local first, last = math.floor(math.log(low, 10)), math.ceil(math.log(high, 10))
  local every = math.max(1, math.ceil((last - first) / count))
  local factors = 3 * (last - first) <= count + 1 and { 1, 2, 5 } or { 1 }
  local ticks = {}
  for power = first, last, every do
    for _, factor in ipairs(factors) do
      local value = factor * 10.0 ^ power
      if value >= low * (1 - 1e-9) and value <= high * (1 + 1e-9) then
        ticks[#ticks + 1] = { value = value, text = ("%g"):format(value) }
      end
    end
  end
  return ticks
end

--- Round numbers on the axis.
---@param count integer about so many
---@return {value: number, text: string}[] ticks from low to high
function Axis:ticks(count)
  local ticks = self.log and log_ticks(self.low, self.high, count) or {}
  if #ticks > 1 then
    return ticks
  end
  local step = round_step((self.high - self.low) / math.max(count, 1))
  return linear_ticks(self.low, self.high, self.integers and math.max(step, 1) or step)
end

return M
