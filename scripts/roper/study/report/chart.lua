--- A chart of lines: an SVG that stretches to the width there is, with its texts beside it in HTML,
--- so that they keep their size on a phone. Lines are named at their ends.
local h = require("roper.base.markup").h
local axes = require "roper.plot.axis"
local number = require "roper.study.report.number"

local M = {}

--- So many colours and marks there are; further methods use them again, in dashes.
M.STYLES = 7

-- Units of the picture in each direction.
local UNITS <const> = 1000

-- About so many numbers beside an axis.
local TICKS <const> = 5

-- Names at the right keep this share of the height between them, where there is room.
local NAME_GAP <const> = 0.065

-- Marks in a box of 10 by 10, told apart without colour.
local MARKS <const> = {
  "M5 1A4 4 0 1 0 5 9A4 4 0 1 0 5 1Z", -- disc
  "M1.5 1.5H8.5V8.5H1.5Z", -- square
  "M5 0.8L9.4 8.8H0.6Z", -- triangle
  "M5 0.2L9.8 5L5 9.8L0.2 5Z", -- diamond
  "M5 9.2L9.4 1.2H0.6Z", -- triangle on its tip
  "M3.6 0.5H6.4V3.6H9.5V6.4H6.4V9.5H3.6V6.4H0.5V3.6H3.6Z", -- cross
  "M5 0L6.3 3.5H10L7 5.8L8 9.6L5 7.2L2 9.6L3 5.8L0 3.5H3.7Z", -- star
}

--- The class that gives a method its colour.
---@param style integer number of the method
---@return string
function M.class(style)
  return "s" .. (style - 1) % M.STYLES + 1
end

--- The mark of a method, to stand before its name.
---@param style integer
---@return table
function M.mark(style)
  return h.svg { class = "mark " .. M.class(style), viewBox = "0 0 10 10", ["aria-hidden"] = "true",
    h.path { d = MARKS[(style - 1) % M.STYLES + 1] } }
end

local function percent(share)
  return ("%.2f%%"):format(100 * share)
end

-- The lowest and highest value at a place (1 or 2) of all points.
local function range(lines, place)
  local low, high = math.huge, -math.huge
  for _, line in ipairs(lines) do
    for _, point in ipairs(line.points) do
      if point[2] then
        low, high = math.min(low, point[place]), math.max(high, point[place])
      end
    end
  end
  return low, high
end

-- The path of a line, in units; it breaks where a point has no value. (The `h0` makes a lone
-- point a dot.)
local function path(points, x, y)
  local parts, is_open = {}, false
  for _, point in ipairs(points) do
    if point[2] then
      parts[#parts + 1] = (is_open and "L%.1f %.1f" or "M%.1f %.1fh0"):format(
        UNITS * x:place(point[1]), UNITS * (1 - y:place(point[2])))
    end
    is_open = point[2] ~= false
  end
  return table.concat(parts)
end

