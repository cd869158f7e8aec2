--- Draws lines, points and arrows as SVG.
local h = require("roper.text.markup").h
local marks = require "roper.workbench.plot.svg.mark"
local places = require "roper.workbench.plot.svg.place"
local tables = require "roper.base.tables"
local tags = require "roper.workbench.plot.svg.tag"

local TICKS <const> = 5 -- approximate number of ticks of an axis
local LONG <const> = 24 -- pixels; shorter arrows have smaller heads

-- Heads of arrows from their tip at 0 to the left: each quantity has its own, so that the colour is
-- not needed.
local HEADS <const> = { q = "M1 0L-11 4.5V-4.5Z",
  k = "M1 0L-11 5.5L-9.5 4L-2.5 0L-9.5 -4L-11 -5.5Z",
  v = "M1 0L-5 4.5L-11 0L-5 -4.5Z", o = "M1 0L-15 6.5V-6.5Z" }

-- Returns a path through the points, interrupted at gaps. The `h0` makes a single point visible as
-- a dot.
local function path(count, place)
  local parts, is_open = {}, false
  for i = 1, count do
    local x, y = place(i)
    local is_point = x == x and y == y
    if is_point then
      parts[#parts + 1] = (is_open and "L%.1f %.1f" or "M%.1f %.1fh0"):format(x, y)
    end
    is_open = is_point
  end
  return table.concat(parts)
end

-- Returns the area between low and high, for each two consecutive points without a gap. The band of
-- a series can have points of its own.
local function band(series, place)
  local index = series.index
  series = series.band or series
  local parts = {}
  for i = 2, #series.x do
    local x1, low1 = place(series.x[i - 1], series.low[i - 1])
    local x2, low2 = place(series.x[i], series.low[i])
    local _, high1 = place(series.x[i - 1], series.high[i - 1])
    local _, high2 = place(series.x[i], series.high[i])
    local sum = x1 + x2 + low1 + low2 + high1 + high2
    parts[#parts + 1] = sum == sum and ("M%.1f %.1fV%.1fL%.1f %.1fV%.1fZ"):format(x1, low1, high1,
      x2, high2, low2) or nil
  end
  return h.path { class = ("band %s%s"):format(marks.class(index), series.faint and " faint" or ""),
    d = table.concat(parts) }
end

-- Returns the numbers of a line for the script on pages that displays them at the pointer.
local function data_of(series)
  local xs, ys = {}, {}
  for i, y in ipairs(series.y) do
    if y == y then
      xs[#xs + 1], ys[#ys + 1] = ("%.9g"):format(series.x[i]), ("%.6g"):format(y)
    end
  end
  return table.concat(xs, " "), table.concat(ys, " ")
end

-- Returns true if a series has at most one point: as thin as a line, it would be invisible.
local function is_lone(series)
  local count = 0
  for _, y in ipairs(series.y) do
    count = count + (y == y and 1 or 0)
  end
  return count < 2
end

local function line(series, place)
  local classes, lone = { "line", marks.classes(series) }, is_lone(series)
  for _, class in ipairs { "thin", "dotted", "trail" } do
    classes[#classes + 1] = series[class] and not lone and class or nil
  end
  classes[#classes + 1] = lone and "dot"
    or series.dashed and "dashed" or marks.dashes(series.index)
  local fields = { class = table.concat(classes, " "), d = path(#series.x, function(i)
    return place(series.x[i], series.y[i])
  end), ["data-show"] = series.show }
  if series.title then
    fields["data-x"], fields["data-y"] = data_of(series)
    fields["data-counts"] = series.counts
    fields[1] = h.title { series.title }
  end
  return h.path(fields)
end

local function points(figure, series, place)
  local list = { class = marks.class(series.index) }
  for i = 1, #series.x do
    local across, up = figure.x:place(series.x[i]), figure.y:place(series.y[i])
    if across >= 0 and across <= 1 and up >= 0 and up <= 1 then
      local x, y = place(series.x[i], series.y[i])
      list[#list + 1] = marks.path(series.index,
        ("translate(%.1f %.1f)scale(.8)translate(-5 -5)"):format(x, y))
    end
  end
  return h.g(list)
end

-- Returns a mark at each point of a line. It keeps its shape if the plot is stretched.
local function marked(figure, series)
  local list = {}
  for i = 1, #series.x do
    local x, y = figure.x:place(series.x[i]), 1 - figure.y:place(series.y[i])
    list[#list + 1] = x == x and y == y and places.at(x, y, { h.g {
      class = "point " .. marks.class(series.index), marks.path(series.index,
        "translate(-4 -4)scale(.8)") } }) or nil
  end
  return list
end

-- Returns the head of an arrow, scaled down if the arrow is short; nil if its length is 0.
local function arrow_head(series, place)
  local x1, y1 = place(series.x[1], series.y[1])
  local x2, y2 = place(series.x[2], series.y[2])
  local scale = math.min(1, ((x2 - x1) ^ 2 + (y2 - y1) ^ 2) ^ 0.5 / LONG)
  return scale > 0 and h.path { class = marks.classes(series),
    d = HEADS[series.quantity] or HEADS.q,
    transform = ("translate(%.1f %.1f)rotate(%.1f)%s"):format(x2, y2,
      math.deg(math.atan(y2 - y1, x2 - x1)), scale < 1 and ("scale(%.3g)"):format(scale) or "") }
end

-- Returns the elements of a series. Those in the class "now" are what a page shows after a
-- prediction: all but the dashed arrows before a motion. An arrow that was rotated has the angle
-- and the centre of its way back, for pages that show the motion.
local function drawn(figure, series, place)
  local parts = series.style == "points" and points(figure, series, place)
    or { line(series, place), series.style == "arrow" and arrow_head(series, place) }
  local turned = series.turned
  if series.style == "arrow" and series.dashed then
    return parts
  elseif not turned then
    return h.g { class = "now", parts }
  end
  return h.g { class = "now turned", parts, style = ("--back:%.6gdeg;--about:%.1fpx %.1fpx"):format(
    math.deg(turned[1]), place(turned[2], turned[3])) }
end

-- Returns the labels of the series, each at the mean height at which its lines end.
local function names_of(figure)
  local names, by_label = {}, {}
  for _, series in ipairs(figure.legend and not figure.is_tagged and figure.series or {}) do
    local last = figure.y.high
    for _, value in ipairs((series.style or "lines") == "lines" and series.y or {}) do
      last = value == value and value or last
    end
    local name = by_label[series.label]
    if series.label and not name then
      name = { text = series.label, index = series.index, sum = 0, count = 0 }
      by_label[series.label], names[#names + 1] = name, name
    end
    if name then
      name.sum, name.count = name.sum + 1 - figure.y:place(last), name.count + 1
    end
  end
  for _, name in ipairs(names) do
    name.at = math.min(math.max(name.sum / name.count, 0), 1)
  end
  if figure.level then
    names[#names + 1] = { text = figure.level.text, at = 1 - figure.y:place(figure.level.value) }
  end
  return names
end

return function(figure)
  local x_ticks, y_ticks = places.ticks(figure.x, TICKS), places.ticks(figure.y, TICKS, true)
  local function body(width, height)
    local function place(x, y)
      return width * figure.x:place(x), height * (1 - figure.y:place(y))
    end
    local grid, areas, lines = places.rules(y_ticks, width, height), {}, {}
    for _, tick in ipairs(x_ticks) do
      grid[#grid + 1] = h.path { class = "grid", d = ("M%.1f %.1fv%.1f"):format(width * tick.at,
        height, figure.is_square and -height or -0.012 * height) }
    end
    if figure.level then
      grid[#grid + 1] = h.path { class = "level", h.title { figure.level.text },
        d = ("M0 %.1fH%.6g"):format(height * (1 - figure.y:place(figure.level.value)), width) }
    end
    for i, series in ipairs(figure.series) do
      areas[#areas + 1] = (series.band or series.low) and band(series, place) or nil
      lines[i] = drawn(figure, series, place)
    end
    return { h.svg { viewBox = ("0 0 %.6g %.6g"):format(width, height),
      preserveAspectRatio = "none", class = figure.is_ranged and "clipped", grid, areas, lines,
      figure.legend and figure.is_tagged and tags.draw(figure, place, width, height) },
      tables.map(figure.series, function(series)
        return series.marked and marked(figure, series)
      end) }
  end
  return { x = x_ticks, y = y_ticks, names = names_of(figure), body = body,
    aspect = figure.is_square and 1 or nil }
end
