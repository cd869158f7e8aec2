--- Plots through gnuplot: lines with a legend, to an SVG file, an SVG string or the terminal.
local options_of = require "roper.options"

local M = {}

-- Okabe and Ito's palette: told apart by the colour-blind as well.
local COLOURS = { "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000" }

--- Is gnuplot there?
---@return boolean
function M.available()
  if M.found == nil then
    M.found = os.execute "command -v gnuplot >/dev/null 2>&1" == true
  end
  return M.found
end

--- Text for a gnuplot string in single quotes, without its enhanced markup.
local function quote(text)
  return "'" .. tostring(text):gsub("'", "''"):gsub("[%c]", " ") .. "'"
end

--- The commands and data of a line plot, for a terminal type.
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
    parts[i] = ("'-' with lines linewidth %g linecolor rgb '%s' %s %s"):format(series.width or 2,
      colour, series.dashed and "dashtype 2" or "", title)
    for _, point in ipairs(series) do
      data[#data + 1] = ("%.9g %.9g"):format(point[1], point[2])
    end
    data[#data + 1] = "e"
  end
  lines[#lines + 1] = "plot " .. table.concat(parts, ", ")
  return table.concat(lines, "\n") .. "\n" .. table.concat(data, "\n") .. "\n"
end

--- Run gnuplot on a script and return what it prints.
local function run(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local pipe = assert(io.popen("gnuplot " .. path .. " 2>&1"))
  local output = pipe:read "a"
  local ok = pipe:close()
  os.remove(path)
  if not ok then
    error("plot: gnuplot failed: " .. output, 0)
  end
  return output
end

--- Lines through points.
---@param options table title, x, y: texts; series: a list of {name =, {x, y}, ...} (colour, width,
---   dashed: how it is drawn; series of one name share a line of the legend); format = "svg" or
---   "text"; file: write there
---@return string the plot
function M.line(options)
  local o = options_of.check("plot.line", options, { title = { "string", "" },
    x = { "string", "" }, y = { "string", "" }, series = "table",
    format = { { "svg", "text" }, "svg" }, file = "string?" })
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
