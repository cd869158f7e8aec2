--- How long code takes: samples of as many runs as make one long enough to trust the clock.
local quantile = require("roper.workbench.study.statistics").quantile
local uv = require "luv"

local M = {}

local SAMPLE <const>, ALL <const> = 0.02, 1 -- seconds
local LEAST <const>, MOST <const> = 5, 100 -- samples

-- Seconds that `runs` runs take.
local function clock(action, runs)
  local start = uv.hrtime()
  for _ = 1, runs do
    action()
  end
  return (uv.hrtime() - start) * 1e-9
end

--- Run a function again and again for about a second, after one run that does not count.
---@param action function
---@return table seconds of one run: median, and the quartiles `low` and `high` that half of the
---   samples lie between; samples, and runs in each
function M.measure(action)
  action()
  local runs, seconds = 1, clock(action, 1)
  while seconds < SAMPLE do
    runs = math.ceil(runs * math.min(10, 1.5 * SAMPLE / math.max(seconds, 1e-9)))
    seconds = clock(action, runs)
  end
  local samples, total = { seconds / runs }, seconds
  while #samples < LEAST or (total < ALL and #samples < MOST) do
    seconds = clock(action, runs)
    samples[#samples + 1], total = seconds / runs, total + seconds
  end
  table.sort(samples)
  return { median = quantile(samples, 0.5), low = quantile(samples, 0.25),
    high = quantile(samples, 0.75), samples = #samples, runs = runs }
end

return M
