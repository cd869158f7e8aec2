--- Statistics of a few runs: means, errors, intervals and tests. The functions raise an error for a
--- list with a number that is not finite, and return nil if a list is too short.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local sort = require("roper.tensor.operations.order").sort
local with_seed = require("roper.base.scoped").with_seed

local M = {}

-- Up to this many differences, every assignment of signs is counted; for more, a sample of as many
-- assignments as for this number.
local EXACT <const> = 16

-- Sums smaller than this share of the sum of magnitudes count as 0.
local ROUNDING <const> = 1e-12

-- Raises an error unless all are finite numbers. NaN would otherwise spoil sorting.
local function check(name, numbers, what)
  what = what or "numbers"
  if type(numbers) ~= "table" then
    error(("%s: %s: expected a list of numbers, got %s"):format(name, what, type(numbers)), 3)
  end
  for i, number in ipairs(numbers) do
    if math.type(number) == nil or number ~= number or math.abs(number) == math.huge then
      error(("%s: %s: expected finite numbers, got %s at index %d"):format(name, what,
        tostring(number), i), 3)
    end
  end
end

local function sorted(numbers)
  local list = table.move(numbers, 1, #numbers, 1, {})
  table.sort(list)
  return list
end

-- The mean of the two middle numbers of a sorted list.
local function middle_of(list)
  local middle = (#list + 1) // 2
  return #list > 0 and (list[middle] + list[#list + 1 - middle]) / 2 or nil
end

--- The arithmetic mean.
---
---     > roper.statistics.mean{1, 2, 6}
---     3.0
---@param numbers number[]
---@return number? mean nil for an empty list
function M.mean(numbers)
  check("mean", numbers)
  local sum = 0
  for _, number in ipairs(numbers) do
    sum = sum + number
  end
  return #numbers > 0 and sum / #numbers or nil
end

--- The median; for an even count the mean of the two middle numbers.
---
---     > roper.statistics.median{9, 1, 2}
---     2.0
---@param numbers number[]
---@return number? median nil for an empty list
function M.median(numbers)
  check("median", numbers)
  return middle_of(sorted(numbers))
end

--- A quantile of a sorted list, interpolated linearly between neighbours.
---
---     > roper.statistics.quantile({1, 2, 4}, 0.75)
---     3.0
---@param list number[] sorted
---@param share number from 0 to 1
---@return number? quantile nil for an empty list
function M.quantile(list, share)
  check("quantile", list, "list")
  arguments.check("quantile", "share", "share", share)
  if #list == 0 then
    return nil
  end
  local position = 1 + share * (#list - 1)
  local below = math.floor(position)
  local above = math.min(below + 1, #list)
  return list[below] + (position - below) * (list[above] - list[below])
end

--- The standard error of the mean.
---
---     sqrt(Σ (x - mean)² / (n - 1) / n)
---
---     > roper.statistics.standard_error{1, 2, 3}
---     0.57735026918963
---@param numbers number[]
---@return number? error nil for fewer than two numbers
function M.standard_error(numbers)
  check("standard_error", numbers)
  local mean, squares, n = M.mean(numbers), 0, #numbers
  for _, number in ipairs(numbers) do
    squares = squares + (number - mean) ^ 2
  end
  return n > 1 and (squares / (n - 1) / n) ^ 0.5 or nil
end

--- The numbers that remain by the study's rule, which removes the worst of ten runs. For other
--- counts, the worst tenth is removed, rounded down: none of fewer than ten, two of twenty.
---
---     > numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
---     > kept, removed = roper.statistics.trim(numbers, "smallest")
---     > #kept, removed
---     9	1
---@param numbers number[]
---@param worst "smallest"|"largest" which numbers are the worst
---@return number[] kept
---@return integer removed
function M.trim(numbers, worst)
  check("trim", numbers)
  arguments.check("trim", "worst", { "smallest", "largest" }, worst)
  local list, removed = sorted(numbers), #numbers // 10
  local first = worst == "smallest" and removed + 1 or 1
  return table.move(list, first, first + #list - removed - 1, 1, {}), removed
end

-- Returns the number of splits of n numbers that are counted. A sample includes the split that
-- moves no number.
local function splits_of(n)
  return 1 << (math.min(n, EXACT) - 1)
end

-- Returns, for every split in two parts or for a sample of splits, the sums of both parts and the
-- size of the first. In the first split, the first part is empty.
local function parts_of(numbers)
  local n = #numbers
  if n > EXACT then
    local values = core.tensor(numbers, "float64"):view { n, 1 }
    local chosen = with_seed(1, function()
      return core.cat({ core.zeros({ 1, n }, "float64"),
        core.rand({ splits_of(n) - 1, n }, "float64"):lt(0.5):to "float64" }, 1)
    end)
    return chosen:matmul(values):view { -1 }, (1 - chosen):matmul(values):view { -1 },
      chosen:sum(2)
  end
  local first, second = core.zeros({ 1 }, "float64"), core.tensor({ numbers[n] }, "float64")
  local size = first
  for i = 1, n - 1 do
    first = core.cat({ first, first + numbers[i] }, 1)
    second = core.cat({ second + numbers[i], second }, 1)
    size = core.cat({ size, size + 1 }, 1)
  end
  return first, second, size
end

-- Returns the smaller and the larger mean of the two parts, for every split. Sums that differ from
-- 0 by rounding errors count as 0; otherwise the test and the interval could disagree. The mean of
-- an empty part is infinite.
local function means_of_parts(numbers)
  local first, second, size = parts_of(numbers)
  local total = 0
  for _, number in ipairs(numbers) do
    total = total + math.abs(number)
  end
  local function mean_of(sum, count)
    return core.where(sum:abs():gt(ROUNDING * total), sum, 0 * sum) / count
  end
  local rest = #numbers - size
  local is_whole = (size * rest):eq(0)
  local one, other = mean_of(first, size:maximum(1)), mean_of(second, rest:maximum(1))
  local beyond = core.full({ #is_whole }, math.huge, "float64")
  return core.where(is_whole, -beyond, one:minimum(other)),
    core.where(is_whole, beyond, one:maximum(other)), ROUNDING * total
end

--- The smallest p that `permutation_test` can return: 2^(1 - n), or 2^-15 for more than 16
--- differences.
---
---     > roper.statistics.least_p(5)
---     0.0625
---@param n integer differences, one or more
---@return number p
function M.least_p(n)
  arguments.check("least_p", "n", "size", n)
  return 1 / splits_of(n)
end

--- Two-sided sign-flip permutation test of paired differences: the probability of a mean at least
--- as far from 0 if each difference had either sign with the same probability. It counts all
--- assignments of signs, or a sample of them for more than 16 differences.
---
---     > roper.statistics.permutation_test{1, 2, 3}
---     0.25
---@param differences number[]
---@return number? p nil for an empty list
function M.permutation_test(differences)
  check("permutation_test", differences, "differences")
  if #differences == 0 then
    return nil
  end
  -- With flipped signs the sum is at least as far from 0 if the flipped part or the rest has the
  -- opposite sign, that is, if the smaller of the two means is at most 0.
  local smaller, larger, rounding = means_of_parts(differences)
  local sum = M.mean(differences) * #differences
  local extreme = sum > rounding and smaller:le(0) or sum < -rounding and larger:ge(0)
  return extreme and extreme:to "float64":sum():item() / #extreme or 1.0
end

--- The interval of a mean that corresponds to `permutation_test`: every μ for which the test of the
--- numbers minus μ gives p ≥ 1 - confidence. It excludes 0 exactly if the p of the numbers is below
--- 1 - confidence, and lies between the smallest and the largest number, thus within the range of
--- the measure. Its ends are means of some of the numbers (Hartigan 1969, "Using subsample values
--- as typical values", JASA 64). Over all N = 2^(n-1) splits of the numbers in two parts S and S',
--- one of which leaves S empty and counts as -∞,
---
---     low = the ⌈N (1 - confidence)⌉-th smallest of min(mean(S), mean(S'))
---
--- and high likewise. For m comparisons, the confidence 1 - 0.05 / m agrees with p after
--- Bonferroni's correction, m p < 0.05. All m intervals contain their means at once in at least 95
--- % of cases if the differences are distributed symmetrically around their mean, for example if
--- the runs of two methods have the same distribution up to a shift. Intervals of skewed
--- differences contain the mean less often. Percentage of studies in which all intervals contain
--- the mean, simulated by tests/fixtures/coverage.py with m comparisons of n pairs (-: no
--- interval):
---
---      m   n  normal  log-normal, σ 0.5  log-normal, σ 1  whole numbers
---      1   6   96.9         94.9              89.6            99.5
---      1   8   96.0         92.8              84.3            97.6
---      1  10   95.2         92.3              84.8            97.0
---      1  20   94.2         92.3              85.4            96.9
---      3   6    -            -                 -               -
---      3   8   95.9         91.6              78.4            97.9
---      3  10   94.9         91.0              78.3            97.5
---      3  20   94.7         90.0              79.3            95.5
---     10   8    -            -                 -               -
---     10  10   96.7         90.8              75.0            98.9
---     10  20   95.9         90.8              70.7            96.9
---
--- None of these 831,304 intervals disagrees with its p. The bootstrap-t interval contains the mean
--- of single skewed samples more often (σ 0.5: 93 to 95 %, σ 1: 89 to 92 %), but it contradicts the
--- test, and for six numbers it extends far beyond the range of the measure.
---
---     > roper.statistics.interval{1, 2, 3, 4, 5, 7}
---     1.0	7.0
---     > roper.statistics.interval{1, 2, 3, 4, 5}   -- p cannot be below 0.0625
---     nil
---@param numbers number[]
---@param confidence? number = 0.95
---@return number? low nil if the numbers are too few for the confidence: fewer than 6 for 0.95
---@return number? high
function M.interval(numbers, confidence)
  check("interval", numbers)
  arguments.check("interval", "confidence", "share?", confidence)
  if #numbers == 0 then
    return nil
  end
  local smaller, larger = means_of_parts(numbers)
  local rank = math.max(1, math.ceil((1 - (confidence or 0.95)) * #smaller))
  local low = sort(smaller)[rank]:item()
  local high = sort(larger)[#larger + 1 - rank]:item()
  if low == -math.huge then
    return nil
  end
  return low, high
end

--- Statistics of times to an event that some runs did not reach within `limit`. In the median,
--- these runs count as longer than the limit: it is above the limit if they are more than half, and
--- undetermined if they are half. In the mean they count as the limit (restricted mean), which is
--- at most the true mean.
---
---     > roper.statistics.censored({100, 200}, 3, 300).median
---     200.0
---@param times number[] of the runs that reached the event
---@param total integer number of runs
---@param limit number
---@return table found n = total, reached, limit, median, above, mean and error (standard) of the
---   restricted mean. If median is nil, it is above the limit (above = true) or undetermined (above
---   = nil)
function M.censored(times, total, limit)
  check("censored", times, "times")
  arguments.check("censored", "total", "count", total, "limit", "number", limit)
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
