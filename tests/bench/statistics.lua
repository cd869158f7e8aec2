--- Statistics of repeated measurements.
local M = {}

M.median = require("roper.tensor.statistics").median

--- The median of a[i] / b[i], the ratio of two quantities that were measured in turn.
---@param a number[]
---@param b number[] of the same length
---@return number
function M.ratio(a, b)
  local ratios = {}
  for i = 1, #a do
    ratios[i] = a[i] / b[i]
  end
  return M.median(ratios)
end

--- Call functions in turn, round by round: a slow phase of the machine affects all of them.
---@param calls function[]
---@param rounds integer that are counted
---@param warm_up integer? rounds before those; 2 by default
---@return table[] for each function, its results in each round
function M.interleave(calls, rounds, warm_up)
  local results = {}
  for i = 1, #calls do
    results[i] = {}
  end
  for round = 1 - (warm_up or 2), rounds do
    for i, call in ipairs(calls) do
      local value = call()
      if round >= 1 then
        results[i][round] = value
      end
    end
  end
  return results
end

return M
