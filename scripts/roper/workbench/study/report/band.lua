--- Bands around mean curves: how far the mean of a method may be from that of more runs.
local curve = require "roper.workbench.study.report.curve"
local statistics = require "roper.tensor.statistics"
local summary = require "roper.workbench.study.report.summary"

local M = {}

-- Maximum number of points of all intervals of a chart by the number of runs: the time of an
-- interval doubles with each run, up to 16.
local MOST_POINTS <const> = { { 10, 2000 }, { 12, 1000 }, { 14, 300 }, { math.huge, 100 } }

-- Minimum number of points of an interval.
local LEAST_POINTS <const> = 8

-- Returns true if so many runs can have an interval.
local function is_enough(runs)
  return statistics.least_p(runs) < summary.LEVEL
end

-- Returns the maximum number of points of the interval of a mean.
local function points_for(runs, means)
  for _, row in ipairs(MOST_POINTS) do
    if runs <= row[1] then
      return math.max(LEAST_POINTS, row[2] // means)
    end
  end
end

local function interval(values)
  return statistics.interval(values, 1 - summary.LEVEL)
end

local function range(values)
  return math.min(table.unpack(values)), math.max(table.unpack(values))
end

-- Returns the band of curves: {x, low, high}, with NaN where a curve breaks.
local function of_curves(curves, bounds, most)
  local aligned, band = curve.aligned(curves), { x = {}, low = {}, high = {} }
  local every = math.ceil(#aligned / (most or #aligned))
  for i, one in ipairs(aligned) do
    if i % every == 1 or every == 1 or i == #aligned or not one[2] then
      local k = #band.x + 1
      band.x[k], band.low[k], band.high[k] = one[1], 0 / 0, 0 / 0
      if one[2] then
        band.low[k], band.high[k] = bounds(one[2])
      end
    end
  end
  return band
end

--- Adds bands to means: the 95 % interval of the mean at each point by the method of
--- `statistics.interval`, if any mean is over enough runs for one, otherwise the range of the runs.
---@param means table[] from `curve.means`; each with two or more runs, or with enough for an
---   interval, gets the field `band`: {x, low, high}
---@return string? kind "interval" or "range"; nil without a band
function M.add(means)
  local most = 1
  for _, mean in ipairs(means) do
    most = math.max(most, mean.runs)
  end
  local kind = most > 1 and (is_enough(most) and "interval" or "range") or nil
  for _, mean in ipairs(kind and means or {}) do
    if kind == "interval" and is_enough(mean.runs) then
      mean.band = of_curves(mean.members, interval, points_for(mean.runs, #means))
    elseif kind == "range" and mean.runs > 1 then
      mean.band = of_curves(mean.members, range)
    end
  end
  return kind
end

--- Describes the bands of a chart.
---@param kind string? from `add`
---@param means table[]
---@param what string "run" or "pair"
---@return string
function M.note(kind, means, what)
  local without = false
  for _, mean in ipairs(means) do
    without = without or not mean.band
  end
  return kind == "interval" and ("Line: mean over the finished %ss. Band: 95 %% interval of this "
      .. "mean at each point, not corrected for their number.%s"):format(what, without
      and (" A mean of fewer than 6 %ss has none."):format(what) or "")
    or kind == "range" and ("Line: mean over the finished %ss. Band: from the smallest to the "
      .. "largest of the %ss; 6 or more would give a 95 %% interval."):format(what, what)
    or ("Line: mean over the finished %ss; with one %s there is no band."):format(what, what)
end

return M
