--- The figures of a report as data, for pages and for LaTeX: results by length, and curves of
--- training.
local band = require "roper.workbench.study.report.band"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local measures = require "roper.workbench.study.run.measures"
local number = require "roper.workbench.study.report.number"
local tables = require "roper.base.tables"

local M = {}

-- If the lengths differ by at least this factor, their axis is logarithmic.
local WIDE <const> = 6

---@class ReportFigure
---@field name string of its file and its switch
---@field title string
---@field x string label of the axis
---@field y string label of the axis
---@field low? number that the y axis includes
---@field high? number that the y axis includes
---@field level? {value: number, text: string} of a horizontal line
---@field lengths? number[] ticks of the x axis
---@field is_log? boolean true if the x axis is logarithmic
---@field bands_first? boolean true if a page shows bands before single runs
---@field hint? string|false after the notes on a page
---@field parts table[] alternatives {name, curves, means, bands, note, runs_note}: single runs;
---   means with bands; kind of the bands; what the means and the runs are

-- Explains the lines of the single runs.
local function note_of_runs(what, facts, curves)
  local parts, unfinished = { ("Thin: single %ss; thick: the mean of a method’s finished %ss.")
    :format(what, what) }, 0
  for _, line in ipairs(curves) do
    unfinished = unfinished + (line.finished and 0 or 1)
  end
  if facts.broken > 0 then
    parts[#parts + 1] = ("%s not finite; lines break there."):format(
      facts.broken == 1 and "1 value is" or facts.broken .. " values are")
  end
  if unfinished > 0 then
    parts[#parts + 1] = ("Dotted: %s that did not finish."):format(
      counted(unfinished, "run"))
  end
  return table.concat(parts, " ")
end

-- Returns one alternative of a figure.
local function part_of(curves, facts, what, name)
  local means = curve.means(curves)
  local bands = band.add(means)
  local group = facts.group > 1
    and (" Each point is the mean of %d entries of the metrics."):format(facts.group) or ""
  return { name = name, curves = curves, means = means, bands = bands,
    note = band.note(bands, means, what) .. group,
    runs_note = note_of_runs(what, facts, curves) .. group }
end

-- The floor of the loss, if all finished runs have the same.
local function floor_of(sweep)
  local value
  for _, trial in ipairs(sweep.trials) do
    local floor = trial.run.result and trial.run.result.floor
    if value and floor and floor ~= value then
      return nil
    end
    value = value or floor
  end
  return value and { value = value, text = ("floor %s"):format(number.fixed(value, 3)) }
end

-- The training loss, of all steps or of the last half of them.
local function loss(sweep)
  local figure = { name = "training-loss", title = "Training loss", x = "step",
    y = "nats per token", level = floor_of(sweep), parts = {} }
  for i, range in ipairs { "all steps", "last half" } do
    local curves, facts = curve.runs(sweep, "loss", i == 2)
    figure.parts[i] = part_of(curves, facts, "run", range)
  end
  return figure
end

--- Returns the curves of training: measures, their differences from the baseline, and the loss.
---@return ReportFigure[]
function M.training(view)
  local sweep, figures = view.sweep, {}
  for _, main in ipairs(measures.with_curves(view.summary.measure)) do
    local measure = main.curve
    local curves, facts = curve.runs(sweep, measure.field)
    figures[#figures + 1] = { name = measure.field:gsub("_", "-"), title = measure.title,
      x = "step", y = measure.y, low = measure.low, high = measure.high,
      parts = { part_of(curves, facts, "run") } }
    curves, facts = curve.differences(sweep, measure.field, view.summary.baseline)
    local part = part_of(curves, facts, "pair")
    figures[#figures + 1] = { name = measure.field:gsub("_", "-") .. "-difference", x = "step",
      hint = #sweep.methods > 2 and not view.summary.baseline
        and (" The option --baseline selects another method than %s."):format(sweep.methods[1]),
      title = ("Difference in %s between runs of the same seed"):format(measure.y), y = measure.y,
      level = { value = 0, text = "no difference" }, parts = { part } }
  end
  figures[#figures + 1] = loss(sweep)
  return figures
end

-- The values of finished runs in a measure at all lengths, a curve for each run.
local function length_curves(view, columns)
  local curves = {}
  for _, trial in ipairs(view.sweep.trials) do
    local points = trial.run.status == "finished" and tables.map(columns, function(measure)
      local value = measure:value(trial.run)
      return value and { measure.times or 1, value }
    end) or {}
    curves[#curves + 1] = #points > 0 and { points = points, method = trial.method,
      label = curve.label(trial), style = curve.style(view.sweep, trial.method), finished = true }
      or nil
  end
  return curves
end

--- Returns the measures that the runs have at several lengths.
---@return ReportFigure[]
function M.lengths(view)
  local figures = {}
  for _, group in ipairs(measures.by_length(view.summary.measures)) do
    local base, columns = group.base, group.columns
    local times = tables.map(columns, function(measure) return measure.times or 1 end)
    local part = columns[2]
      and part_of(length_curves(view, columns), { group = 1, broken = 0 }, "run")
    figures[#figures + 1] = part and { name = base.name:gsub("_", "-") .. "-by-length",
      y = base.title, title = base.title:gsub("^%l", string.upper) .. " by length",
      x = "times the length in training",
      low = base.low, high = base.high, parts = { part }, lengths = times,
      is_log = times[#times] / times[1] >= WIDE, bands_first = true } or nil
  end
  return figures
end

return M
