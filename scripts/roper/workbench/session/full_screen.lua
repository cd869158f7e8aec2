--- A full-screen display that is redrawn at intervals until a key ends it.
local core = require "roper.core"
local clock = require "roper.system.clock"
local events = require "roper.system.events"
local finally = require("roper.base.scoped").finally
local terminal = require "roper.text.terminal"

local M = {}

-- Control sequences: the alternate screen without a cursor, and back.
local ENTER <const>, LEAVE <const> = "\27[?1049h\27[?25l", "\27[?25h\27[?1049l"

-- Keys that end the display: q, Q, Ctrl-C, Ctrl-D.
local ENDS <const> = "[qQ\3\4]"

-- Redraws until a key or a signal.
local function loop(draw, interval)
  local problem
  local function finish()
    return true
  end
  events.run {
    signals = { "sigint", "sigterm", "sighup" },
    on_signal = finish,
    on_keys = terminal.is_terminal(io.stdin) and function(keys)
      return not keys or keys:find(ENDS) ~= nil
    end,
    tick = function()
      local started = clock.seconds()
      local ok, message = pcall(draw)
      problem = not ok and message
      -- Slow reads, such as of many runs over a network, take at most a part of the time.
      return ok and math.max(interval, math.floor(4000 * (clock.seconds() - started))) or nil
    end,
  }
  if problem then
    error(problem, 0)
  end
end

--- Shows lines on the whole terminal, anew at intervals, until q, Ctrl-C or a signal. Afterwards
--- the screen is as before, and the keys work as before, even after an error.
---@param lines_of fun(columns: integer, rows: integer): string[]
---@param interval integer milliseconds
function M.run(lines_of, interval)
  local out = io.stdout
  local was_enabled = core.interrupt_disable()
  out:write(ENTER)
  finally(function()
    loop(function()
      local rows = terminal.rows(out)
      local lines = lines_of(terminal.columns(out), rows)
      out:write("\27[H", table.concat(lines, "\27[K\n", 1, math.min(#lines, rows)), "\27[J")
      out:flush()
    end, interval)
  end, function()
    events.reset_keys()
    out:write(LEAVE)
    out:flush()
    if was_enabled then
      core.interrupt_enable()
    end
  end)
end

return M
