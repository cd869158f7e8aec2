--- Tests of a study: paired differences between methods, in families that are corrected together.
local position = require "roper.workbench.study.experiment.position"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

--- A difference is significant if its corrected p is below this.
M.LEVEL = 0.05

---@class StudyTest
---@field name string
---@field sweeps string[]
---@field pairs table[] {a, b} each: position schemes, or tables of fields; the difference is b − a
---@field minus? table[] pairs whose differences are subtracted
---@field measures? string[] columns whose mean is compared; by default those of the family. step_N
---   is the value of the curve at step N
---@field minus_measures? string[] those of `minus`, which is then `pairs` by default
---@field digits? integer of the differences

---@class TestFamily
---@field title string
---@field measures? string[]
---@field correction "holm"|"bonferroni"|"none" of p; intervals are corrected by Bonferroni. With
---   "none", differences are described and not tested
---@field tests StudyTest[]

-- Returns the value of a row in a column.
local function value_of(row, column)
  local step = column:match "^step_(%d+)$"
  for _, point in ipairs(step and row.curve or {}) do
    if point[1] == tonumber(step) then
      return point[2]
    end
  end
  return row[column]
end

--- Returns the values of a method on a sweep by seed: means over columns. Seeds without a run, or
--- without one of the values, are missing.
---@param study Study
---@param sweep string
---@param method string|table a position scheme, or fields
---@param columns string[]
---@return table<integer, number>
function M.values(study, sweep, method, columns)
  local wanted = type(method) == "table" and tables.merged(method) or { position = method }
  wanted.position = position.as_stored(wanted.position)
  local found = {}
  for _, row in ipairs(study.compared) do
    local fits = row.sweep == sweep
    for field, value in pairs(wanted) do
      fits = fits and row[field] == value
    end
    local list = fits and tables.map(columns, function(column)
      return value_of(row, column)
    end) or {}
    found[row.seed] = #list == #columns and statistics.mean(list) or found[row.seed]
  end
  return found
end

--- Returns the differences of a pair on a sweep by seed.
---@param study Study
---@param sweep string
---@param pair table
---@param columns string[]
---@return table<integer, number>
function M.differences(study, sweep, pair, columns)
  local before = M.values(study, sweep, pair[1], columns)
  local found = M.values(study, sweep, pair[2], columns)
  for seed, value in pairs(found) do
    found[seed] = before[seed] and value - before[seed]
  end
  return found
end

--- Returns the means of several tables of numbers by seed, of each seed that all of them have.
---@param cells table<integer, number>[]
---@return table<integer, number>
function M.pooled(cells)
  local found = {}
  for _, seed in ipairs(tables.keys(cells[1] or {})) do
    local list = tables.map(cells, function(cell) return cell[seed] end)
    found[seed] = #list == #cells and statistics.mean(list) or nil
  end
  return found
end

--- Returns the mean accuracy, or other measure, of methods over sweeps.
---@param study Study
---@param methods table[]|string[] as in `values`
---@param over {sweeps: string[], measures: string[]} a column of a table, or a test
---@return number[] means, one of each seed that has all runs
function M.means(study, methods, over)
  local cells = {}
  for _, method in ipairs(methods) do
    for _, sweep in ipairs(over.sweeps) do
      cells[#cells + 1] = M.values(study, sweep, method, over.measures)
    end
  end
  local by_seed = M.pooled(cells)
  return tables.map(tables.keys(by_seed), function(seed) return by_seed[seed] end)
end

-- All pairs on all sweeps.
local function product(study, test, list, columns)
  local cells = {}
  for _, pair in ipairs(list) do
    for _, sweep in ipairs(test.sweeps) do
      cells[#cells + 1] = M.differences(study, sweep, pair, columns)
    end
  end
  return M.pooled(cells)
end

--- Corrects probabilities for their number; those that are false count as tests without runs.
---@param list (number|false)[]
---@param correction "holm"|"bonferroni"
---@return (number|false)[]
function M.corrected(list, correction)
  local order, found, largest = {}, {}, 0
  for i, p in ipairs(list) do
    order[i], found[i] = i, false
    found[i] = p and math.min(1, #list * p)
  end
  if correction == "holm" then
    table.sort(order, function(a, b) return (list[a] or 2) < (list[b] or 2) end)
    for rank, i in ipairs(order) do
      largest = math.max(largest, list[i] and math.min(1, (#list + 1 - rank) * list[i]) or 0)
      found[i] = list[i] and largest
    end
  end
  return found
end

-- Returns true if no run of a test is missing: nothing is tested on the way.
local function is_complete(study, test)
  for _, sweep in ipairs(test.sweeps) do
    if study.incomplete[sweep] then
      return false
    end
  end
  return true
end

--- Computes the tests of a family.
---@param study Study
---@param family TestFamily
---@return table[] tests {name, n: pairs of runs, list: their differences} each, with mean, if there
---   are any; p, corrected, low and high (unless there are too few), if no run is missing; a and b,
---   values of both methods, if it has one pair and one sweep
function M.tests(study, family)
  local found = tables.map(family.tests, function(test)
    local columns = test.measures or family.measures
    local by_seed = product(study, test, test.pairs, columns)
    local minus = test.minus or test.minus_measures and test.pairs
    local less = minus and product(study, test, minus, test.minus_measures or columns)
    local list, one = {}, { name = test.name, test = test }
    for _, seed in ipairs(tables.keys(by_seed)) do
      list[#list + 1] = not less and by_seed[seed] or less and less[seed]
        and by_seed[seed] - less[seed] or nil
    end
    one.n, one.mean, one.list = #list, statistics.mean(list), list
    if #list > 0 and family.correction ~= "none" and is_complete(study, test) then
      one.p = statistics.permutation_test(list)
      one.low, one.high = statistics.interval(list, 1 - M.LEVEL / #family.tests)
    end
    if #test.pairs == 1 and #test.sweeps == 1 then
      local a = M.values(study, test.sweeps[1], test.pairs[1][1], columns)
      local b = M.values(study, test.sweeps[1], test.pairs[1][2], columns)
      one.a, one.b = {}, {}
      for _, seed in ipairs(tables.keys(by_seed)) do
        one.a[#one.a + 1], one.b[#one.b + 1] = a[seed], b[seed]
      end
    end
    return one
  end)
  local corrected = M.corrected(tables.map(found, function(test) return test.p or false end),
    family.correction)
  for i, test in ipairs(found) do
    test.corrected = corrected[i] or nil
  end
  return found
end

--- The methods that differ significantly from a baseline, p corrected for the methods of each
--- column (Holm).
---@param study Study
---@param methods string[] position schemes
---@param columns {sweeps: string[], measures: string[]}[]
---@param baseline string
---@return (table<string, integer>|false)[] signs for each column: 1 for the methods above the
---   baseline, -1 for those below; false if runs are missing
function M.signs(study, methods, columns, baseline)
  return tables.map(columns, function(one)
    local signs = is_complete(study, one) and {}
    local family = { correction = "holm", measures = one.measures }
    family.tests = tables.map(methods, function(method)
      return method ~= baseline and { name = method, sweeps = one.sweeps,
        pairs = { { baseline, method } } } or nil
    end)
    for _, test in ipairs(signs and M.tests(study, family) or {}) do
      signs[test.name] = test.corrected and test.corrected < M.LEVEL
        and (test.mean > 0 and 1 or -1) or nil
    end
    return signs
  end)
end

return M
