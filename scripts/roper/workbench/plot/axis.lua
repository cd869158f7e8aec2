--- Axes: their range, ticks at round numbers, and the conversion of values to coordinates.
local tables = require "roper.base.tables"

local M = {}

local Axis = {}
Axis.__index = Axis

-- Returns the smallest number of at least `least` that is 1, 2 or 5 times a power of ten.
local function round_step(least)
  local power = 10.0 ^ math.floor(math.log(least, 10))
  for _, factor in ipairs { 1, 2, 5 } do
    if factor * power >= least * (1 - 1e-9) then
      return factor * power
    end
  end
  return 10 * power
end

-- Widens a range if its width is 0 or negligible.
local function widened(low, high)
  local size = math.max(math.abs(low), math.abs(high))
  if size >= 1e-290 and high - low > 1e-10 * size then
    return low, high
  end
  local margin = size < 1e-290 and 1 or 0.1 * size
  return low - margin, high + margin
end

--- Creates an axis for the finite values of several lists.
---@param lists number[][] with nan for gaps
---@param options table range?: {low, high} instead of the range of the values; log?: a logarithmic
---   scale, with ticks at powers of two if all values are such; round?: extend to the next round
---   numbers; integers?: ticks at integers only; at?: the values of all ticks
---@return table? axis nil if no value can be drawn
function M.new(lists, options)
  local low, high, base = math.huge, -math.huge, options.log and 2
  for _, list in ipairs(lists) do
    for i = 1, #list do
      local value = list[i]
      if value == value and (not options.log or value > 0) then
        low, high = math.min(low, value), math.max(high, value)
        base = base and 2.0 ^ math.floor(math.log(value, 2) + 0.5) == value and base
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
  return setmetatable({ low = low, high = high, log = options.log and (base or 10),
    integers = options.integers, at = options.at }, Axis)
end

--- Converts a value to a coordinate, 0 at the low end and 1 at the high end; nan if a logarithmic
--- scale cannot represent it.
function Axis:place(value)
  if self.log then
    return value > 0 and (math.log(value) - math.log(self.low))
      / (math.log(self.high) - math.log(self.low)) or 0 / 0
  end
  return (value - self.low) / (self.high - self.low)
end

-- Returns ticks at multiples of a step, all with as many digits as the step requires.
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

-- Returns ticks at powers of the base, 2 or 10. If there are many, some are omitted; if there are
-- few, there are also ticks at 2 and 5 times powers of 10.
local function log_ticks(low, high, count, base)
  local first, last = math.floor(math.log(low, base)), math.ceil(math.log(high, base))
  local every = math.max(1, math.ceil((last - first) / count))
  local factors = base == 10 and 3 * (last - first) <= count + 1 and { 1, 2, 5 } or { 1 }
  local ticks = {}
  for power = first, last, every do
    for _, factor in ipairs(factors) do
      local value = factor * (base + 0.0) ^ power
      if value >= low * (1 - 1e-9) and value <= high * (1 + 1e-9) then
        ticks[#ticks + 1] = { value = value, text = ("%g"):format(value) }
      end
    end
  end
  return ticks
end

--- Returns ticks at round numbers.
---@param count integer approximate number of ticks
---@return {value: number, text: string}[] ticks from low to high
function Axis:ticks(count)
  if self.at then
    return tables.map(self.at, function(value)
      return { value = value, text = ("%g"):format(value) }
    end)
  end
  local ticks = self.log and log_ticks(self.low, self.high, count, self.log) or {}
  if #ticks > 1 then
    return ticks
  end
  local step = round_step((self.high - self.low) / math.max(count, 1))
  return linear_ticks(self.low, self.high, self.integers and math.max(step, 1) or step)
end

return M
