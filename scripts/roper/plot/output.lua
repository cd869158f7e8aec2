--- Where a plot goes: to a file, a string, a window or standard output.
local folder = require "roper.base.file"
local gnuplot = require "roper.plot.gnuplot"
local terminal = require "roper.base.terminal"

local M = {}

--- The formats that the option `format` takes.
M.FORMATS = { "svg", "png", "pdf", "text", "window" }

local ENDINGS <const> = { svg = "svg", png = "png", pdf = "pdf", txt = "text" }
local WIDEST <const> = 100 -- columns, where a terminal has more
local NARROWEST <const> = 20

--- The format that a plot will have.
---@param name string of the function, for messages
---@param file string?
---@param format string?
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
    error(('%s: expected a file that ends in .svg, .png, .pdf or .txt, got "%s"'):format(name,
      file), 0)
  end
  return found
end

-- The plot as text; lines end in a line feed.
local function as_text(figure, colored)
  local columns = figure.width or math.min(terminal.columns(io.stdout), WIDEST)
  local lines = require("roper.plot.terminal").lines(figure, math.max(columns, NARROWEST), colored)
  return table.concat(lines, "\n") .. "\n"
end

--- Draw a plot.
---@param figure table
---@param file string?
---@param format string? as `format` gave it
---@return string? result the file; without one the bytes in the format; nothing where the plot is
---   on the screen
function M.show(figure, file, format)
  if not format then
    io.stdout:write(as_text(figure, terminal.is_colored(io.stdout)))
    io.stdout:flush()
    return
  end
  local bytes = format == "text" and as_text(figure, false) or gnuplot.render(figure, format)
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
