--- The session at the terminal.
local core = require "roper.core"
local reader = require "roper.workbench.session.repl.reader"
local session = require "roper.workbench.session.repl.session"
local terminal = require "roper.base.terminal"

local M = {}

local PROMPT <const>, MORE_PROMPT <const> = "> ", ">> "

-- What runs here, and how to get help and away, within the width of the terminal.
local function banner()
  local machine = core.machine()
  local what = ("roper %s · %s · OpenBLAS %s, %d threads"):format(require("roper").version,
    _VERSION, machine.blas_core, machine.threads)
  local how = "? for help, Ctrl-D to leave"
  local fits = utf8.len(what) + #how + 3 <= terminal.columns(io.stdout)
  return what .. (fits and " · " or "\n") .. how
end

-- Run the user's own start file, $XDG_CONFIG_HOME/roper/init.lua, where there is one.
local function run_start_file(current)
  local config, home = os.getenv "XDG_CONFIG_HOME", os.getenv "HOME"
  if not config or config == "" then
    config = (home or "") .. "/.config"
  end
  local path = config .. "/roper/init.lua"
  local _, _, code = require("luv").fs_stat(path)
  if code == "ENOENT" then
    return
  end
  local action, message = loadfile(path)
  if action then
    current:attempt(action)
  else
    terminal.report("error", message)
  end
end

--- Read, evaluate and print until Ctrl-D, `exit`, `quit` or two Ctrl-C at an empty prompt.
--- Another Ctrl-C ends what runs, or gives up the line that is typed.
function M.run()
  local current = session.new(_G)
  local lines = reader.new()
  core.interrupt_enable()
  io.stdout:write(terminal.styled(io.stdout, "dim", banner()), "\n")
  run_start_file(current)
  local rest, entry -- what is not complete yet, and all lines since the last prompt
  local is_leaving = false -- was Ctrl-C pressed at the empty prompt before this one?
  while not current.is_over do
    io.stdout:flush() -- a line that does not end yet
    local line, given_up = lines:read(rest and MORE_PROMPT or PROMPT, rest)
    if line == nil then
      break
    elseif line == reader.INTERRUPTED then
      local is_empty = not rest and given_up == ""
      if is_empty and is_leaving then
        break
      elseif is_empty then
        io.stdout:write "Ctrl-C again leaves\n"
      end
      rest, entry, is_leaving = nil, nil, is_empty
    else
      is_leaving = false
      entry = entry and entry .. "\n" .. line or line
      rest = current:feed(rest and rest .. "\n" .. line or line)
      if not rest then
        lines:remember(entry)
        entry = nil
      end
    end
  end
  core.interrupt_disable()
end

return M
