--- A chart of lines in the report, named at their ends.
local h = require("roper.base.markup").h
local axes = require "roper.plot.axis"
local curve = require "roper.study.report.curve"
local number = require "roper.study.report.number"
local svg = require "roper.plot.svg"
local text = require "roper.plot.text"

local M = {}

--- A chart.
---@param options table title; x, y: what the axes count; lines: as in `roper.study.report.curve`,
---   also counts: text for each point; level: {value =, text =} drawn across (optional); low, high:
---   within the y axis where they are known; note: text below (optional)
---@return table figure nil where no line has a point
function M.lines(options)
  local level = options.level and number.is_finite(options.level.value) and options.level or nil
  local series, xs, ys = {}, {}, { { options.low, options.high }, { level and level.value } }
  for i, line in ipairs(options.lines) do
    xs[i], ys[i + 2] = curve.coordinates(line.points)
    series[i] = { x = xs[i], y = ys[i + 2], index = line.style, label = text.clean(line.method),
      title = line.label, counts = line.counts, thin = not line.runs,
      dotted = not line.finished }
  end
  local x = axes.new(xs, {})
  return x and h.figure {
    h.figcaption { h.b { options.title }, options.note and { ". ", options.note } },
    svg.fluid { kind = "curves", title = options.title, xlabel = options.x, ylabel = options.y,
      series = series, level = level, legend = true, x = x, y = axes.new(ys, { round = true }) },
  }
end

return M
