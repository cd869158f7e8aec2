--- How the runs went: accuracy and loss over the steps, a line a run; means of the last half.
local h = require("roper.base.markup").h
local chart = require "roper.study.report.chart"
local curve = require "roper.study.report.curve"
local number = require "roper.study.report.number"
local tables = require "roper.base.tables"

-- What is measured while a model is trained, on problems or on text.
local MEASURES <const> = {
  { field = "accuracy", title = "Accuracy on answer tokens", y = "accuracy", low = 0, high = 1,
    difference = "Difference in accuracy between runs of the same seed" },
  { field = "validation_loss", title = "Validation loss", y = "nats per token",
    difference = "Difference in validation loss between runs of the same seed" },
}

-- What a reader must know about the lines of a chart.
local function note(facts, curves)
  local parts, unfinished = {}, 0
  for _, line in ipairs(curves) do
    unfinished = unfinished + (line.finished and 0 or 1)
  end
  if facts.group > 1 then
    parts[#parts + 1] = ("Each point is the mean of %d entries of the metrics."):format(facts.group)
  end
  if facts.broken > 0 then
    parts[#parts + 1] = ("%s not finite; lines break there."):format(
      facts.broken == 1 and "1 value is" or facts.broken .. " values are")
  end
  if unfinished > 0 then
    parts[#parts + 1] = ("Dotted: %s that did not finish."):format(
      number.count(unfinished, "run"))
  end
  return #parts > 0 and table.concat(parts, " ") or nil
end

-- The floor of the loss, where finished runs tell it and have the same.
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

return function(view)
  local sweep = view.sweep
  local loss, loss_facts = curve.runs(sweep, "loss")
  local late, late_facts = curve.runs(sweep, "loss", { last_half = true })
  local level = floor_of(sweep)
  local figures = {}
  local function add(options)
    options.x = "step"
    figures[#figures + 1] = chart.lines(options)
  end
  for _, measure in ipairs(MEASURES) do
    local curves, facts = curve.runs(sweep, measure.field)
    add { title = measure.title, y = measure.y, low = measure.low, high = measure.high,
      note = "Thin: a run each; thick: the mean of a method’s finished runs. "
        .. (note(facts, curves) or ""), lines = tables.joined(curves, curve.means(sweep, curves)) }
    add { title = measure.difference, y = measure.y, level = { value = 0, text = "none" },
      note = "The mean over the pairs that finished.",
      lines = curve.differences(sweep, measure.field, view.summary.baseline) }
  end
  add { title = "Training loss of every run", y = "nats per token", level = level,
    note = note(loss_facts, loss), lines = loss }
  add { title = "Training loss of every run, last half of the steps", y = "nats per token",
    level = level, note = note(late_facts, late), lines = late }
  add { title = "Mean training loss, last half of the steps", y = "nats per token", level = level,
    note = "Over each method’s finished runs.", lines = curve.means(sweep, late) }
  return #figures > 0 and figures or { h.p { "No run has metrics yet." } }
end
