-- Reads the sweeps of the comparison and computes the tests of its questions.
local position = require "roper.workbench.study.experiment.position"
local selections = require "roper.workbench.study.report.selection"
local statistics = require "roper.tensor.statistics"
local tables = require "roper.base.tables"

local M = {}

-- Significant: a corrected p below this.
M.LEVEL = 0.05

-- An accuracy of at least this counts as solved.
M.SOLVED = 0.9

-- Returns a measure of a run at a multiple of the trained length; nil if it has none.
local function at(run, measure, times)
  if times == 1 then
    return run.result[measure]
  end
  for _, entry in ipairs(run.result.longer or {}) do
    if entry.times == times then
      return entry[measure]
    end
  end
  return nil
end

--- Returns the mean of a measure over multiples of the trained length; nil if one is missing.
---@param run Run
---@param measure string
---@param list number[] multiples
---@return number?
function M.value(run, measure, list)
  local values = tables.map(list, function(times) return at(run, measure, times) end)
  return #values == #list and statistics.mean(values) or nil
end

--- Returns the largest tested multiple up to which a run solves its task at every length; 0 if it
--- does not solve it at the trained length.
---@param run Run
---@param list number[] multiples, sorted, the first one 1
---@return number
function M.reach(run, list)
  local reach = 0
  for _, times in ipairs(list) do
    if (at(run, "accuracy", times) or 0) < M.SOLVED then
      break
    end
    reach = times
  end
  return reach
end

--- Returns the runs of a task at the rates chosen on other seeds.
---@param sweep Sweep of the task
---@param choosing integer[] the seeds on which rates are chosen
---@return table<string, table<integer, Run>> runs by method and seed, only finished ones
---@return Selection selection
---@return table[] lost trials of the comparison that have not finished, or diverged
function M.read(sweep, choosing)
  local selection = selections.of(sweep, "rate", choosing)
  local reduced = selections.apply(sweep, selection) or { trials = {} }
  local runs, lost = {}, {}
  for _, trial in ipairs(reduced.trials) do
    local by_seed = runs[trial.method] or {}
    runs[trial.method] = by_seed
    if trial.run.status == "finished" then
      by_seed[trial.seed] = trial.run
    else
      lost[#lost + 1] = trial
    end
  end
  return runs, selection, lost
end

--- Returns the differences of a pair of methods on a task, by seed.
---@param runs table<string, table<integer, Run>> from `read`
---@param pair string[] two methods
---@param measure string
---@param list number[] multiples of the trained length
---@return table<integer, number> the second minus the first
function M.differences(runs, pair, measure, list)
  local first = runs[position.as_stored(pair[1])] or {}
  local second = runs[position.as_stored(pair[2])] or {}
  local found = {}
  for seed, run in pairs(second) do
    local after = M.value(run, measure, list)
    local before = first[seed] and M.value(first[seed], measure, list)
    found[seed] = before and after and after - before
  end
  return found
end

-- Returns the mean of several tables of differences, of each seed that all of them have, as a list.
local function pooled(cells)
  local list = {}
  for _, seed in ipairs(tables.keys(cells[1] or {})) do
    local values = tables.map(cells, function(cell) return cell[seed] end)
    list[#list + 1] = #values == #cells and statistics.mean(values) or nil
  end
  return list
end

--- Computes the tests of a question: over all pairs and tasks (if it has `by_task`), for each pair
--- over all tasks, and for each task over all pairs (with `by_task`). p and intervals are corrected
--- for the number of these tests (Bonferroni), also of those that lack runs.
---@param question table of the design
---@param runs table<string, table> results of `read` by task
---@return table[] tests {kind = "all"|"pair"|"task", name, n, mean, p, low, high}; only kind, name
---   and n if there are no pairs of runs
---@return table cells differences by seed, by pair and task
function M.tests(question, runs)
  local cells, groups = {}, {}
  local function group(kind, name, list)
    groups[#groups + 1] = { kind = kind, name = name, cells = list }
  end
  local all = {}
  for i, pair in ipairs(question.pairs) do
    cells[i] = {}
    for _, task in ipairs(question.tasks) do
      cells[i][task] = M.differences(runs[task] or {}, pair, "accuracy", question.times)
      all[#all + 1] = cells[i][task]
    end
  end
  if question.by_task then
    group("all", "all", all)
  end
  for i in ipairs(question.pairs) do
    group("pair", i, tables.map(question.tasks, function(task) return cells[i][task] end))
  end
  for _, task in ipairs(question.by_task and question.tasks or {}) do
    group("task", task, tables.map(cells, function(row) return row[task] end))
  end
  return tables.map(groups, function(one)
    local list = pooled(one.cells)
    local found = { kind = one.kind, name = one.name, n = #list }
    if #list > 0 then
      found.mean = statistics.mean(list)
      found.p = math.min(1, #groups * statistics.permutation_test(list))
      found.low, found.high = statistics.interval(list, 1 - M.LEVEL / #groups)
    end
    return found
  end), cells
end

return M
