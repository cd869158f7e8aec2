--- The gnuplot script of bars.
local color = require "roper.plot.color"
local syntax = require "roper.plot.gnuplot.syntax"
local text = require "roper.plot.text"
local ticks = require "roper.plot.gnuplot.ticks"

local M = {}

local GROUP <const> = 0.8 -- of the distance between names is filled with bars

--- Commands and data that draw bars.
---@param figure table
---@return string
function M.script(figure)
  local width = GROUP / #figure.series
  local blocks, parts = {}, {}
  for j, series in ipairs(figure.series) do
    local places, widths = {}, {}
    for i = 1, #series.y do
      places[i] = i + (j - (#figure.series + 1) / 2) * width
      widths[i] = #figure.series > 1 and 0.92 * width or width
    end
    local block = "$d" .. j
    blocks[#blocks + 1] = syntax.block(block, { places, series.y, widths })
    parts[#parts + 1] = ("%s using 1:2:3 with boxes fillstyle solid 0.9 noborder "
      .. "linecolor rgb '%s' %s"):format(block, color.series(series.index),
      series.label and "title " .. syntax.quote(text.fit(series.label, 48)) or "notitle")
    if series.low then
      blocks[#blocks + 1] = syntax.block(block .. "e",
        { places, series.low, series.high })
      parts[#parts + 1] = block .. "e using 1:2:(0):($3-$2) with vectors heads "
        .. "size graph 0.01,90 linewidth 2 linecolor rgb '#222222' notitle"
    end
  end
  return table.concat({
    "set grid ytics linecolor rgb '#DDDDDD'",
    "set xzeroaxis linetype 1 linecolor rgb '#555555'",
    ("set xrange [0.4:%g]"):format(#figure.names + 0.6),
    ("set yrange [%.12g:%.12g]"):format(figure.y.low, figure.y.high),
    ticks.named("x", figure.names),
    table.concat(blocks, "\n"),
    "plot " .. table.concat(parts, ", "),
  }, "\n") .. "\n"
end

return M
