--- The gnuplot script of a heatmap.
local cells_of = require "roper.plot.cells"
local syntax = require "roper.plot.gnuplot.syntax"
local ticks = require "roper.plot.gnuplot.ticks"

local M = {}

local MOST_CELLS <const> = 512 -- on an axis
local MOST_SHARP <const> = 4096 -- cells drawn as rectangles; more are an image
local MOST_NAMES <const> = 64

-- Cells as rectangles, each at its place among the rows and columns of the matrix.
local function rectangles(cells, across, down)
  local xs, ys, values = {}, {}, {}
  for i, row in ipairs(cells.rows) do
    for j, value in ipairs(row) do
      xs[#xs + 1] = 0.5 + (j - 0.5) * across
      ys[#ys + 1] = 0.5 + (i - 0.5) * down
      values[#values + 1] = value
    end
  end
  return syntax.block("$m", { xs, ys, values })
    .. ("\nplot $m using 1:2:(%.12g):(%.12g):3 with boxxyerror fillstyle solid noborder "):format(
      across / 2, down / 2) .. "linecolor palette"
end

-- Cells as an image; it must have two rows and two columns at least.
local function image(cells, across, down)
  local lines = { "$m << EOD" }
  for i, row in ipairs(cells.rows) do
    local numbers = {}
    for j, value in ipairs(row) do
      numbers[j] = value == value and ("%.9g"):format(value) or "NaN"
    end
    lines[i + 1] = table.concat(numbers, " ")
  end
  return table.concat(lines, "\n")
    .. ("\nEOD\nplot $m matrix using (0.5+($1+0.5)*%.12g):(0.5+($2+0.5)*%.12g):3 with image")
      :format(across, down)
end

local function palette(map)
  local stops = {}
  for i, hue in ipairs(map) do
    stops[i] = ("%d '%s'"):format(i, hue)
  end
  return ("set palette defined (%s)"):format(table.concat(stops, ", "))
end

-- The ticks of one axis: names where they were given and there is room, else whole numbers.
local function tick_command(letter, names, first, count)
  if names and #names <= MOST_NAMES then
    return ticks.named(letter, names)
  end
  local marks = {}
  for i, tick in ipairs(cells_of.numbering(first, count):ticks(8)) do
    marks[i] = ("'%s' %d"):format(tick.text, tick.value - first + 1)
  end
  return ("set %stics (%s)"):format(letter, table.concat(marks, ", "))
end

--- Commands and data that draw a heatmap; the axes count rows and columns from 1.
---@param figure table
---@return string
function M.script(figure)
  local cells = cells_of.read(figure, MOST_CELLS, MOST_CELLS)
  local rows, columns = figure.matrix:size(1), figure.matrix:size(2)
  local down, across = rows / #cells.rows, columns / #cells.rows[1]
  local is_sharp = #cells.rows * #cells.rows[1] <= MOST_SHARP
  local aspect = rows / columns
  return table.concat({
    palette(cells.map),
    ("set cbrange [%.12g:%.12g]"):format(cells.axis.low, cells.axis.high),
    figure.legend and "set colorbox" or "unset colorbox",
    "unset key",
    ("set xrange [0.5:%g]"):format(columns + 0.5),
    ("set yrange [%g:0.5]"):format(rows + 0.5),
    aspect >= 0.5 and aspect <= 2 and "set size ratio -1" or "",
    "set border 0",
    tick_command("x", figure.columns, figure.first_column, columns),
    tick_command("y", figure.rows, figure.first_row, rows),
    "set object 1 rectangle from graph 0,0 to graph 1,1 behind fillstyle solid noborder "
      .. ("fillcolor rgb '%s'"):format(cells.gap_color),
    cells.note and ("set label 1 %s at screen 0.5,0.025 center font ',12' "
      .. "textcolor rgb '#555555'"):format(syntax.quote(cells.note)) or "",
    cells.note and "set bmargin at screen 0.2" or "",
    (is_sharp and rectangles or image)(cells, across, down),
  }, "\n") .. "\n"
end

return M
