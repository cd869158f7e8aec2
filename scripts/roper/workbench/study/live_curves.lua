--- A chart of the running trials of a sweep, as lines of text above its progress.
local curve = require "roper.workbench.study.report.curve"
local escape = require "roper.base.escape"
local tables = require "roper.base.tables"
local terminal = require "roper.base.terminal"

local M = {}

local SECONDS <const> = 1 -- between two reads of the metrics
local MOST_ROWS <const>, LEAST_ROWS <const> = 12, 5 -- of the drawing itself
-- Rows for the title, the axis and its numbers, the legend, the lines of progress, and one spare
-- row.
local OTHER_ROWS <const> = 10
local WIDEST <const> = 100 -- columns

-- Returns the last running trial of each method.
local function newest(sweep)
  local by_method = {}
  for _, trial in ipairs(sweep.trials) do
    by_method[trial.method] = trial.run.status == "running" and trial or by_method[trial.method]
  end
  return tables.map(sweep.methods, function(method) return by_method[method] end)
end

--- Returns the chart of the running trials.
---@param sweep Sweep
---@param measure Measure
---@param columns integer of the terminal
---@param rows integer of the terminal
---@return string[] lines empty before the first point, or if the terminal is too small
function M.lines(sweep, measure, columns, rows)
  local height = math.min(MOST_ROWS, rows - OTHER_ROWS)
  local running = newest(sweep)
  local curves = curve.runs({ trials = running, methods = sweep.methods }, measure.curve.field)
  if height < LEAST_ROWS or #curves == 0 then
    return {}
  end
  local text = require("roper.workbench.plot").line(curve.series(curves, "label"), {
    format = "text", height = height, width = math.min(columns, WIDEST),
    title = measure.curve.title, xrange = { 0, running[1].config.steps } })
  return escape.lines("\n" .. text:gsub("\n$", ""))
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
    if os.time() - read_at >= SECONDS then
      read_at = os.time()
      lines = M.lines(require("roper.workbench.study.sweep").read(folder), measure,
        terminal.columns(stream) - 3, terminal.rows(stream)) -- a live display leaves 3 free
    end
    return lines
  end
end

return M
