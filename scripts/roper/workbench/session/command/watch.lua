--- `roper watch`: shows the state of runs while they train.
local terminal = require "roper.text.terminal"

local INTERVAL <const> = 1000 -- milliseconds between two reads of the runs
local COLUMNS <const> = 100 -- without a terminal

local HELP <const> = "q or Ctrl-C ends"

-- Cuts lines to the width of the terminal.
local function cut(lines, columns)
  local text = require "roper.text.width"
  return require("roper.base.tables").map(lines, function(line)
    return text.cut(line, columns)
  end)
end

-- The lines of the state, or the reason why it cannot be read.
local function state(folder, columns, rows)
  local watch = require "roper.workbench.study.report.watch"
  local diagnostics = require "roper.text.diagnostics"
  local ok, lines = pcall(function() return watch.lines(watch.read(folder), columns, rows) end)
  if not ok and diagnostics.is_interrupt(lines) then
    error(lines, 0)
  end
  return ok and lines
    or { (require("roper.base.escape").line(diagnostics.without_place(tostring(lines)))) }
end

-- Prints the state once.
local function print_state(folder, columns)
  local watch = require "roper.workbench.study.report.watch"
  io.stdout:write(table.concat(watch.lines(watch.read(folder), columns, math.huge), "\n"), "\n")
end

return {
  summary = "Show runs while they train: a live table and curves.",
  define = function(command)
    command:argument("folder"):args("?")
      :description("Folder of a sweep, of a run, or of several runs; runs by default. Other "
        .. "processes train; this one only reads. q or Ctrl-C ends it. Without a terminal, it "
        .. "prints the state once.")
  end,
  run = function(parsed)
    local watch = require "roper.workbench.study.report.watch"
    local folder = parsed.folder or "runs"
    watch.read(folder) -- raises an error before the screen changes
    local out = io.stdout
    if not terminal.is_capable(out) then
      print_state(folder, COLUMNS)
      return nil
    end
    require("roper.workbench.session.full_screen").run(function(columns, rows)
      local lines = state(folder, columns, rows - 1)
      lines[#lines + 1] = HELP
      return cut(lines, columns)
    end, INTERVAL)
    print_state(folder, terminal.columns(out))
    return nil
  end,
}
