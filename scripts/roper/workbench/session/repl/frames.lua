--- `%debug`, `%up` and `%down`: the frames of the last error, and the local variables of one.
local diagnostics = require "roper.base.diagnostics"
local escape = require "roper.base.escape"
local who = require "roper.workbench.session.repl.who"

local M = {}

--- Show the frames of the last error and the variables of one, which are kept as `_`.
---
--- Errors: where nothing has failed, or there is no such frame.
---@param session table
---@param step integer? from the frame shown last, 1 towards the caller; by default, where it failed
function M.show(session, step)
  local failure = session.failure
  if not failure then
    error("%debug: nothing has failed in code of yours", 0)
  end
  local number = step and session.frame + step or 1
  local frame = failure.frames[number]
  if not frame or not frame.variables then
    error(("no frame is %s this one"):format(step > 0 and "above" or "below"), 0)
  end
  session.frame = number
  local values = {}
  for _, variable in ipairs(frame.variables) do
    values[variable[1]] = variable[2]
  end
  local lines = who.rows(frame.variables)
  local message = failure.message:gsub("^input %d+:%d+: ", "")
  io.stdout:write(step and "" or escape.text(message) .. "\n",
    diagnostics.lines(failure, number):sub(2), "\n",
    lines[1] and table.concat(lines, "\n") or "no local variables", "\n")
  session:keep(values)
end

return M
