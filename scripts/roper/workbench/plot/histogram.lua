--- Histograms: bins and counts.
local axes = require "roper.workbench.plot.axis"
local core = require "roper.core"
local data = require "roper.workbench.plot.data"
local format = require "roper.text.format"
local order = require "roper.tensor.operations.order"

local M = {}

local MOST_CHOSEN <const> = 100 -- bins by default
local MOST_WHOLE <const> = 50 -- largest range of integers with a bin for each number

local LARGEST_WHOLE <const> = 2 ^ 50 -- below this, bin edges at halves are exact

-- Returns the finite numbers within a range (if there is one), the smallest and the largest of
-- them, and whether all of them are whole.
local function within(list, range)
  local kept, low, high, is_whole = {}, math.huge, -math.huge, true
  for _, x in ipairs(list) do
    if x == x and (not range or x >= range[1] and x <= range[2]) then
      kept[#kept + 1] = x
      low, high = math.min(low, x), math.max(high, x)
      is_whole = is_whole and x == math.floor(x) and math.abs(x) < LARGEST_WHOLE
    end
  end
  return kept, low, high, is_whole
end

-- Returns the number of bins by NumPy's rule "auto": the larger of the numbers by the rules of
-- Sturges and of Freedman and Diaconis.
local function chosen_count(kept, width)
  local sorted = order.sort(core.tensor(kept, "float64"), 1):totable()
  local function quantile(p)
    return sorted[math.floor(p * (#sorted - 1) + 0.5) + 1]
  end
  local step = 2 * (quantile(0.75) - quantile(0.25)) / (#sorted) ^ (1 / 3)
  local least = math.ceil(math.log(#sorted, 2)) + 1
  local count = step > 0 and width / step < MOST_CHOSEN and math.ceil(width / step) or least
  return math.min(MOST_CHOSEN, math.max(least, count))
end

-- Returns the number of bins, the lower edge of the first, and their width.
local function bins_of(o, kept, low, high, is_whole)
  if o.range then
    low, high = o.range[1], o.range[2]
  elseif is_whole and not o.bins and high - low < MOST_WHOLE then
    return math.tointeger(high - low) + 1, low - 0.5, 1
  else
    local axis = axes.new({ { low, high } }, {})
    low, high = axis.low, axis.high
  end
  local count = o.bins or chosen_count(kept, high - low)
  return count, low, (high - low) / count
end

-- Returns the outline of the bins, from 0 up to each count and back to 0.
local function outline(counts, low, width)
  local x, y, zeros = { low }, { 0.0 }, { 0.0 }
  for i, count in ipairs(counts) do
    for side = i - 1, i do
      x[#x + 1], y[#y + 1], zeros[#zeros + 1] = low + side * width, count + 0.0, 0.0
    end
  end
  x[#x + 1], y[#y + 1], zeros[#zeros + 1] = x[#x], 0.0, 0.0
  return { x = x, y = y, low = zeros, high = y }
end

--- Returns the series of `plot.hist`.
---
--- Errors: there is no finite number in the range.
---@param value any tensor of any shape, or a list
---@param o table the options: bins, range
---@return table series
---@return string? note about omitted values
function M.series(value, o)
  if format.is_tensor(value) then
    value = value:detach():contiguous():view { value:count() }
  end
  local list, range = data.numbers("plot.hist", value), data.range("plot.hist: range", o.range)
  local kept, low, high, is_whole = within(list, range)
  if #kept == 0 then
    error(("plot.hist: expected at least one finite number%s, got none"):format(
      range and (" from %g to %g"):format(range[1], range[2]) or ""), 0)
  end
  local count, first, width = bins_of(o, kept, low, high, is_whole)
  local counts = {}
  for i = 1, count do
    counts[i] = 0
  end
  for _, x in ipairs(kept) do
    local i = math.min(count, math.max(1, math.floor((x - first) / width) + 1))
    counts[i] = counts[i] + 1
  end
  local left_out = #list - #kept
  return outline(counts, first, width), left_out > 0
    and ("%d of %d values are not finite%s"):format(left_out, #list,
      range and ", or outside the range" or "") or nil
end

return M
