--- Plots through gnuplot: to SVG, PNG and PDF, or into a window.
local folder = require "roper.base.file"
local syntax = require "roper.plot.gnuplot.syntax"
local text = require "roper.plot.text"

local M = {}

local WRITERS <const> = {
  curves = "roper.plot.gnuplot.curves",
  bars = "roper.plot.gnuplot.bars",
  matrix = "roper.plot.gnuplot.matrix",
}
local WIDTH <const>, HEIGHT <const>, MATRIX_HEIGHT <const> = 640, 420, 520 -- pixels
-- Sizes of letters that can still be read where the picture is shown 400 pixels wide.
local TERMINALS <const> = {
  svg = "svg size %d,%d fixed font 'sans-serif,17' background 'white'",
  png = "pngcairo size %d,%d font 'Sans,13' background 'white'",
  pdf = "pdfcairo size %.3fin,%.3fin font 'Sans,13' background 'white'",
  window = "%s size %d,%d font 'Sans,13' persist",
}
local WINDOWS <const> = { "qt", "wxt", "x11", "aqua", "windows" }
local PIXELS_PER_INCH <const> = 96

--- Is gnuplot there?
---@return boolean
function M.available()
  return os.execute "command -v gnuplot >/dev/null 2>&1" == true
end

-- Run gnuplot on a script and return what it prints; its warnings are no part of it.
local function run(name, script, to_window)
  local path, log = os.tmpname(), os.tmpname()
  local _ <close> = setmetatable({}, { __close = function()
    os.remove(path)
    os.remove(log)
  end })
  folder.write(path, script)
  local pipe = assert(io.popen(("gnuplot --default-settings %s 2>%s%s"):format(path, log,
    to_window and " >/dev/null" or "")))
  local output = pipe:read "a"
  local ok, how, status = pipe:close()
  if not ok then
    error(("%s: gnuplot failed (%s %d): %s"):format(name, how, status,
      folder.read(log):gsub(path:gsub("%p", "%%%0"), "line"):match "^%s*(.-)%s*$"), 0)
  end
  return output
end

-- The first terminal with windows that this gnuplot has.
local function window_terminal(name)
  local known = " " .. run(name, "set print '-'\nprint GPVAL_TERMINALS\n") .. " "
  for _, terminal in ipairs(WINDOWS) do
    if known:find("%s" .. terminal .. "%s") then
      return terminal
    end
  end
  error(name .. ": this gnuplot has no windows (apt-get install gnuplot-qt)", 0)
end

-- The `set terminal` command for a format.
local function terminal_command(figure, format)
  local width = figure.width or WIDTH
  local height = figure.height or figure.kind == "matrix" and MATRIX_HEIGHT or HEIGHT
  local form = TERMINALS[format]
  if format == "pdf" then
    form = form:format(width / PIXELS_PER_INCH, height / PIXELS_PER_INCH)
  elseif format == "window" then
    form = form:format(window_terminal(figure.name), width, height)
  else
    form = form:format(width, height)
  end
  return "set terminal " .. form
end

-- What every plot starts with.
local function header(figure, format)
  local limit = (figure.width or WIDTH) // 9
  local function shown(string)
    return syntax.quote(text.fit(string, limit))
  end
  return table.concat({
    "set encoding utf8",
    terminal_command(figure, format) .. " noenhanced",
    "set title " .. shown(figure.title),
    "set xlabel " .. shown(figure.xlabel),
    "set ylabel " .. shown(figure.ylabel),
    "set border 3 linecolor rgb '#555555'",
    "set tics nomirror textcolor rgb '#222222'",
    figure.legend and "set key Left reverse samplen 2 "
      .. (figure.is_square and "outside right vertical" or "below center horizontal")
      or "unset key",
  }, "\n")
end

-- SVG without the titles that browsers show as tips, and valid where a text has "]]>".
local function mended(svg)
  return (svg:gsub("<title>.-</title>", ""):gsub("]]>", "]]&gt;"))
end

--- Draw a plot with gnuplot.
---@param figure table
---@param format "svg"|"png"|"pdf"|"window"
---@return string bytes of the file; "" for a window
function M.render(figure, format)
  if not M.available() then
    error(figure.name .. ": gnuplot is not installed (apt-get install gnuplot-nox); without a file"
      .. " plots are drawn in the terminal", 0)
  end
  local script = header(figure, format) .. "\n" .. require(WRITERS[figure.kind]).script(figure)
  local output = run(figure.name, script, format == "window")
  if format == "svg" and not output:find "</svg>%s*$" or format ~= "window" and output == "" then
    error(figure.name .. ": gnuplot wrote no whole picture", 0)
  end
  return format == "svg" and mended(output) or output
end

return M