-- One line, with its numbers for the script that shows them under the pointer.
local function draw(line, x, y)
  local steps, values = {}, {}
  for _, point in ipairs(line.points) do
    if point[2] then
      steps[#steps + 1] = ("%.9g"):format(point[1])
      values[#values + 1] = ("%.6g"):format(point[2])
    end
  end
  local classes = { "line", M.class(line.style) }
  classes[#classes + 1] = line.runs and "mean" or nil
  classes[#classes + 1] = not line.finished and "unfinished" or nil
  classes[#classes + 1] = line.style > M.STYLES and "again" or nil
  return h.path { class = table.concat(classes, " "), d = path(line.points, x, y),
    ["data-x"] = table.concat(steps, " "), ["data-y"] = table.concat(values, " "),
    ["data-counts"] = line.counts, h.title { line.label } }
end

-- Places for names so that none covers another: pushed apart, then back inside.
local function spread(names)
  table.sort(names, function(a, b)
    return a.at < b.at
  end)
  local gap, floor = math.min(NAME_GAP, 1 / #names), 0
  for _, name in ipairs(names) do
    name.at = math.max(name.at, floor)
    floor = name.at + gap
  end
  local ceiling = 1
  for i = #names, 1, -1 do
    names[i].at = math.min(names[i].at, ceiling)
    ceiling = names[i].at - gap
  end
end

-- The name of each method, where its lines end on average.
local function names_of(lines, y)
  local names, by_method = {}, {}
  for _, line in ipairs(lines) do
    local last
    for _, point in ipairs(line.points) do
      last = point[2] or last
    end
    local name = by_method[line.method]
    if not name then
      name = { text = line.method, style = line.style, sum = 0, count = 0 }
      by_method[line.method] = name
      names[#names + 1] = name
    end
    name.sum, name.count = name.sum + 1 - y:place(last), name.count + 1
  end
  for _, name in ipairs(names) do
    name.at = name.sum / name.count
  end
  return names
end

local function name_labels(names)
  local labels = {}
  for i, name in ipairs(names) do
    labels[i] = h.span { class = "name", style = "top:" .. percent(name.at), title = name.text,
      name.style and M.mark(name.style) or h.span { class = "dash" }, h.bdi { name.text } }
  end
  return labels
end

-- The grid, and the numbers beside it.
local function grid_of(x, y)
  local grid, below, left = {}, {}, {}
  for _, tick in ipairs(y:ticks(TICKS)) do
    local at = 1 - y:place(tick.value)
    grid[#grid + 1] = h.path { class = "grid", d = ("M0 %.1fH%d"):format(UNITS * at, UNITS) }
    left[#left + 1] = h.span { style = "top:" .. percent(at), number.shown(tick.text) }
  end
  for _, tick in ipairs(x:ticks(TICKS)) do
    local at = x:place(tick.value)
    grid[#grid + 1] = h.path { class = "grid", d = ("M%.1f %dv-12"):format(UNITS * at, UNITS) }
    below[#below + 1] = h.span { style = "left:" .. percent(at), number.shown(tick.text) }
  end
  return grid, below, left
end

--- A chart.
---@param options table title; x, y: what the axes count; lines: as in `roper.report.curve`, also
---   counts: text for each point; level: {value =, text =} drawn across (optional); low, high: ends
---   of the y axis where they are known; note: text below (optional)
---@return table figure nil where no line has a point
function M.lines(options)
  local x_low, x_high = range(options.lines, 1)
  local y_low, y_high = range(options.lines, 2)
  if x_low > x_high then
    return nil
  end
  local level = options.level and number.is_finite(options.level.value) and options.level
  if level then
    y_low, y_high = math.min(y_low, level.value), math.max(y_high, level.value)
  end
  local x = axes.new({ { x_low, x_high } }, {})
  local y = axes.new({ { options.low or y_low, options.high or y_high } }, { round = true })
  local grid, below, left = grid_of(x, y)
  local drawn = {}
  for i, line in ipairs(options.lines) do
    drawn[i] = draw(line, x, y)
  end
  local names = names_of(options.lines, y)
  if level then
    local at = 1 - y:place(level.value)
    grid[#grid + 1] = h.path { class = "level", d = ("M0 %.1fH%d"):format(UNITS * at, UNITS),
      h.title { level.text } }
    names[#names + 1] = { text = level.text, at = at }
  end
  spread(names)
  return h.figure {
    h.figcaption { h.b { options.title }, options.note and { ". ", options.note } },
    h.div { class = "chart",
      h.div { class = "unit", options.y },
      h.div { class = "left", left },
      h.div { class = "plot", ["data-x"] = ("%.9g %.9g"):format(x.low, x.high),
        ["data-y"] = ("%.9g %.9g"):format(y.low, y.high), ["data-step"] = options.x,
        h.svg { viewBox = ("0 0 %d %d"):format(UNITS, UNITS), preserveAspectRatio = "none",
          role = "img", ["aria-label"] = options.title, grid, drawn } },
      h.div { class = "names", name_labels(names) },
      h.div { class = "below", below, h.span { class = "axis", options.x } },
    },
  }
end

return M
