--- The state of a sweep, a run, or all runs in a folder, as lines of text: counts, a table of the
--- runs, and a chart of those that train.
local configuration = require "roper.workbench.study.experiment.configuration"
local counted = require("roper.base.escape").count
local d = require "roper.text.document"
local escape = require "roper.base.escape"
local files = require "roper.system.file"
local live_curves = require "roper.workbench.study.report.live_curves"
local measures = require "roper.workbench.study.run.measures"
local number = require "roper.workbench.study.report.number"
local progress = require "roper.text.progress"
local stored = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"
local terminal = require "roper.text.document.terminal"

local M = {}

local LEAST_RUNS <const> = 4 -- rows of the table that a chart leaves, if there are so many runs
local MOST_CURVES <const> = 6

-- The rank of each status in the table: runs that train come first.
local RANK <const> = { running = 1, failed = 2, diverged = 3, stopped = 4, finished = 5,
  waiting = 6 }

-- Returns the runs in a folder as trials. `roper.train` may have made them without an experiment.
local function loose(folder)
  local trials, methods = {}, {}
  local found, problems = stored.find(folder)
  for _, path in ipairs(found) do
    local ok, run = pcall(stored.read, path)
    local steps = ok and math.tointeger(run.config.steps)
    if steps then
      local name = path == folder and path:match "[^/]+/*$" or path:sub(#folder + 2)
      methods[#methods + 1] = name
      trials[#trials + 1] = { name = name, method = name, seed = run.config.seed or "–", run = run,
        config = run.config, folder = path }
    end
  end
  if not trials[1] then
    error(problems[1] or ("watch: no runs in %s"):format(folder), 0)
  end
  return { folder = folder, trials = trials, methods = methods,
    experiment = trials[1].config.experiment }
end

--- Reads the runs to watch. Nothing is written, so other processes can train.
---
--- Errors: the folder does not exist or contains no run.
---@param folder string of a sweep or a run, or one that contains runs
---@return Sweep sweep
function M.read(folder)
  files.check_folder("watch", folder)
  folder = folder:gsub("(.)/+$", "%1")
  return files.stat(folder .. "/sweep.json") and require("roper.workbench.study.sweep").read(folder)
    or loose(folder)
end

-- Returns the last number of a field in the metrics; nil if it has none.
local function last(metrics, field)
  for i = #metrics, 1, -1 do
    if metrics[i][field] ~= nil then
      return number.is_finite(metrics[i][field]) and metrics[i][field] or nil
    end
  end
  return nil
end

local function formatted(form, value)
  return value and form:format(value) or number.NONE
end

-- Formats a loss or another measure; those of a model that diverges can be huge.
local function measured(value)
  return formatted(value and math.abs(value) >= 1e5 and "%.3g" or "%.4f", value)
end

-- The row of a trial in the table.
local function row_of(trial, label, measure)
  local run, metrics = trial.run, trial.run.metrics
  local seconds, speed = last(metrics, "seconds"), last(metrics, "tokens_per_second")
  local memory, left = last(metrics, "memory"), nil
  if run.status == "running" and seconds and run.step > 0 then
    left = progress.duration(seconds / run.step * math.max(0, trial.config.steps - run.step))
  end
  return { label, run.status, ("%d/%d"):format(run.step, trial.config.steps),
    measured(last(metrics, "loss")), measured(last(metrics, measure.field)),
    formatted("%.3g", last(metrics, "rate")), formatted("%.3g", last(metrics, "gradient_norm")),
    formatted("%.0f", speed), formatted("%.0f", memory and memory / 2 ^ 20), left or number.NONE }
end

-- The counts of the runs by status.
local function counts(sweep)
  local by_status, parts = {}, {}
  for _, trial in ipairs(sweep.trials) do
    by_status[trial.run.status] = (by_status[trial.run.status] or 0) + 1
  end
  for _, status in ipairs(stored.STATUSES) do
    parts[#parts + 1] = by_status[status] and ("%d %s"):format(by_status[status], status)
  end
  return table.concat(parts, ", ")
end

-- The table of the first `most` runs, those that train first.
local function runs_table(sweep, measure, most, columns)
  local order, labels = {}, configuration.labels(sweep.trials)
  for i, trial in ipairs(sweep.trials) do
    order[i] = { trial = trial, rank = RANK[trial.run.status], index = i, label = labels[i] }
  end
  table.sort(order, function(a, b)
    return a.rank < b.rank or a.rank == b.rank and a.index < b.index
  end)
  local hidden = #order - most
  for i = most + 1, #order do
    order[i] = nil
  end
  local text = terminal.render(d.table { sides = "llr",
    head = { "run", "status", "step", "loss", measure.field:gsub("_", " "), "rate", "gradient",
      "tokens/s", "MiB", "left" }, drop = { 9, 7, 6, 8, 5 },
    rows = tables.map(order, function(one) return row_of(one.trial, one.label, measure) end) },
    { width = columns })
  local lines = escape.lines((text:gsub("\n$", "")))
  lines[#lines + 1] = hidden > 0 and ("  and %d more"):format(hidden) or nil
  return lines
end

-- The chart: of running trials, or else of the last trials with metrics.
local function chart(sweep, measure, columns, rows)
  local trials = live_curves.newest(sweep)
  if #trials == 0 then
    trials = tables.map(sweep.trials, function(trial)
      return trial.run.metrics[1] and trial or nil
    end)
  end
  trials = table.move(trials, math.max(1, #trials - MOST_CURVES + 1), #trials, 1, {})
  local lines = live_curves.of_trials(sweep, trials, measure, columns, rows)
  return lines[1] and lines or live_curves.of_trials(sweep, trials, { field = "loss",
    title = "Training loss" }, columns, rows)
end

--- Describes the state of runs.
---@param sweep Sweep from `read`
---@param columns integer of the terminal
---@param rows number of the terminal; infinite: all runs are shown
---@return string[] lines at most `rows`, unless the terminal is tiny
function M.lines(sweep, columns, rows)
  local measure = measures.with_curves(measures.main { sweep.experiment })[1].curve
  local total = #sweep.trials
  local drawn = chart(sweep, measure, columns, math.min(1000, rows - math.min(total, LEAST_RUNS)))
  -- Other lines: the counts, the head, a line for hidden columns and one for hidden runs.
  local most = rows - #drawn - 4
  local lines = { ("%s: %s: %s"):format(escape.line(sweep.folder), counted(total, "run"),
    counts(sweep)) }
  return tables.joined(lines, runs_table(sweep, measure, math.max(1, math.min(total, most)),
    columns), drawn)
end

return M
