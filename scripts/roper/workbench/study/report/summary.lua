--- Statistics of a sweep, for each method and for each pair of methods.
local as_stored = require("roper.workbench.study.experiment.position").as_stored
local load_option = require "roper.options.load_option"
local measures = require "roper.workbench.study.run.measures"
local runs = require "roper.workbench.study.run.runs"
local statistics = require "roper.tensor.statistics"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

--- A difference is significant if its p, corrected for the number of comparisons, is below this.
M.LEVEL = 0.05

local function of_method(sweep, method, list)
  local entry = { method = method, planned = 0, runs = {} }
  for _, status in ipairs(runs.UNFINISHED) do
    entry[status] = 0
  end
  for _, trial in ipairs(sweep.trials) do
    if trial.method == method then
      entry.planned = entry.planned + 1
      if trial.run.status == "finished" then
        entry.runs[#entry.runs + 1] = trial.run
      else
        entry[trial.run.status] = entry[trial.run.status] + 1
      end
    end
  end
  entry.finished = #entry.runs
  for _, measure in ipairs(list) do
    entry[measure.name] = measure:summarize(entry.runs)
  end
  return entry
end

--- Returns the pairs of finished runs of two methods with the same experiment and seed.
---@param sweep Sweep
---@param a string method
---@param b string method
---@return Run[][] pairs {run of a, run of b} each, in the order of b
function M.run_pairs(sweep, a, b)
  local known, list = {}, {}
  local function visit(method, f)
    for _, trial in ipairs(sweep.trials) do
      if trial.method == method and trial.run.status == "finished" then
        local config = trial.run.config
        f(trial.run, ("%s %s"):format(config.seed, config.experiment))
      end
    end
  end
  visit(a, function(run, key) known[key] = run end)
  visit(b, function(run, key) list[#list + 1] = known[key] and { known[key], run } end)
  return list
end

-- Compares two methods in a measure, over pairs of runs of the same seed.
local function compare(sweep, a, b, measure)
  local list, censored = {}, 0
  for _, pair in ipairs(M.run_pairs(sweep, a.method, b.method)) do
    if measure:is_comparable(a[measure.name], b[measure.name], pair[1], pair[2]) then
      local before, is_before_censored = measure:value(pair[1])
      local after, is_after_censored = measure:value(pair[2])
      list[#list + 1] = before and after and after - before or nil
      censored = censored + ((is_before_censored or is_after_censored) and 1 or 0)
    end
  end
  return { a = a.method, b = b.method, measure = measure, n = #list, each = list,
    censored = censored, difference = statistics.mean(list) }
end

-- Returns the pairs of names of methods that are compared: all, or those of a baseline, which is
-- the first, with every other one.
local function pairs_of(names, baseline)
  local list = {}
  for i, a in ipairs(names) do
    for j = i + 1, #names do
      local b = names[j]
      if not baseline or a == baseline then
        list[#list + 1] = { a, b }
      elseif b == baseline then
        list[#list + 1] = { b, a }
      end
    end
  end
  return list
end

-- Compares pairs of methods in one measure. p and interval are corrected for the number of pairs of
-- methods that have runs of the same seed. The correction is Bonferroni's, not Holm's: only with
-- it, p and interval agree for each comparison and all intervals hold at once with the stated
-- confidence. With Holm's, the interval of a significant difference would show only that it is not
-- 0, unless all differences are significant (Strassburger and Bretz 2008).
local function compare_all(sweep, methods, paired, measure)
  local compared, count = {}, 0
  for i, pair in ipairs(paired) do
    compared[i] = compare(sweep, methods[pair[1]], methods[pair[2]], measure)
    count = count + (compared[i].n > 0 and 1 or 0)
  end
  for _, pair in ipairs(compared) do
    if pair.n > 0 then
      pair.comparisons = count
      pair.p = statistics.permutation_test(pair.each)
      pair.corrected = math.min(1, count * pair.p)
      pair.least = math.min(1, count * statistics.least_p(pair.n))
      pair.low, pair.high = statistics.interval(pair.each, 1 - M.LEVEL / count)
    end
  end
  return compared
end

-- Returns a note about the runs of a method that diverged or stopped early; nil if there are none.
local function endings(entry)
  local stopped = 0
  for _, run in ipairs(entry.runs) do
    stopped = stopped + (run.result.stopped and 1 or 0)
  end
  local parts = { entry.diverged > 0 and ("%d of %d runs diverged; means and differences are those "
    .. "of the runs that did not"):format(entry.diverged, entry.planned) or nil }
  parts[#parts + 1] = stopped > 0 and ("%d of %d runs stopped early"):format(stopped, entry.planned)
    or nil
  return parts[1] and ("%s: %s"):format(entry.method, table.concat(parts, "; "))
end

-- Returns a note on each file of --load that was edited between the runs of a sweep.
local function edits(sweep)
  local by_file = {} -- by name and hash: the methods in their order
  for _, trial in ipairs(sweep.trials) do
    for name, digits in pairs(load_option.parse(trial.run.config.loaded or nil)) do
      local by_hash = by_file[name] or {}
      local methods = by_hash[digits] or {}
      by_file[name], by_hash[digits] = by_hash, methods
      methods[#methods + 1] = not tables.set(methods)[trial.method] and trial.method or nil
    end
  end
  local notes = {}
  for _, name in ipairs(tables.keys(by_file)) do
    local parts = tables.map(tables.keys(by_file[name]), function(digits)
      return ("%s for %s"):format(digits, table.concat(by_file[name][digits], ", "))
    end)
    notes[#notes + 1] = parts[2] and ("%s was edited between runs: %s"):format(name,
      table.concat(parts, "; ")) or nil
  end
  return notes
end

-- Returns warnings about the numbers.
local function notes_of(sweep, methods)
  local notes = { require("roper.workbench.study.experiment.design").note(sweep) }
  local commits, threads = {}, {}
  local known = tables.set(require("roper.workbench.study.experiment").list())
  notes[#notes + 1] = sweep.experiment and not known[sweep.experiment]
    and ("the experiment %s is not registered; to use its measure and to draw attention maps, pass "
      .. "its file: --load FILE"):format(sweep.experiment) or nil
  for _, entry in ipairs(methods) do
    local missing = entry.planned - entry.finished - entry.diverged
    if missing > 0 then
      local parts = {}
      for _, status in ipairs(runs.UNFINISHED) do
        parts[#parts + 1] = entry[status] > 0 and ("%d %s"):format(entry[status], status) or nil
      end
      notes[#notes + 1] = ("%s: %d of %d runs are missing (%s)"):format(entry.method, missing,
        entry.planned, table.concat(parts, ", "))
    end
    notes[#notes + 1] = endings(entry)
  end
  for _, trial in ipairs(sweep.trials) do
    for _, record in ipairs(trial.run.status == "finished" and trial.run.provenance or {}) do
      commits[record.commit or "unknown"] = true
      threads[record.threads or "unknown"] = true
    end
  end
  notes = tables.joined(notes, edits(sweep))
  local names = tables.keys(commits)
  if #names > 1 then
    notes[#notes + 1] = "the runs come from different commits: " .. table.concat(names, ", ")
  end
  local numbers = tables.keys(threads)
  if #numbers > 1 then
    notes[#notes + 1] = ("the runs were trained with different numbers of threads (%s), which "
      .. "change the last bits of each step"):format(table.concat(numbers, ", "))
  end
  return notes
end

--- Returns the statistics of a sweep.
---
--- Errors: the baseline is not a method of the sweep.
---@param sweep table from `sweep.read`
---@param baseline? string the method to compare all others with; by default every pair is compared
---@return table measure: the Measure that methods are compared by. measures: all that the runs
---   have. methods: a list of {method, planned, finished, diverged, failed, running, stopped,
---   waiting, runs}, with the result of `Measure:summarize` under the name of each measure. pairs:
---   a list of {a, b, measure, n, each (differences b - a), difference (their mean), censored
---   (number of differences with a run that never reached 90 % and counts with its last step), p,
---   comparisons (pairs of methods that share a seed), corrected (p times comparisons, at most 1),
---   least (the smallest possible corrected p with so many runs), low and high (an interval that
---   excludes 0 exactly if corrected is below LEVEL; all intervals of a measure hold at once in 95
---   % of cases; nil if least is not below LEVEL)} over runs of the same experiment and seed, for
---   each pair of methods and each measure. baseline; notes: texts
function M.of(sweep, baseline)
  local methods, compared, by_name = {}, {}, {}
  local list = measures.of(sweep.trials)
  if baseline and not tables.set(sweep.methods)[baseline] then
    local scheme, fields = baseline:match "^(.*})(.*)$"
    baseline = scheme and as_stored(scheme) .. fields or baseline
  end
  if baseline and not tables.set(sweep.methods)[baseline] then
    error(("report: no method %q%s"):format(baseline,
      suggest.hint(baseline, sweep.methods, "there are")), 0)
  end
  for i, method in ipairs(sweep.methods) do
    methods[i] = of_method(sweep, method, list)
    by_name[method] = methods[i]
  end
  local paired = pairs_of(sweep.methods, baseline)
  for _, measure in ipairs(list) do
    compared = tables.joined(compared, compare_all(sweep, by_name, paired, measure))
  end
  local experiments = tables.set(tables.map(sweep.trials, function(trial)
    return trial.run.config and trial.run.config.experiment
  end))
  return { measure = measures.main(tables.keys(experiments)), measures = list, methods = methods,
    pairs = compared, baseline = baseline, notes = notes_of(sweep, methods) }
end

return M
