--- What a handful of runs says: means and how far to trust them. Functions of lists of numbers;
--- a list that is too short for a figure gives nil, never a made-up one.
local core = require "roper.core"
local with_seed = require("roper.aside").with_seed

local M = {}

-- Resamples of the bootstrap and of large permutation tests.
local DRAWS <const> = 10000

-- Up to this many pairs every assignment of signs is looked at.
local EXACT_PAIRS <const> = 14

local function sorted(numbers)
  local list = table.move(numbers, 1, #numbers, 1, {})
  table.sort(list)
  return list
end

--- The arithmetic mean.
---
---     > roper.statistics.mean{1, 2, 6}
---     3.0
---@param numbers number[]
---@return number? mean nil of none
function M.mean(numbers)
  local sum = 0
  for _, number in ipairs(numbers) do
    sum = sum + number
  end
  return #numbers > 0 and sum / #numbers or nil
end

--- The number in the middle, or half-way between the two there.
---
---     > roper.statistics.median{9, 1, 2}
---     2.0
---@param numbers number[]
---@return number? median nil of none
function M.median(numbers)
  local list = sorted(numbers)
  local middle = (#list + 1) // 2
  return #list > 0 and (list[middle] + list[#list + 1 - middle]) / 2 or nil
end

--- The value below which a share of a sorted list lies, linear between neighbours.
---
---     > roper.statistics.quantile({1, 2, 4}, 0.75)
---     3.0
---@param list number[] sorted, one at least
---@param share number from 0 to 1
---@return number
function M.quantile(list, share)
  local place = 1 + share * (#list - 1)
  local below = math.floor(place)
  local above = math.min(below + 1, #list)
  return list[below] + (place - below) * (list[above] - list[below])
end

--- The standard error of the mean.
---
---     sqrt(Σ (x - mean)² / (n - 1) / n)
---
---     > roper.statistics.standard_error{1, 2, 3}
---     0.57735026918963
---@param numbers number[]
---@return number? error nil of fewer than two
function M.standard_error(numbers)
  local mean, squares, n = M.mean(numbers), 0, #numbers
  for _, number in ipairs(numbers) do
    squares = squares + (number - mean) ^ 2
  end
  return n > 1 and (squares / (n - 1) / n) ^ 0.5 or nil
end

--- The numbers that the study's rule keeps: of ten runs the worst is removed. Of other counts, the
--- worst tenth, rounded down: none of fewer than ten, two of twenty.
---
---     > numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
---     > kept, removed = roper.statistics.trim(numbers, "smallest")
---     > #kept, removed
---     9	1
---@param numbers number[]
---@param worst "smallest"|"largest" which numbers are bad
---@return number[] kept
---@return integer removed
function M.trim(numbers, worst)
  local list, removed = sorted(numbers), #numbers // 10
  local first = worst == "smallest" and removed + 1 or 1
  return table.move(list, first, first + #list - removed - 1, 1, {}), removed
end

--- The percentile bootstrap interval of the mean: that of means of resamples, drawn with
--- replacement (Efron and Tibshirani 1993, chapter 13). The same numbers give the same interval.
---
---     > low, high = roper.statistics.bootstrap{1, 2, 3, 4}
---     > low < 2.5 and 2.5 < high
---     true
---@param numbers number[]
---@param confidence? number = 0.95
---@return number? low nil of fewer than two
---@return number? high
function M.bootstrap(numbers, confidence)
  local n = #numbers
  if n < 2 then
    return nil
  end
  local means = with_seed(1, function()
    local values = core.tensor(numbers, "float64")
    local places = (core.rand({ DRAWS * n }, "float64") * n):to "int32":minimum(n - 1)
    return core.embedding(values:view { n, 1 }, places):view { DRAWS, n }:mean(2):totable()
  end)
  table.sort(means)
  local outside = (1 - (confidence or 0.95)) / 2
  return M.quantile(means, outside), M.quantile(means, 1 - outside)
end

-- How often a sum with random signs is at least as far from 0 as the sum itself.
local function sign_flips(numbers)
  local n, sum, size = #numbers, 0, 0
  for _, number in ipairs(numbers) do
    sum, size = sum + number, size + math.abs(number)
  end
  local least = math.abs(sum) - 1e-12 * size -- equal sums may differ by rounding
  local extreme, count = 0, n <= EXACT_PAIRS and 1 << n or DRAWS
  local draws = n > EXACT_PAIRS and core.rand({ DRAWS, n }):lt(0.5):totable()
  for i = 1, count do
    local flipped = 0
    for j, number in ipairs(numbers) do
      local negative = draws and draws[i][j] or (i - 1) >> (j - 1) & 1
      flipped = flipped + (negative == 1 and -number or number)
    end
    extreme = extreme + (math.abs(flipped) >= least and 1 or 0)
  end
  -- A sample of the assignments counts the observed one too, so that p is never 0.
  return draws and (extreme + 1) / (count + 1) or extreme / count
end

--- Two-sided permutation test of paired differences: the probability, if neither of a pair were
--- better, of a mean at least as far from 0, over all assignments of signs; over a sample of them
--- for more than 14 pairs.
---
---     > roper.statistics.permutation_test{1, 2, 3}
---     0.25
---@param differences number[]
---@return number? p nil of none
function M.permutation_test(differences)
  if #differences == 0 then
    return nil
  end
  return with_seed(1, function()
    return sign_flips(differences)
  end)
end

--- Times to an event that some runs did not reach in the `limit` they had: these are counted, as
--- longer than the limit, in the median, and as the limit in the mean, which is therefore at most
--- the true one (restricted mean).
---
---     > roper.statistics.censored({100, 200}, 3, 300).median
---     200.0
---@param times number[] of those that reached it
---@param total integer runs in all
---@param limit number
---@return table found {n = total, reached, limit, median (nil: above the limit), mean, error}; the
---   standard error is that of the restricted mean
function M.censored(times, total, limit)
  local all = table.move(times, 1, #times, 1, {})
  for i = #times + 1, total do
    all[i] = math.huge
  end
  local median = M.median(all)
  for i = #times + 1, total do
    all[i] = limit
  end
  return { n = total, reached = #times, limit = limit,
    median = median and median < math.huge and median or nil,
    mean = M.mean(all), error = M.standard_error(all) }
end

return M
