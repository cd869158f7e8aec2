--- Figures of a report for LaTeX, drawn by pgfplots at the width of a column. A method has the same
--- colour and mark as on the page.
local number = require "roper.workbench.study.report.number"
local markup = require "roper.base.markup"
local marks = require "roper.workbench.plot.svg.mark"
local svg = require "roper.workbench.plot.svg"
local tables = require "roper.base.tables"
local tex = require "roper.workbench.study.report.tex"
local text = require "roper.base.text"

local M = {}

-- The marks of `roper.workbench.plot.svg.mark`, in the same order.
local MARKS <const> = { "*", "square*", "triangle*", "diamond*",
  "triangle*,every mark/.append style={rotate=180}", "+,mark options={line width=1.2pt}",
  "star,mark options={line width=.8pt}" }

local DASHES <const> = { dashed = "dashed", ["dash-dotted"] = "dashdotted",
  ["long-dashed"] = "dash pattern=on 8pt off 3pt" }

local MOST_MARKS <const> = 8 -- on a line
local LEGEND <const> = 44 -- characters of a line of the legend

--- Returns the commands for the preamble of a document.
---@return string
function M.preamble()
  local lines = { "\\usepackage{booktabs}", "\\usepackage{pgfplots}",
    "\\pgfplotsset{compat=1.16}" }
  local style = markup.render(svg.style())
  for index = 1, marks.COUNT do
    local color = style:match("%." .. marks.class(index) .. " { color: #(%x+)")
    lines[#lines + 1] = ("\\definecolor{roper-%s}{HTML}{%s}"):format(marks.class(index),
      color:upper())
  end
  lines[#lines + 1] = [[
\pgfplotsset{roper/.style={
  width=\linewidth, height=0.7\linewidth, scaled ticks=false, ymajorgrids, grid style={black!12},
  axis line style={black!40}, tick style={black!40}, tick align=outside, tick pos=left,
  tick label style={font=\footnotesize, /pgf/number format/fixed}, label style={font=\footnotesize},
  legend style={font=\footnotesize, draw=none, fill=none, at={(0.5,1.02)}, anchor=south,
    /tikz/every even column/.append style={column sep=.6em}},
  legend cell align=left, every mark/.append style={solid},
  every axis plot/.append style={line width=.9pt, mark size=1.6pt}}}]]
  return table.concat(lines, "\n") .. "\n"
end

local function point(x, y)
  return ("(%.9g,%.6g)"):format(x, y)
end

-- Returns the areas of a band, between its gaps.
local function band_of(line)
  local areas, first, color = {}, 1, marks.class(line.style)
  local band = line.band or { x = {} }
  for i = 1, #band.x + 1 do
    if i > #band.x or band.low[i] ~= band.low[i] then
      local edge = {}
      for k = first, i - 1 do
        edge[k - first + 1] = point(band.x[k], band.low[k])
      end
      for k = i - 1, first, -1 do
        edge[#edge + 1] = point(band.x[k], band.high[k])
      end
      areas[#areas + 1] = i - first > 1 and ("\\addplot[draw=none, mark=none, fill=roper-%s, "
        .. "fill opacity=.18, forget plot] coordinates {\n%s\n} -- cycle;"):format(color,
        table.concat(edge, " ")) or nil
      first = i + 1
    end
  end
  return areas
end

-- Returns a line with its entry in the legend. `nan` interrupts it.
local function line_of(line)
  local points, every = {}, math.ceil(#line.points / MOST_MARKS)
  for i, one in ipairs(line.points) do
    points[i] = one[2] and point(one[1], one[2]) or ("(%.9g,nan)"):format(one[1])
  end
  local dashes = marks.dashes(line.style)
  return ("\\addplot[roper-%s, %smark=%s, mark repeat=%d, mark phase=%d] coordinates {\n%s\n};\n"
    .. "\\addlegendentry{%s}"):format(marks.class(line.style),
    dashes and DASHES[dashes] .. ", " or "", MARKS[marks.number(line.style)],
    every, 1 + line.style % every, table.concat(points, " "), tex.escape(line.method))
end

-- Returns a horizontal line. An invisible plot extends the axis to it.
local function level_of(level, x)
  return { ("\\addplot[draw=none, mark=none, forget plot] coordinates {%s};"):format(
      point(x, level.value)),
    ("\\draw[dashed, black!60] ({axis cs:%.9g,%.9g} -| {rel axis cs:0,0}) -- ({axis cs:%.9g,%.9g} "
      .. "-| {rel axis cs:1,0});"):format(x, level.value, x, level.value) }
end

-- Returns the number of columns of a legend.
local function columns_of(lines)
  local widest = 1
  for _, line in ipairs(lines) do
    widest = math.max(widest, text.width(line.method) + 5)
  end
  return math.min(#lines, math.max(1, LEGEND // widest))
end

-- Returns the options of an axis.
local function options_of(figure, lines)
  local list = { "roper", ("xlabel={%s}"):format(tex.escape(figure.x)),
    ("ylabel={%s}"):format(tex.escape(figure.y)), ("legend columns=%d"):format(columns_of(lines)) }
  list[#list + 1] = figure.low and ("ymin=%.9g"):format(figure.low)
  list[#list + 1] = figure.high and ("ymax=%.9g"):format(figure.high)
  list[#list + 1] = figure.is_log and "xmode=log, minor tick style={draw=none}" or nil
  if figure.lengths then
    local ticks = table.concat(tables.map(figure.lengths, function(length)
      return ("%g"):format(length)
    end), ",")
    list[#list + 1] = ("xtick={%s}, xticklabels={%s}"):format(ticks, ticks)
  end
  return table.concat(list, ", ")
end

--- Draws a part of a figure: the means of methods with their bands.
---@param figure ReportFigure
---@param part table one of its parts
---@return string? picture nil if no run has finished
function M.picture(figure, part)
  local lines = part.means
  if #lines == 0 then
    return nil
  end
  local level = figure.level and number.is_finite(figure.level.value) and figure.level
  local list = { ("\\begin{tikzpicture}\n\\begin{axis}[%s]"):format(options_of(figure, lines)) }
  for _, line in ipairs(lines) do
    list = tables.joined(list, band_of(line))
  end
  list = tables.joined(list, tables.map(lines, line_of),
    level and level_of(level, lines[1].points[1][1]) or {},
    { "\\end{axis}\n\\end{tikzpicture}" })
  return table.concat(list, "\n") .. "\n"
end

return M
