--- The interactive session at a terminal.
local core = require "roper.core"
local nestings = require "roper.workbench.session.repl.nesting"
local paths = require "roper.system.paths"
local reader = require "roper.workbench.session.repl.reader"
local session = require "roper.workbench.session.repl.session"
local terminal = require "roper.text.terminal"
local width_of = require("roper.text.width").width

local M = {}

-- Bytes of input up to which each line is checked for errors; longer input is, once it may be
-- complete.
local CHECKED <const> = 4096

local PROMPT <const>, MORE_PROMPT <const> = "> ", ">> "

--- The versions, the BLAS and the number of threads, in a line.
---@return string
function M.versions()
  local machine = core.machine()
  return ("roper %s · %s · %s, %s"):format(require("roper").version, _VERSION,
    machine.blas, require("roper.base.escape").count(machine.threads, "thread"))
end

-- The first lines: versions, and how to get help and leave.
local function banner()
  local versions = M.versions()
  local keys = "? for help, Ctrl-D to leave"
  local fits = width_of(versions) + #keys + 3 <= terminal.columns(io.stdout)
  return versions .. (fits and " · " or "\n") .. keys
end

-- Runs the user's start file, $XDG_CONFIG_HOME/roper/init.lua, if it exists.
local function run_start_file(current)
  local folder = paths.user("XDG_CONFIG_HOME", ".config")
  local path = folder and folder .. "/roper/init.lua"
  if not path or not require("roper.system.file").exists(path) then
    return
  end
  local action, message = loadfile(path)
  if action then
    current:attempt(action)
  else
    terminal.report("error", message)
  end
end

-- Incomplete input: its lines, their number of bytes and their nesting.
local function new_input()
  return { lines = {}, size = 0, nesting = nestings.new() }
end

local function add(input, text)
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    input.nesting:add(line)
  end
  input.lines[#input.lines + 1], input.size = text, input.size + #text
  return input
end

--- Reads, evaluates and prints until Ctrl-D, `exit` or `quit`. Ctrl-C interrupts the computation or
--- discards the input line, and never ends the session.
function M.run()
  local current = session.new(_G)
  local lines = reader.new()
  core.interrupt_enable()
  io.stdout:write(terminal.styled(io.stdout, "dim", banner()), "\n")
  run_start_file(current)
  local rest, entry -- incomplete input, and all lines of the input
  local before -- the incomplete input when it was last checked
  while not current.is_over do
    io.stdout:flush() -- output may lack a newline
    local line, discarded = lines:read(rest and MORE_PROMPT or PROMPT, before)
    if line == nil then
      break
    elseif line == reader.INTERRUPTED then
      if not rest and discarded == "" then
        io.stdout:write "Ctrl-D or exit leaves.\n"
      end
      rest, entry, before = nil, nil, nil
    else
      rest, entry = add(rest or new_input(), line), entry or {}
      entry[#entry + 1] = line
      if rest.size < CHECKED or not rest.nesting:is_open() then
        before = current:feed(table.concat(rest.lines, "\n"))
        rest = before and add(new_input(), before)
      end
      if not rest then
        lines:remember(table.concat(entry, "\n"))
        entry = nil
      end
    end
  end
  core.interrupt_disable()
end

return M
