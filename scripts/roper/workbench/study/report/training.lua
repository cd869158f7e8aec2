--- Curves of training: measures and loss over the steps, a line for each run, and their means.
local chart = require "roper.workbench.study.report.chart"
local counted = require("roper.base.escape").count
local curve = require "roper.workbench.study.report.curve"
local measures = require "roper.workbench.study.measures"
local number = require "roper.workbench.study.report.number"

-- Explains the lines of a chart.
local function note(sweep, facts, curves)
  local parts, unfinished = { #sweep.methods > curve.MANY
    and "The mean of each method’s finished runs, without the single runs."
    or "Thin: single runs; thick: the mean of a method’s finished runs." }, 0
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
      counted(unfinished, "run"))
  end
  return table.concat(parts, " ")
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
local function losses(sweep)
  local choices, level, shown = {}, floor_of(sweep), nil
  for _, range in ipairs { { "all steps", false }, { "last half", true } } do
    local curves, facts = curve.runs(sweep, "loss", range[2])
    local plot = chart.plot { title = "Training loss, " .. range[1], x = "step",
      y = "nats per token", level = level, lines = curve.shown(sweep, curves) }
    shown = shown or plot and note(sweep, facts, curves)
    choices[#choices + 1] = plot and { name = range[1], plot = plot }
  end
  return chart.switch { title = "Training loss", note = shown, name = "loss", choices = choices }
end

return function(view)
  local sweep = view.sweep
  local is_few = view.summary.baseline or #sweep.methods * (#sweep.methods - 1) / 2 <= curve.MANY
  local figures = {}
  for _, main in ipairs(measures.with_curves(view.summary.measure)) do
    local measure = main.curve
    local curves, facts = curve.runs(sweep, measure.field)
    figures[#figures + 1] = chart.lines { title = measure.title, x = "step", y = measure.y,
      low = measure.low, high = measure.high, note = note(sweep, facts, curves),
      lines = curve.shown(sweep, curves) }
    figures[#figures + 1] = is_few and chart.lines { x = "step",
      title = ("Difference in %s between runs of the same seed"):format(measure.y),
      y = measure.y, level = { value = 0, text = "none" },
      note = "Mean over the finished pairs.",
      lines = curve.differences(sweep, measure.field, view.summary.baseline) } or nil
  end
  figures[#figures + 1] = losses(sweep)
  return #figures > 0 and figures or "No run has metrics yet."
end
