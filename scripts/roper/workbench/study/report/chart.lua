--- Line charts of the report.
local h = require("roper.base.markup").h
local axes = require "roper.workbench.plot.axis"
local curve = require "roper.workbench.study.report.curve"
local base_tables = require "roper.base.tables"
local number = require "roper.workbench.study.report.number"
local svg = require "roper.workbench.plot.svg"
local text = require "roper.workbench.plot.text"

local M = {}

-- Number of names that fit beside a chart; with more, the chart is higher.
local FIT <const> = 12

--- The drawing of a chart.
---@param options table title; x, y: labels of the axes; lines: curves from
---   `roper.workbench.study.report.curve`, optionally with counts: a text for each point; level:
---   {value, text} of a horizontal line (optional); low, high: values that the y axis includes
---@return table? svg nil if no line has a point
function M.plot(options)
  local level = options.level and number.is_finite(options.level.value) and options.level or nil
  local series, names, xs = {}, {}, {}
  local ys = { { options.low, options.high }, { level and level.value } }
  for i, line in ipairs(options.lines) do
    xs[i], ys[i + 2] = curve.coordinates(line.points)
    series[i] = { x = xs[i], y = ys[i + 2], index = line.style, label = text.clean(line.method),
      title = line.label, counts = line.counts, thin = not line.runs,
      dotted = not line.finished }
    names[line.method] = true
  end
  local count = base_tables.count(names)
  local x = axes.new(xs, {})
  return x and svg.fluid({ kind = "curves", title = options.title, xlabel = options.x,
    ylabel = options.y, series = series, level = level, legend = true, x = x,
    y = axes.new(ys, { round = true }) }, count > FIT and ("%drem"):format(count) or nil)
end

local function caption(options)
  return h.figcaption { h.b { options.title }, options.note and { ". ", options.note } }
end

--- A chart with its caption.
---@param options table as for `plot`; note: text after the title (optional)
---@return table? figure nil if no line has a point
function M.lines(options)
  local plot = M.plot(options)
  return plot and h.figure { caption(options), plot }
end

--- Several charts with a switch that shows one of them.
---@param options table title; note; name: of the switch, unique on the page; choices: a list of
---   {name, plot}
---@return table? figure nil without a plot
function M.switch(options)
  local inputs, plots = {}, {}
  if #options.choices < 2 then
    return options.choices[1]
      and h.figure { caption(options), options.choices[1].plot } or nil
  end
  for i, choice in ipairs(options.choices) do
    local id = ("%s-%d"):format(options.name, i)
    inputs[i] = { h.input { type = "radio", name = options.name, id = id, checked = i == 1 },
      h.label { ["for"] = id, choice.name } }
    plots[i] = h.div { class = "choice", choice.plot }
  end
  return h.figure { class = "switch", caption(options), inputs, plots }
end

return M
