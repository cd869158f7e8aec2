--- What a sweep says: per method and per pair of methods, always with the number of runs.
local experiment = require "roper.workbench.study.experiment"
local measures = require "roper.workbench.study.measures"
local statistics = require "roper.workbench.study.statistics"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"

local M = {}

--- A difference is significant if its p, corrected for the number of comparisons, is below this.
M.LEVEL = 0.05

--- The numbers of a result: name, which of two is worse, heading and form; of: "problems" or
--- "text", where runs on the other have none; by_length: those whose runs tell it of what is longer
--- than in training, too.
M.METRICS = {
  { name = "solved", worst = "smallest", title = "correct", form = "%.1f", of = "problems" },
  { name = "solved_greedy", worst = "smallest", title = "correct, greedy", form = "%.1f",
    of = "problems" },
  { name = "accuracy", worst = "smallest", title = "accuracy", form = "%.4f", of = "problems",
    by_length = "problems" },
  { name = "loss", worst = "largest", title = "loss", form = "%.4f", by_length = "text" },
  { name = "perplexity", worst = "largest", title = "perplexity", form = "%.2f", of = "text" },
  { name = "bits_per_byte", worst = "largest", title = "bits per byte", form = "%.4f",
    of = "text" },
  { name = "last_half", worst = "largest", title = "training loss, last half", form = "%.4f" },
}

--- Steps until 90 % of the answers' tokens were right.
M.STEPS = { name = "steps_to_90", title = "90 % after", form = "%.0f", of = "problems" }

-- What a run is on, as metrics say it.
local function is_on(run)
  return experiment.has_problems(run.config or {}) and "problems" or "text"
end

-- The entry of a result for what is so many times as long as in training.
local function longer_entry(result, times)
  for _, entry in ipairs(result.longer or {}) do
    if entry.times == times then
      return entry
    end
  end
  return nil
end

--- The number of a finished run. One that never reached 90 % has the number of its steps, and is
--- censored: it would have needed more.
---@param run Run
---@param metric table of the `metrics` of a summary, or STEPS
---@return number? value nil where it has none, or one that was not finite
---@return boolean? is_censored
function M.value(run, metric)
  if metric.times then
    local entry = longer_entry(run.result, metric.times)
    return entry and entry[metric.base.name]
  elseif metric == M.STEPS and is_on(run) == metric.of and not run.result[metric.name] then
    return run.config.steps, true
  end
  return run.result[metric.name]
end

