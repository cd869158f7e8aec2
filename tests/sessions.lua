-- Interactive sessions of ./roper in a pseudo-terminal.

local process = require("tests.process")
local scratch = require("tests.scratch")

local M = {}

local homes = 0

--- The environment of a new user: an empty home folder in the scratch folder.
---@param changes table? further variables
---@return table
function M.newcomer(changes)
  homes = homes + 1
  local environment = { HOME = scratch.path("home" .. homes), TERM = "xterm", NO_COLOR = "1",
    XDG_CONFIG_HOME = false, XDG_STATE_HOME = false, INPUTRC = "/dev/null" }
  require("roper.system.file").make(environment.HOME)
  for name, value in pairs(changes or {}) do
    environment[name] = value
  end
  return environment
end

--- Start a session and wait for its prompt.
---@param environment table? a new user's by default
---@param command string?
---@return table screen
function M.start(environment, command)
  local screen = process.open(command or "./roper", environment or M.newcomer())
  screen:expect("\n> ")
  return screen
end

--- Enter lines and wait for exactly this output and the next prompt.
---@param screen table
---@param text string
---@param shown string
function M.enter(screen, text, shown)
  screen:type(text .. "\r")
  screen:expect(text .. "\n" .. shown .. "> ")
end

--- Enter an incomplete line, and wait for the continuation prompt.
---@param screen table
---@param text string
function M.begin(screen, text)
  screen:type(text .. "\r")
  screen:expect(text .. "\n>> ")
end

--- Discard the typed text with Ctrl-C. A key that was read but not shown may still appear.
---@param screen table
function M.give_up(screen)
  screen:type("\3")
  screen:expect("^C")
  screen:expect("\n> ")
end

--- Quit with Ctrl-D.
---@param screen table
function M.leave(screen)
  screen:type("\4")
  assert(screen:leave() == 0)
end

return M
