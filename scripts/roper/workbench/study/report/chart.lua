--- Line charts of the report.
local h = require("roper.text.markup").h
local axes = require "roper.workbench.plot.axis"
local curve = require "roper.workbench.study.report.curve"
local base_tables = require "roper.base.tables"
local number = require "roper.workbench.study.report.number"
local svg = require "roper.workbench.plot.svg"
local text = require "roper.workbench.plot.text"

local M = {}

-- Number of names that fit beside a chart; with more, the chart is higher.
local FIT <const> = 12

-- Maximum number of points of all single runs in a chart.
local MOST_POINTS <const> = 24000

--- The data of a chart, as renderers of `roper.workbench.plot` take it.
---@param options table title; x, y: labels of the axes; lines: curves from
---   `roper.workbench.study.report.curve`, optionally with band, and with counts: a text for each
---   point; level: {value, text} of a horizontal line (optional); low, high: values that the y axis
---   includes; lengths: ticks of the x axis, with marks at the points of thick lines (optional);
---   is_log: true if the x axis is logarithmic
---@return table? chart nil if no line has a point
---@return integer? count of the names
function M.data(options)
  local level = options.level and number.is_finite(options.level.value) and options.level or nil
  local series, names, xs = {}, {}, {}
  local ys = { { options.low, options.high }, { level and level.value } }
  local is_many = #options.lines > curve.MANY
  for i, line in ipairs(options.lines) do
    local values
    xs[i], values = curve.coordinates(line.points)
    ys[#ys + 1] = values
    ys[#ys + 1] = line.band and line.band.low
    ys[#ys + 1] = line.band and line.band.high
    series[i] = { x = xs[i], y = values, index = line.style, label = text.clean(line.method),
      title = line.label, counts = line.counts, thin = not line.runs, band = line.band,
      faint = is_many, marked = options.lengths and line.runs and true, dotted = not line.finished }
    names[line.method] = true
  end
  local x = axes.new(xs, { at = options.lengths, log = options.is_log })
  return x and { kind = "curves", title = options.title, xlabel = options.x, ylabel = options.y,
    series = series, level = level, legend = true, x = x, y = axes.new(ys, { round = true }) },
    base_tables.count(names)
end

--- The drawing of a chart.
---@param options table as for `data`
---@return table? svg nil if no line has a point
function M.plot(options)
  local data, count = M.data(options)
  return data and svg.fluid(data, count > FIT and ("%drem"):format(count) or nil)
end

local function caption(options)
  return h.figcaption { h.b { options.title }, options.note and { ". ", options.note } }
end

--- A chart with its caption.
---@param options table as for `data`; note: text after the title (optional)
---@return table? figure nil if no line has a point
function M.lines(options)
  local plot = M.plot(options)
  return plot and h.figure { caption(options), plot }
end

-- Several charts, each with a note, and a switch that shows one of them.
local function switch(figure, choices)
  local inputs, plots = {}, {}
  if not choices[2] then
    local one = base_tables.merged(figure, { note = choices[1].note })
    return h.figure { caption(one), choices[1].plot }
  end
  for i, choice in ipairs(choices) do
    local id = ("%s-%d"):format(figure.name, i)
    inputs[i] = { h.input { type = "radio", name = figure.name, id = id, checked = i == 1 },
      h.label { ["for"] = id, choice.name } }
    plots[i] = h.div { class = "choice", h.p { class = "note", choice.note }, choice.plot }
  end
  return h.figure { class = "switch", caption(figure), inputs, plots }
end

-- The single runs of a figure with fewer points, if there are many.
local function thinned(curves)
  local most = math.max(2, MOST_POINTS // math.max(1, #curves))
  return base_tables.map(curves, function(line)
    return base_tables.merged(line,
      { points = curve.thin(line.points, math.ceil(#line.points / most)) })
  end)
end

-- The means without their bands.
local function bare(means)
  return base_tables.map(means, function(line)
    line = base_tables.merged(line)
    line.band = nil
    return line
  end)
end

-- The views of a part of a figure: single runs, and bands if there are any. Bands also come first
-- if there are many methods.
local function views(figure, part)
  local function view(name, lines, note)
    local plot = M.plot(base_tables.merged(figure, { lines = lines }))
    return plot and { plot = plot, note = note .. (figure.hint or ""),
      name = part.name and ("%s, %s"):format(part.name, name) or name }
  end
  local runs = view("single runs", base_tables.joined(thinned(part.curves), bare(part.means)),
    part.runs_note)
  local means = part.bands and view("bands", part.means, part.note)
  if means and (figure.bands_first or #part.means > curve.MANY) then
    return { means, runs }
  end
  return base_tables.entries { runs or false, means or false }
end

--- A figure with its caption, and a switch between its parts, single runs and means with bands.
---@param figure ReportFigure
---@return table? figure nil if no run has a point
function M.figure(figure)
  local choices = {}
  for _, part in ipairs(figure.parts) do
    choices = base_tables.joined(choices, views(figure, part))
  end
  return choices[1] and switch(figure, choices) or nil
end

return M
