--- What a handful of runs says: means and how far to trust them. Functions of lists of finite
--- numbers; others are refused, and a list that is too short for a figure gives nil, never a
--- made-up one.
local core = require "roper.core"
local with_seed = require("roper.base.temporarily").with_seed

local M = {}

-- Resamples of the bootstrap and of large permutation tests.
local DRAWS <const> = 10000

-- Up to this many pairs every assignment of signs is looked at.
local EXACT_PAIRS <const> = 14

--- Fewer numbers than these have no interval.
M.LEAST = 6

-- Refuse what is no finite number: NaN compares with nothing, and would pass for a figure.
local function check(name, numbers)
  for i, number in ipairs(numbers) do
    if math.type(number) == nil or number ~= number or math.abs(number) == math.huge then
      error(("%s: expected finite numbers, got %s at place %d"):format(name, tostring(number), i),
        3)
    end
  end
end

local function sorted(numbers)
  local list = table.move(numbers, 1, #numbers, 1, {})
  table.sort(list)
  return list
end

-- Half-way between the two in the middle of a sorted list.
local function middle_of(list)
  local middle = (#list + 1) // 2
  return #list > 0 and (list[middle] + list[#list + 1 - middle]) / 2 or nil
end

--- The arithmetic mean.
---
---     > roper.statistics.mean{1, 2, 6}
---     3.0
---@param numbers number[]
---@return number? mean nil of none
function M.mean(numbers)
  check("mean", numbers)
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
  check("median", numbers)
  return middle_of(sorted(numbers))
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
  check("standard_error", numbers)
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
  check("trim", numbers)
  local list, removed = sorted(numbers), #numbers // 10
  local first = worst == "smallest" and removed + 1 or 1
  return table.move(list, first, first + #list - removed - 1, 1, {}), removed
end

-- How many of its own standard errors the mean of each resample lies from `mean`, that of all;
-- infinitely many where one number was drawn throughout. What is left of it by rounding is no
-- spread.
local function studentized(numbers, mean, error)
  local n = #numbers
  local found = with_seed(1, function()
    local values = core.tensor(numbers, "float64") - mean
    local places = (core.rand({ DRAWS * n }, "float64") * n):to "int32":minimum(n - 1)
    local drawn = core.embedding(values:view { n, 1 }, places):view { DRAWS, n }
    return { means = drawn:mean(2):totable(), squares = drawn:pow(2):mean(2):totable() }
  end)
  local list = {}
  for i, offset in ipairs(found.means) do
    local variance = (found.squares[i] - offset ^ 2) / (n - 1)
    local spread = variance > (1e-6 * error) ^ 2 and variance ^ 0.5 or 0
    list[i] = offset == 0 and 0 or offset / spread
  end
  return list
end

--- The bootstrap-t interval of the mean (Efron and Tibshirani 1993, section 12.5): resamples, drawn
--- with replacement, say how far a mean lies from the true one in standard errors of its own. The
--- same numbers give the same interval.
---
---     mean - t(1 - α/2) · error ≤ true mean ≤ mean - t(α/2) · error
---
--- Of the intervals that were simulated with 6 to 20 numbers it keeps best what it promises: 95 %
--- hold the mean of normal numbers in 94 to 96 % of cases, of log-normal ones with a σ of 0.5 in 93
--- to 95 %, with a σ of 1 in 89 to 92 %. Student's t: 94 to 95, 91 to 94, 81 to 86 %; percentile
--- and BCa bootstrap: 87 to 93, 83 to 91, 72 to 87 %.
---
---     > low, high = roper.statistics.interval{1, 2, 3, 4, 5, 7}
---     > low < 3 and 5 < high
---     true
---@param numbers number[]
---@param confidence? number = 0.95
---@return number? low nil of fewer than six, and where so many are the same that no interval can
---   be told
---@return number? high
function M.interval(numbers, confidence)
  check("interval", numbers)
  local mean, error = M.mean(numbers), M.standard_error(numbers)
  if #numbers < M.LEAST or error <= 1e-12 * math.abs(mean) then
    return nil
  end
  local list = studentized(numbers, mean, error)
  table.sort(list)
  local outside = (1 - (confidence or 0.95)) / 2
  local low, high = mean - M.quantile(list, 1 - outside) * error, mean
    - M.quantile(list, outside) * error
  if low - low ~= 0 or high - high ~= 0 then -- infinite, or between infinities
    return nil
  end
  return low, high
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
  check("permutation_test", differences)
  if #differences == 0 then
    return nil
  end
  return with_seed(1, function()
    return sign_flips(differences)
  end)
end

--- Probabilities of several tests, corrected for their number (Holm 1979): the smallest of m is
--- multiplied by m, the next by m - 1, and so on, none smaller than the one before it. Whoever
--- calls what is below 0.05 a difference is wrong about any of them in at most 5 % of cases.
---
---     > roper.statistics.holm{0.01, 0.5, 0.02}
---     {0.03, 0.5, 0.04}
---@param probabilities number[]
---@return number[] corrected in the same order
function M.holm(probabilities)
  check("holm", probabilities)
  local order, corrected, least = {}, {}, 0
  for i in ipairs(probabilities) do
    order[i] = i
  end
  table.sort(order, function(a, b) return probabilities[a] < probabilities[b] end)
  for rank, i in ipairs(order) do
    least = math.max(least, math.min(1, (#order - rank + 1) * probabilities[i]))
    corrected[i] = least
  end
  return corrected
end

--- Times to an event that some runs did not reach in the `limit` they had. In the median these
--- count as longer than the limit: with more than half of them it is above the limit, with just
--- half it is undetermined. In the mean they count as the limit, so that it is at most the true
--- one (restricted mean).
---
---     > roper.statistics.censored({100, 200}, 3, 300).median
---     200.0
---@param times number[] of those that reached it
---@param total integer runs in all
---@param limit number
---@return table found {n = total, reached, limit, median, above, mean, error}; where the median
---   is nil, above tells whether it is above the limit (true) or undetermined (nil); the standard
---   error is that of the restricted mean
function M.censored(times, total, limit)
  check("censored", times)
  local all = sorted(times)
  for i = #times + 1, total do
    all[i] = math.huge
  end
  local median = middle_of(all)
  for i = #times + 1, total do
    all[i] = limit
  end
  return { n = total, reached = #times, limit = limit,
    median = median and median < math.huge and median or nil,
    above = 2 * #times < total or nil, mean = M.mean(all), error = M.standard_error(all) }
end

return M
