--- Plots through gnuplot: lines with a legend, to an SVG file, an SVG string or the terminal.
local options_of = require "roper.options"

local M = {}

-- Okabe and Ito's palette: told apart by the colour-blind as well.
local COLOURS = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000" }

--- Is gnuplot there?
---
---     > type(plot.available())
---     "boolean"
---@return boolean yes
function M.available()
  if M.found == nil then
    M.found = os.execute "command -v gnuplot >/dev/null 2>&1" == true
  end
  return M.found
end

-- Text as a gnuplot expression: strings in single quotes, which nothing can escape from, joined
--- by single quotes in double ones.
local function quote(text)
  return "'" .. tostring(text):gsub("'", [['."'".']]):gsub("%c", " ") .. "'"
end

-- The commands and data of a line plot, for a terminal type.
local function script(o, terminal)
  local lines = {
    "set terminal " .. terminal,
    "set title " .. quote(o.title) .. " noenhanced",
    "set xlabel " .. quote(o.x) .. " noenhanced",
    "set ylabel " .. quote(o.y) .. " noenhanced",
    "set key outside below noenhanced",
    "set grid linecolor rgb '#dddddd'",
    "set border 3",
    "set tics nomirror",
  }
  local parts, data, named = {}, {}, {}
  for i, series in ipairs(o.series) do
    local colour = series.colour or COLOURS[(i - 1) % #COLOURS + 1]
    local title = series.name and not named[series.name] and "title " .. quote(series.name)
      or "notitle"
    named[series.name or ""] = true
    parts[i] = ("'-' with lines linewidth %g linecolor rgb %s %s %s"):format(series.width or 2,
      quote(colour), series.dashed and "dashtype 2" or "", title)
    for _, point in ipairs(series) do
      data[#data + 1] = ("%.9g %.9g"):format(point[1], point[2])
    end
    data[#data + 1] = "e"
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  return table.concat(lines, "\n") .. "\n" .. table.concat(data, "\n") .. "\n"
end

-- Run gnuplot on a script and return the plot that it prints; its warnings are no part of it.
local function run(text)
  local path, log = os.tmpname(), os.tmpname()
  require("roper.folder").write(path, text)
  local pipe = assert(io.popen(("gnuplot %s 2>%s"):format(path, log)))
  local output = pipe:read "a"
  local ok = pipe:close()
  local file <close> = assert(io.open(log, "rb"))
  local messages = file:read "a"
  os.remove(path)
  os.remove(log)
  if not ok then
    error("plot: gnuplot failed: " .. messages, 0)
  end
  return output
end

-- Lines of at least one point {x, y} in all.
local function check_series(list)
  local count = 0
  for i, series in ipairs(list) do
    for j, point in ipairs(series) do
      count = count + 1
      if type(point) ~= "table" or type(point[1]) ~= "number" or type(point[2]) ~= "number" then
        error(("plot.line: series %d: expected {x, y} as point %d, got %s"):format(i, j,
          type(point) == "table" and ("{%s, %s}"):format(point[1], point[2]) or tostring(point)), 3)
      end
    end
  end
  if count == 0 then
    error("plot.line: series: expected points, got none", 3)
  end
end

---@class LineOptions
---@field title? string
---@field x? string what the horizontal axis shows
---@field y? string what the vertical axis shows
---@field series LineSeries[]
---@field format? "svg"|"text" = "svg"
---@field file? string write there as well

---@class LineSeries
---@field [integer] number[] a point {x, y}
---@field name? string series of one name share a line of the legend
---@field colour? string such as "#0072B2"
---@field width? number
---@field dashed? boolean

--- Lines through points.
---
--- Errors: no point at all, a point that is no pair of numbers, gnuplot missing.
---
---     > squares = {name = "x²", {0, 0}, {1, 1}, {2, 4}}
---     > figure = plot.line{title = "Squares", series = {squares}}
---     > figure:find "^<%?xml" ~= nil
---     true
---@param options LineOptions
---@return string plot
function M.line(options)
  local o = options_of.check("plot.line", options, { title = { "string", "" },
    x = { "string", "" }, y = { "string", "" }, series = "table",
    format = { { "svg", "text" }, "svg" }, file = "string?" })
  check_series(o.series)
  if not M.available() then
    error("plot: gnuplot is not installed (apt-get install gnuplot-nox)", 2)
  end
  local terminal = o.format == "svg" and "svg size 760,420 dynamic font 'sans-serif,13'"
    or "dumb size 78,22"
  local plot = run(script(o, terminal))
  if o.file then
    require("roper.folder").write(o.file, plot)
  end
  return plot
end

M.COLOURS = COLOURS

return M
