--- Writes a plot to a file, a string, a window or standard output.
local folder = require "roper.system.file"
local process = require "roper.system.process"
local terminal = require "roper.text.terminal"

local M = {}

--- Values of the option `format`.
M.FORMATS = { "svg", "png", "pdf", "text", "window" }

local ENDINGS <const> = { svg = "svg", png = "png", pdf = "pdf", txt = "text" }
local WIDEST <const> = 100 -- columns at most, even if the terminal has more
local NARROWEST <const> = 20

-- xdg-open either exits at once, after passing the picture to another program, or keeps running.
-- Only failures within the first second are detected.
local OPEN <const> = [[setsid xdg-open %s >/dev/null 2>%s & i=0
while [ $i -lt 10 ] && kill -0 $! 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -0 $! 2>/dev/null || wait $!]]

-- The converter from SVG to each other format: a program, its package, and its command line, with
-- placeholders for the picture and a file for error messages.
local PROGRAMS <const> = {
  png = { "rsvg-convert", "librsvg2-bin", "rsvg-convert --format png %s 2>%s" },
  pdf = { "rsvg-convert", "librsvg2-bin", "rsvg-convert --format pdf %s 2>%s" },
  window = { "xdg-open", "xdg-utils", OPEN },
}

--- Returns the format of a plot.
---@param name string of the function, for messages
---@return string? format nil for standard output
function M.format(name, file, format)
  if file and format == "window" then
    error(name .. ": expected a file or a window, got both", 0)
  elseif format or not file then
    return format
  end
  local ending = file:match "%.(%w+)$"
  local found = ending and ENDINGS[ending:lower()]
  if not found then
    error(('%s: expected a file name that ends in .svg, .png, .pdf or .txt, got "%s"'):format(name,
      file), 0)
  end
  return found
end

-- Renders a plot as text for a terminal with this number of rows; each line ends in a line feed.
local function as_text(figure, colored, rows)
  local columns = figure.width or math.min(terminal.columns(io.stdout), WIDEST)
  local lines = require("roper.workbench.plot.terminal").lines(figure,
    math.max(columns, NARROWEST), colored, rows)
  return table.concat(lines, "\n") .. "\n"
end

-- Runs the converter of a format and returns its output. A file that is displayed in a window is
-- not removed, because another program reads it.
local function through(name, svg, format, has_file)
  local program, package, command = table.unpack(PROGRAMS[format])
  if not process.has(program) then
    error(("%s: %s is not installed (in Debian: apt-get install %s)%s"):format(name, program,
      package, has_file and "; .svg and .txt do not need it" or ""), 0)
  end
  local log, is_displayed = os.tmpname(), false
  local picture = log .. ".svg"
  local _ <close> = setmetatable({}, { __close = function()
    os.remove(log)
    if not is_displayed then
      os.remove(picture)
    end
  end })
  folder.write(picture, svg)
  local output, ok, how, status = process.output(command:format(picture, log))
  if not ok then
    error(("%s: %s failed (%s %d): %s"):format(name, program, how, status,
      folder.read(log):match "([^\n]*)%s*$"), 0)
  elseif output == "" and format ~= "window" then
    error(("%s: %s wrote no picture"):format(name, program), 0)
  end
  is_displayed = format == "window"
  return output
end

--- Renders a plot as text for this terminal.
---@return string lines
function M.text(figure)
  return as_text(figure, terminal.is_colored(io.stdout), terminal.rows(io.stdout))
end

--- Writes a plot to standard output. Notebooks replace this function.
function M.on_screen(figure)
  io.stdout:write(M.text(figure))
  io.stdout:flush()
end

--- Draws a plot.
---@param format string? from `format`
---@return string? result the file; without a file, the plot in the format; nil if it was displayed
function M.show(figure, file, format)
  if not format then
    return M.on_screen(figure)
  end
  local bytes = format == "text" and as_text(figure, false)
    or require("roper.workbench.plot.svg").render(figure)
  bytes = PROGRAMS[format] and through(figure.name, bytes, format, file ~= nil) or bytes
  if format == "window" then
    return
  elseif not file then
    return bytes
  end
  local ok, message = pcall(folder.write, file, bytes)
  if not ok then
    error(("%s: %s"):format(figure.name, message), 0)
  end
  return file
end

return M
