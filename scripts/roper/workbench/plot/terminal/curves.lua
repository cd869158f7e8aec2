--- Draws lines, points and arrows between two axes, with Braille dots.
local canvases = require "roper.workbench.plot.canvas"
local color = require "roper.workbench.plot.color"
local draw_legend = require "roper.workbench.plot.terminal.legend"
local text = require "roper.text.width"

local ROWS <const>, SQUARE_ROWS <const> = 16, 20
-- Marks that distinguish series without colours.
local MARKS <const> = { "●", "■", "▲", "◆", "○", "□", "△", "◇" }
local MARK_EVERY <const> = 24 -- dots from one mark of a line to the next
local HEADS <const> = { [0] = "→", "↗", "↑", "↖", "←", "↙", "↓", "↘" }

local function mark_of(series)
  return MARKS[(series.index - 1) % #MARKS + 1]
end

-- Draws the shaded area between low and high.
local function draw_band(canvas, series, place, hue)
  local from_x, from_low, from_high
  for i = 1, #series.x do
    local x, low = place(series.x[i], series.low[i])
    local _, high = place(series.x[i], series.high[i])
    if x + low + high == x + low + high then
      from_x, from_low, from_high = from_x or x, from_low or low, from_high or high
      local width = math.max(x - from_x, 1e-9)
      local first = math.max(0, math.ceil(from_x - 0.5))
      for column = first, math.min(canvas.width - 1, math.floor(x + 0.5)) do
        local part = math.min(math.max((column - from_x) / width, 0), 1)
        canvas:shade(column, from_low + (low - from_low) * part,
          from_high + (high - from_high) * part, hue)
      end
      from_x, from_low, from_high = x, low, high
    else
      from_x, from_low, from_high = nil, nil, nil
    end
  end
end

-- Draws a line through the points, and adds the places of its marks to `marks`.
local function draw_line(canvas, series, place, hue, marks)
  local marked, length = {}, 0
  local function visit(x, y)
    length = length + 1
    local column = x // MARK_EVERY
    if marks and (x - 6 * series.index) % MARK_EVERY < 2 and not marked[column] then
      marked[column], marks[#marks + 1] = true, { x, y, series }
    end
    return series.dashed and length // 4 % 2 == 1
  end
  local function point(i)
    local x, y = place(series.x[i] or 0 / 0, series.y[i] or 0 / 0)
    return x == x and y == y and x, y
  end
  for i = 1, #series.x do
    local x, y = point(i)
    local last_x, last_y = point(i - 1)
    if x and last_x then
      canvas:line(last_x, last_y, x, y, hue, visit)
    elseif x and not point(i + 1) then
      canvas:mark(x, y, "•", hue)
    end
  end
end

local function draw_points(canvas, series, place, hue, is_marked)
  for i = 1, #series.x do
    local x, y = place(series.x[i], series.y[i])
    if is_marked then
      canvas:mark(x, y, mark_of(series), hue)
    else
      canvas:dot(x, y, hue)
    end
  end
end

local function arrow_mark(series)
  return series.mark or tostring(series.index % 10)
end

-- Draws an arrow, with a mark on its shaft if `is_marked`.
local function draw_arrow(canvas, series, place, hue, is_marked)
  draw_line(canvas, series, place, hue)
  local x1, y1 = place(series.x[1], series.y[1])
  local x2, y2 = place(series.x[2], series.y[2])
  local turn = math.floor(math.atan(y1 - y2, x2 - x1) / (math.pi / 4) + 0.5) % 8
  local head = (x1 ~= x2 or y1 ~= y2) and HEADS[turn] or "•"
  canvas:mark(x2, y2, head, hue)
  if is_marked then
    canvas:mark(x1 + 0.6 * (x2 - x1), y1 + 0.6 * (y2 - y1), arrow_mark(series), hue)
  end
end

-- Draws everything between the axes: areas first, then lines and points, marks on top.
local function draw_series(canvas, figure, is_marked)
  local function place(x, y) -- in dots; nan if a logarithmic scale cannot represent it
    return figure.x:place(x) * (canvas.width - 1), (1 - figure.y:place(y)) * (canvas.height - 1)
  end
  for _, series in ipairs(figure.series) do
    if series.low then
      draw_band(canvas, series, place, color.series(series.index))
    end
  end
  local marks = {} -- of lines: {x, y, series}
  for _, series in ipairs(figure.series) do
    local hue = color.series(series.index)
    if series.style == "points" then
      draw_points(canvas, series, place, hue, is_marked)
    elseif series.style == "arrow" then
      draw_arrow(canvas, series, place, hue,
        is_marked and figure.legend and (series.label or not figure.is_tagged))
    else
      local has_marks = is_marked and (series.label or not series.thin)
      draw_line(canvas, series, place, hue, has_marks and marks)
    end
  end
  for _, mark in ipairs(marks) do
    local x, y, series = table.unpack(mark)
    canvas:mark(x, y, mark_of(series), color.series(series.index))
  end
end

-- Draws the vertical axis to the right of its numbers, which end at column `left`.
local function draw_y_axis(screen, top, rows, left, figure)
  for row = top, top + rows - 1 do
    screen:put(row, left + 1, "│")
  end
  local free = top + rows -- rows from this one down are in use
  for _, tick in ipairs(figure.y:ticks(math.max(2, rows // 3))) do
    local row = top + math.floor((1 - figure.y:place(tick.value)) * (4 * rows - 1) + 0.5) // 4
    if row < free then
      screen:put(row, left - #tick.text, tick.text)
      screen:put(row, left + 1, "┤")
      free = row
    end
  end
end

-- Draws the horizontal axis at `row`, with its numbers below.
local function draw_x_axis(screen, row, left, columns, figure)
  screen:put(row, left + 1, "└" .. ("─"):rep(columns))
  local free = 1 -- the first free column for a number
  for _, tick in ipairs(figure.x:ticks(math.max(3, columns // 12))) do
    local column = left + 2
      + math.floor(figure.x:place(tick.value) * (2 * columns - 1) + 0.5) // 2
    local start = math.min(column - #tick.text // 2, screen.columns - #tick.text + 1)
    if start >= free then
      screen:put(row, column, "┬")
      screen:put(row + 1, start, tick.text)
      free = start + #tick.text + 2
    end
  end
end

return function(screen, top, figure, colored)
  local rows = figure.height or figure.is_square and SQUARE_ROWS or ROWS
  local left = 0
  for _, tick in ipairs(figure.y:ticks(math.max(2, rows // 3))) do
    left = math.max(left, #tick.text + 1)
  end
  local columns = math.max(4, screen.columns - left - 1)
  if figure.is_square then
    columns = math.min(columns, 2 * rows)
  end
  local kinds = {}
  for _, series in ipairs(figure.series) do
    kinds[series.index] = true
  end
  local is_marked = not colored and #kinds > 1
  top = screen:label(top, 1, figure.ylabel, screen.columns)
  draw_y_axis(screen, top, rows, left, figure)
  draw_x_axis(screen, top + rows, left, columns, figure)
  local canvas = canvases.new(columns, rows)
  draw_series(canvas, figure, is_marked)
  canvas:draw(screen, top, left + 2)
  local label = text.fit(figure.xlabel, columns)
  local row = screen:label(top + rows + 2, left + 2 + (columns - text.width(label)) // 2, label,
    columns)
  return draw_legend(screen, row, left + 2, figure, function(series)
    if series.style == "points" then
      return is_marked and mark_of(series) or "•"
    elseif series.style == "arrow" then
      return is_marked and series.mark ~= series.label and arrow_mark(series) or "→"
    end
    local line = series.dashed and "╍" or series.thin and "─" or "━"
    return is_marked and line .. mark_of(series) .. line or line:rep(2)
  end)
end
