--- A chart of the running trials of a sweep, as lines of text above its progress.
local clock = require "roper.system.clock"
local curve = require "roper.workbench.study.report.curve"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local terminal = require "roper.text.terminal"

local M = {}

local SECONDS <const> = 1 -- between two reads of the metrics
local MOST_ROWS <const>, LEAST_ROWS <const> = 12, 5 -- of the drawing itself
-- Rows for the title, the axis and its numbers, the legend, the lines of progress, and one spare
-- row.
local OTHER_ROWS <const> = 10
local WIDEST <const> = 100 -- columns

--- Returns the last running trial of each method.
---@param sweep Sweep
---@return table[] trials
function M.newest(sweep)
  local by_method = {}
  for _, trial in ipairs(sweep.trials) do
    by_method[trial.method] = trial.run.status == "running" and trial or by_method[trial.method]
  end
  return tables.map(sweep.methods, function(method) return by_method[method] end)
end

--- Returns the chart of some trials.
---@param sweep Sweep
---@param trials table[] of the sweep
---@param shown table field of the metrics and title, as the field `curve` of a measure
---@param columns integer of the terminal
---@param rows integer of the terminal
---@return string[] lines empty without a point, or if the terminal is too small
function M.of_trials(sweep, trials, shown, columns, rows)
  local height, steps = math.min(MOST_ROWS, rows - OTHER_ROWS), 1
  local curves = curve.runs({ trials = trials, methods = sweep.methods }, shown.field)
  if height < LEAST_ROWS or #curves == 0 then
    return {}
  end
  for _, trial in ipairs(trials) do
    steps = math.max(steps, trial.config.steps)
  end
  local text = require("roper.workbench.plot").line(curve.series(curves, "label"), {
    format = "text", height = height, width = math.min(columns, WIDEST),
    title = shown.title, xrange = { 0, steps } })
  return escape.lines("\n" .. text:gsub("\n$", ""))
end

--- Returns the chart of the running trials.
---@param sweep Sweep
---@param measure Measure
---@param columns integer of the terminal
---@param rows integer of the terminal
---@return string[] lines as from `of_trials`
function M.lines(sweep, measure, columns, rows)
  return M.of_trials(sweep, M.newest(sweep), measure.curve, columns, rows)
end

--- Returns a function that draws the chart of a sweep as it grows, for the option `chart` of
--- `sweep.run`.
---@param folder string of the sweep
---@param measure Measure
---@param stream file* a terminal
---@return fun(): string[] lines
function M.following(folder, measure, stream)
  local read_at, lines = -math.huge, {}
  return function()
    if clock.time() - read_at >= SECONDS then
      read_at = clock.time()
      lines = M.lines(require("roper.workbench.study.sweep").read(folder), measure,
        terminal.columns(stream) - 3, terminal.rows(stream)) -- a live display leaves 3 free
    end
    return lines
  end
end

return M
