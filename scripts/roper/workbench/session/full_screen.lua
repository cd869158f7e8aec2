--- A full-screen display that is redrawn at intervals until a key ends it.
local core = require "roper.core"
local finally = require("roper.base.scoped").finally
local terminal = require "roper.text.terminal"
local uv = require "luv"

local M = {}

-- Control sequences: the alternate screen without a cursor, and back.
local ENTER <const>, LEAVE <const> = "\27[?1049h\27[?25l", "\27[?25h\27[?1049l"

-- Keys that end the display: q, Q, Ctrl-C, Ctrl-D.
local ENDS <const> = "[qQ\3\4]"

-- Redraws until a key or a signal. Returns after the handles are closed.
local function loop(draw, interval)
  local handles, is_done, problem = {}, false, nil
  local function finish()
    is_done = true
  end
  for _, name in ipairs { "sigint", "sigterm", "sighup" } do
    handles[#handles + 1] = uv.new_signal()
    handles[#handles]:start(name, finish)
  end
  local keys = terminal.is_terminal(io.stdin) and uv.new_tty(0, true)
  if keys then
    handles[#handles + 1] = keys
    keys:set_mode(1) -- each key at once, without an echo
    keys:read_start(function(_, data)
      if not data or data:find(ENDS) then
        finish()
      end
    end)
  end
  local timer = uv.new_timer()
  handles[#handles + 1] = timer
  local function tick()
    local started = uv.hrtime()
    local ok, message = pcall(draw)
    if not ok then
      problem = message
      finish()
    end
    -- Slow reads, such as of many runs over a network, take at most a part of the time.
    timer:start(math.max(interval, 4 * (uv.hrtime() - started) // 1000000), 0, tick)
  end
  timer:start(0, 0, tick)
  while not is_done do
    uv.run "once"
  end
  uv.tty_reset_mode()
  for _, handle in ipairs(handles) do
    handle:close()
  end
  uv.run "nowait" -- luv crashes at exit if a handle is still closing
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
    uv.tty_reset_mode()
    out:write(LEAVE)
    out:flush()
    if was_enabled then
      core.interrupt_enable()
    end
  end)
end

return M
