--- The data of a report as plain tables, one file each: `./roper report SWEEP --csv DIR`. The files
--- and their columns are documented in scripts/RESULTS.md.
local csv = require "roper.text.csv"
local runs = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"

local M = {}

-- The first columns of every table about runs.
local RUN <const> = { "trial", "method", "seed", "status" }

-- Columns of results that exist even if no run has a value. Other numbers and texts of results
-- follow them.
local RESULT <const> = { "problems", "solved", "solved_greedy", "accuracy", "loss", "loss_answers",
  "loss_questions", "test_floor", "test_floor_answers", "test_floor_questions", "floor",
  "floor_error", "perplexity", "bits_per_byte", "last_half", "steps_to_90", "parameters",
  "seconds" }

-- Returns the first columns of a row about a trial.
local function about(trial, more)
  return tables.merged({ trial = trial.name, method = trial.method, seed = trial.seed,
    status = trial.run.status }, more)
end

-- Returns the trials of a sweep, and the stale ones. A stale trial belongs to no method.
local function all_trials(sweep)
  return tables.joined(sweep.trials, tables.map(sweep.stale or {}, function(trial)
    return tables.merged(trial, { seed = trial.config.seed,
      run = tables.merged(trial.run, { status = "stale" }) })
  end))
end

-- Returns the entries of a table that are not tables.
local function scalars(fields)
  local kept = {}
  for name, value in pairs(fields) do
    kept[name] = type(value) ~= "table" and value or nil
  end
  return kept
end

-- Returns a file whose rows can have columns other than the given ones, which are sorted.
local function file(columns, rows)
  local known, more = tables.set(columns), {}
  for _, row in ipairs(rows) do
    for name in pairs(row) do
      more[name] = not known[name] or nil
    end
  end
  return csv.encode(tables.joined(columns, tables.keys(more)), rows)
end

-- One row for each entry of a list in each trial.
local function each(sweep, columns, list_of)
  local rows = {}
  for _, trial in ipairs(all_trials(sweep)) do
    for _, entry in ipairs(list_of(trial) or {}) do
      rows[#rows + 1] = tables.merged(entry, about(trial))
    end
  end
  return file(tables.joined(RUN, columns), rows)
end

local function results(sweep)
  return each(sweep, tables.joined({ "experiment", "position", "step", "steps" }, RESULT, {
    "failure" }), function(trial)
    local run, config = trial.run, trial.config
    return { tables.merged(scalars(run.result or {}), { experiment = config.experiment,
      position = config.position, step = run.step, steps = config.steps,
      failure = run.failure }) }
  end)
end

local function metrics(sweep)
  return each(sweep, { "step", "seconds", "loss" }, function(trial) return trial.run.metrics end)
end

-- The measures at the length in training and at others.
local function lengths(sweep)
  return each(sweep, { "times", "name", "problems", "solved", "accuracy", "accuracy_beyond", "loss",
    "perplexity", "bits_per_byte" }, function(trial)
    local result = trial.run.result
    local longer = result and result.longer or {}
    return longer[1] and tables.joined({ { times = 1, problems = result.problems,
      solved = result.solved, accuracy = result.accuracy, loss = result.loss,
      perplexity = result.perplexity, bits_per_byte = result.bits_per_byte } },
      tables.map(longer, scalars))
  end)
end

local function configurations(sweep)
  local rows = tables.map(all_trials(sweep), function(trial)
    return tables.merged(trial.config, { trial = trial.name, method = trial.method })
  end)
  return file({ "trial", "method", "experiment", "position", "seed" }, rows)
end

local function methods(summary)
  local rows = {}
  local statuses = tables.map(runs.STATUSES, function(status)
    return status ~= "stale" and status or nil
  end)
  for _, entry in ipairs(summary.methods) do
    for _, measure in ipairs(summary.measures) do
      local found = entry[measure.name]
      local row = { method = entry.method, measure = measure.name, planned = entry.planned,
        n = found.n, mean = found.mean, standard_error = found.error, low = found.low,
        high = found.high, median = found.median, trimmed_mean = found.trimmed,
        trimmed_n = found.kept, reached = found.reached }
      for _, status in ipairs(statuses) do
        row[status] = entry[status]
      end
      rows[#rows + 1] = row
    end
  end
  return file(tables.joined({ "method", "measure", "planned" }, statuses, { "n", "mean",
    "standard_error", "low", "high", "median", "trimmed_mean", "trimmed_n", "reached" }), rows)
end

local function differences(summary)
  return file({ "measure", "method", "baseline", "n", "difference", "low", "high", "p",
    "p_corrected", "comparisons", "censored" }, tables.map(summary.pairs, function(pair)
    return { measure = pair.measure.name, method = pair.b, baseline = pair.a, n = pair.n,
      difference = pair.difference, low = pair.low, high = pair.high, p = pair.p,
      p_corrected = pair.corrected, comparisons = pair.comparisons, censored = pair.censored }
  end))
end

--- Returns the files of a report.
---@param view table from `report.of`
---@return table<string, string> files text by name
function M.files(view)
  local sweep, summary = view.sweep, view.summary
  return {
    ["results.csv"] = results(sweep),
    ["metrics.csv"] = metrics(sweep),
    ["lengths.csv"] = lengths(sweep),
    ["distances.csv"] = each(sweep, { "distance", "right", "count" }, function(trial)
      return trial.run.result and trial.run.result.by_distance
    end),
    ["positions.csv"] = each(sweep, { "first", "last", "loss" }, function(trial)
      return trial.run.result and trial.run.result.by_position
    end),
    ["configurations.csv"] = configurations(sweep),
    ["machines.csv"] = each(sweep, { "step" }, function(trial) return trial.run.provenance end),
    ["methods.csv"] = methods(summary),
    ["differences.csv"] = differences(summary),
  }
end

return M
