--- Benchmark of a function: takes samples, each of as many runs as the clock needs.
local quantile = require("roper.tensor.statistics").quantile
local clock = require "roper.system.clock"

local M = {}

local SAMPLE <const>, ALL <const> = 0.02, 1 -- seconds
local FEWEST <const>, MOST <const> = 5, 100 -- samples

local function seconds_of(action, runs)
  local start = clock.seconds()
  for _ = 1, runs do
    action()
  end
  return clock.seconds() - start
end

--- Runs a function repeatedly for about a second, after one warm-up run.
---@param action function
---@return table seconds of one run: `median` and the quartiles `low` and `high`; the number of
---   `samples` and of `runs` in each
function M.measure(action)
  action()
  local runs, seconds = 1, seconds_of(action, 1)
  while seconds < SAMPLE do
    runs = math.ceil(runs * math.min(10, 1.5 * SAMPLE / math.max(seconds, 1e-9)))
    seconds = seconds_of(action, runs)
  end
  local samples, total = { seconds / runs }, seconds
  while #samples < FEWEST or (total < ALL and #samples < MOST) do
    seconds = seconds_of(action, runs)
    samples[#samples + 1], total = seconds / runs, total + seconds
  end
  table.sort(samples)
  return { median = quantile(samples, 0.5), low = quantile(samples, 0.25),
    high = quantile(samples, 0.75), samples = #samples, runs = runs }
end

return M
