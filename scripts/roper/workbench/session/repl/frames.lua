--- `%debug`, `%up` and `%down`: the stack frames of the last error and their local variables.
local diagnostics = require "roper.base.diagnostics"
local escape = require "roper.base.escape"
local who = require "roper.workbench.session.repl.who"

local M = {}

--- Shows the frames of the last error and the variables of one frame, which become `_`.
---
--- Errors: there was no error; there is no such frame.
---@param session table
---@param step integer? from the last shown frame, 1: to its caller; by default, the innermost frame
function M.show(session, step)
  local failure = session.failure
  if not failure then
    error("%debug: there was no error in your code", 0)
  end
  local number = step and session.frame + step or 1
  local frame = failure.frames[number]
  if not frame or not frame.variables then
    error(("there is no frame %s this one"):format(step > 0 and "above" or "below"), 0)
  end
  session.frame = number
  local values = {}
  for _, variable in ipairs(frame.variables) do
    values[variable[1]] = variable[2]
  end
  local message = failure.message:gsub("^input %d+:%d+: ", "")
  io.stdout:write(step and "" or escape.text(message) .. "\n",
    diagnostics.lines(failure, number):sub(2), "\n",
    frame.variables[1] and who.text(frame.variables) or "no local variables\n")
  session:keep(values)
end

return M