-- The METRICS that the runs have, and accuracy or loss at each length that a finished one was tried
-- at.
local function metrics_of(sweep, on)
  local list, seen = {}, { problems = {}, text = {} }
  for _, metric in ipairs(M.METRICS) do
    list[#list + 1] = (not metric.of or on[metric.of]) and metric or nil
  end
  for _, trial in ipairs(sweep.trials) do
    local result = trial.run.status == "finished" and trial.run.result or {}
    for _, entry in ipairs(result.longer or {}) do
      if entry.times then
        seen[is_on(trial.run)][entry.times] = true
      end
    end
  end
  for _, base in ipairs(M.METRICS) do
    for _, times in ipairs(tables.keys(seen[base.by_length] or {})) do
      list[#list + 1] = { name = ("%s_%g"):format(base.name, times), times = times, base = base,
        worst = base.worst, of = base.by_length, form = base.form,
        title = ("%s at %g times the length"):format(base.title, times) }
    end
  end
  return list
end

-- The statistics of one metric of the finished runs of a method.
local function of_metric(finished, metric)
  local numbers = tables.map(finished, function(run) return M.value(run, metric) end)
  local kept, removed = statistics.trim(numbers, metric.worst)
  local low, high = statistics.interval(numbers)
  return { n = #numbers, mean = statistics.mean(numbers), median = statistics.median(numbers),
    error = statistics.standard_error(numbers), low = low, high = high,
    trimmed = statistics.mean(kept), kept = #kept, removed = removed }
end

-- Steps to 90 % of the finished runs of a method, which all had the same number of steps.
local function steps_of(all)
  local finished = tables.map(all, function(run) return is_on(run) == M.STEPS.of and run or nil end)
  local times = tables.map(finished, function(run) return run.result.steps_to_90 end)
  return finished[1] and statistics.censored(times, #finished, finished[1].config.steps)
end

local function of_method(sweep, method, metrics)
  local entry = { method = method, planned = 0, failed = 0, running = 0, stopped = 0, waiting = 0,
    runs = {} }
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
  for _, metric in ipairs(metrics) do
    entry[metric.name] = of_metric(entry.runs, metric)
  end
  entry.steps_to_90 = steps_of(entry.runs)
  return entry
end

-- Can two runs be compared? Steps to 90 % only where any run got there, and the two had as many.
local function is_comparable(a, b, run, other, metric)
  return other and other.config.experiment == run.config.experiment
    and (metric ~= M.STEPS or (a.steps_to_90 and b.steps_to_90)
      and a.steps_to_90.reached + b.steps_to_90.reached > 0
      and other.config.steps == run.config.steps)
end

-- The differences b - a of a metric between runs of the same experiment and seed, and in how many
-- of them a value is censored.
local function differences(a, b, metric)
  local by_seed, list, censored = {}, {}, 0
  for _, run in ipairs(a.runs) do
    by_seed[run.config.seed] = run
  end
  for _, run in ipairs(b.runs) do
    local other = by_seed[run.config.seed]
    if is_comparable(a, b, run, other, metric) then
      local before, is_before_censored = M.value(other, metric)
      local after, is_after_censored = M.value(run, metric)
      list[#list + 1] = before and after and after - before or nil
      censored = censored + ((is_before_censored or is_after_censored) and 1 or 0)
    end
  end
  return list, censored
end

-- Two methods, paired by seed.
local function compare(a, b, metric)
  local list, censored = differences(a, b, metric)
  return { a = a.method, b = b.method, metric = metric.name, n = #list, each = list,
    censored = censored, difference = statistics.mean(list),
    error = statistics.standard_error(list) }
end

-- Refuse a baseline that is no method of the sweep.
local function check_baseline(sweep, baseline)
  for _, method in ipairs(sweep.methods) do
    if method == baseline then
      return
    end
  end
  error(("report: no method %q%s"):format(baseline,
    suggest.hint(baseline, sweep.methods, "there are")), 0)
end

--- The pairs of methods that are compared: all, or those of a baseline with every other.
---@param names string[] of the methods
---@param baseline? string
---@return string[][] pairs of the two names, the baseline first
function M.pairs_of(names, baseline)
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

-- Those pairs in one metric, with p and interval corrected for how many share a seed. Bonferroni's
-- correction, not Holm's: with it alone p and interval agree for each comparison and all intervals
-- together hold what they promise. Intervals that agree with Holm's say of a significant difference
-- only that it is not 0, unless all are significant (Strassburger and Bretz 2008).
local function compare_all(methods, paired, metric)
  local compared, count = {}, 0
  for i, pair in ipairs(paired) do
    compared[i] = compare(methods[pair[1]], methods[pair[2]], metric)
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

-- What a reader must know before trusting the numbers.
local function notes_of(sweep, methods)
  local notes, commits = { require("roper.workbench.study.experiment.design").note(sweep) }, {}
  for _, entry in ipairs(methods) do
    local missing = entry.planned - entry.finished
    if missing > 0 then
      local parts = {}
      for _, status in ipairs { "failed", "running", "stopped", "waiting" } do
        parts[#parts + 1] = entry[status] > 0 and ("%d %s"):format(entry[status], status) or nil
      end
      notes[#notes + 1] = ("%s: %d of %d runs are missing (%s)"):format(entry.method, missing,
        entry.planned, table.concat(parts, ", "))
    end
  end
  for _, trial in ipairs(sweep.trials) do
    for _, record in ipairs(trial.run.status == "finished" and trial.run.provenance or {}) do
      commits[record.commit or "unknown"] = true
    end
  end
  local names = tables.keys(commits)
  if #names > 1 then
    notes[#notes + 1] = "the runs are of different commits: " .. table.concat(names, ", ")
  end
  return notes
end

--- The statistics of a sweep.
---
--- Errors: a baseline that the sweep has not.
---@param sweep table from `sweep.read`
---@param baseline? string the method that all others are compared with, instead of every pair
---@return table measure: the Measure that methods are compared by. metrics: the METRICS that such
---   runs have, and an accuracy, of text a loss, for each `times` that what was tried was longer.
---   on: {problems, text}: are runs on such a task?
---   methods: a list of {method, planned, finished, failed, running, stopped, waiting, runs},
---   with a table for each metric: n, mean, median, error (standard), low and high (95 %
---   interval of this mean alone), trimmed (mean without the worst tenth), kept, removed;
---   steps_to_90 as from `statistics.censored`. pairs: a list of {a, b, metric, n, each
---   (differences b - a), difference (their mean), error, censored (how many differences count a
---   run that never reached 90 % with its last step), p, comparisons (pairs of methods that share a
---   seed), corrected (p times comparisons, at most 1), least (the least that corrected can be with
---   so many runs), low and high (interval that excludes 0 exactly if corrected is below LEVEL; all
---   of a metric hold at once in 95 % of cases; nil if least is not below LEVEL)} over runs of the
---   same experiment and seed, for each pair of methods in each metric and in the steps to 90 %.
---   baseline; notes: texts
function M.of(sweep, baseline)
  local methods, compared, on = {}, {}, { problems = #sweep.trials == 0 }
  for _, trial in ipairs(sweep.trials) do
    on[is_on(trial.run)] = true
  end
  local metrics = metrics_of(sweep, on)
  if baseline then
    check_baseline(sweep, baseline)
  end
  local by_name = {}
  for i, method in ipairs(sweep.methods) do
    methods[i] = of_method(sweep, method, metrics)
    by_name[method] = methods[i]
  end
  local paired = M.pairs_of(sweep.methods, baseline)
  for i = 1, #metrics + (on.problems and 1 or 0) do
    local found = compare_all(by_name, paired, metrics[i] or M.STEPS)
    table.move(found, 1, #found, #compared + 1, compared)
  end
  local experiments = tables.set(tables.map(sweep.trials, function(trial)
    return trial.run.config and trial.run.config.experiment
  end))
  return { measure = measures.of(tables.keys(experiments), on.problems), metrics = metrics,
    methods = methods, pairs = compared, baseline = baseline, on = on,
    notes = notes_of(sweep, methods) }
end

return M
