--- The gnuplot script of lines, points and arrows.
local color = require "roper.plot.color"
local syntax = require "roper.plot.gnuplot.syntax"
local text = require "roper.plot.text"

local M = {}

local LONGEST_LABEL <const> = 48
local POINTS <const> = { 7, 5, 9, 13, 6, 4, 8, 12 } -- gnuplot's numbers for ● ■ ▲ ◆ ○ □ △ ◇

-- The points of a line that have a gap on both sides, which no line would show.
local function lonely(series)
  local xs, ys = {}, {}
  local function is_gap(i)
    local sum = (series.x[i] or 0 / 0) + (series.y[i] or 0 / 0)
    return sum ~= sum
  end
  for i = 1, #series.x do
    if not is_gap(i) and is_gap(i - 1) and is_gap(i + 1) then
      xs[#xs + 1], ys[#ys + 1] = series.x[i], series.y[i]
    end
  end
  return xs, ys
end

-- Data blocks and the parts of the plot command that draw them.
local Script = {}
Script.__index = Script

-- Draw the columns of a block; the title goes to the legend the first time it comes.
function Script:add(lists, how, label)
  local name = "$d" .. #self.parts + 1
  self.blocks[#self.blocks + 1] = syntax.block(name, lists)
  local title = "notitle"
  if label and not self.titled[label] then
    self.titled[label] = true
    title = "title " .. syntax.quote(text.fit(label, LONGEST_LABEL))
  end
  self.parts[#self.parts + 1] = ("%s %s %s"):format(name, how, title)
end

function Script:add_series(series)
  local i, label = series.index, series.label
  local hue = syntax.quote(series.color or color.series(i))
  local dash = series.dashed and "dashtype (6,4)" or ""
  if series.style == "arrow" then
    self:add({ { series.x[1] }, { series.y[1] }, { series.x[2] - series.x[1] },
      { series.y[2] - series.y[1] } }, ("using 1:2:3:4 with vectors head noborder "
      .. "size screen 0.025,20,60 linewidth 3 linecolor rgb %s %s"):format(hue, dash), label)
  elseif series.style == "points" then
    self:add({ series.x, series.y }, ("with points pointtype %d pointsize 0.6 linecolor rgb %s")
      :format(POINTS[(i - 1) % #POINTS + 1], hue), label)
  else
    self:add({ series.x, series.y }, ("with lines linewidth %g linecolor rgb %s %s"):format(
      series.thin and 1.2 or 2.5, hue, dash), label)
    local xs, ys = lonely(series)
    if #xs > 0 then
      self:add({ xs, ys }, "with points pointtype 7 pointsize 0.6 linecolor rgb " .. hue)
    end
  end
end

-- `set xrange` and what belongs to it.
local function axis_commands(letter, axis)
  return (axis.log and ("set logscale %s\n"):format(letter) or "")
    .. ("set %srange [%.12g:%.12g]"):format(letter, axis.low, axis.high)
end

--- Commands and data that draw curves.
---@param figure table
---@return string
function M.script(figure)
  local script = setmetatable({ blocks = {}, parts = {}, titled = {} }, Script)
  for _, series in ipairs(figure.series) do
    if series.low then
      script:add({ series.x, series.low, series.high }, ("using 1:2:3 with filledcurves "
        .. "fillstyle transparent solid 0.2 noborder linecolor rgb '%s'")
        :format(color.series(series.index)))
    end
  end
  for _, series in ipairs(figure.series) do
    script:add_series(series)
  end
  return table.concat({
    "set grid linecolor rgb '#DDDDDD'",
    axis_commands("x", figure.x),
    axis_commands("y", figure.y),
    figure.is_square and "set size ratio -1" or "",
    table.concat(script.blocks, "\n"),
    "plot " .. table.concat(script.parts, ", "),
  }, "\n") .. "\n"
end

return M
