--- Where a plot goes: to a file, a string, a window or standard output.
local folder = require "roper.base.file"
local terminal = require "roper.base.terminal"

local M = {}

--- The formats that the option `format` takes.
M.FORMATS = { "svg", "png", "pdf", "text", "window" }

local ENDINGS <const> = { svg = "svg", png = "png", pdf = "pdf", txt = "text" }
local WIDEST <const> = 100 -- columns, where a terminal has more
local NARROWEST <const> = 20

local MISSING <const> = "%s: %s is not installed (apt-get install %s); .svg and .txt need none"

local CONVERT <const> = "rsvg-convert --format %s %s 2>%s"

-- A program that shows the picture may end at once, having told another, or go on: a failure is
-- looked for in the first second.
local OPEN <const> = [[setsid xdg-open %s >/dev/null 2>%s & i=0
while [ $i -lt 10 ] && kill -0 $! 2>/dev/null; do sleep 0.1; i=$((i + 1)); done
kill -0 $! 2>/dev/null || wait $!]]

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

--- Is a program there?
---@param program string
---@return boolean
function M.has(program)
  return os.execute(("command -v %s >/dev/null 2>&1"):format(program)) == true
end

-- What a shell command prints, given the path of a file that holds a picture.
local function run(name, program, package, command, path)
  if not M.has(program) then
    error(MISSING:format(name, program, package), 0)
  end
  local log = os.tmpname()
  local _ <close> = setmetatable({}, { __close = function() os.remove(log) end })
  local pipe = assert(io.popen(command:format(path, log)))
  local output = pipe:read "a"
  local ok, how, status = pipe:close()
  if not ok then
    error(("%s: %s failed (%s %d): %s"):format(name, program, how, status,
      folder.read(log):match "^%s*(.-)%s*$"), 0)
  end
  return output
end

-- A picture in another format than its own.
local function converted(name, svg, format)
  local path = os.tmpname()
  local _ <close> = setmetatable({}, { __close = function() os.remove(path) end })
  folder.write(path, svg)
  local bytes = run(name, "rsvg-convert", "librsvg2-bin", CONVERT:gsub("%%s", format, 1), path)
  if bytes == "" then
    error(name .. ": rsvg-convert wrote no picture", 0)
  end
  return bytes
end

-- Show a picture in a window; its file stays for the program that shows it.
local function open(name, svg)
  local path = os.tmpname()
  os.remove(path)
  folder.write(path .. ".svg", svg)
  run(name, "xdg-open", "xdg-utils", OPEN, path .. ".svg")
end

-- The bytes of a plot in a format of files.
local function bytes_of(figure, format)
  if format == "text" then
    return as_text(figure, false)
  end
  local svg = require("roper.plot.svg").render(figure)
  return format == "svg" and svg or converted(figure.name, svg, format)
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
  if format == "window" then
    return open(figure.name, require("roper.plot.svg").render(figure))
  end
  local bytes = bytes_of(figure, format)
  if not file then
    return bytes
  end
  local ok, message = pcall(folder.write, file, bytes)
  if not ok then
    error(("%s: %s"):format(figure.name, message), 0)
  end
  return file
end

return M
