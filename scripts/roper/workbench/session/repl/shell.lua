--- Commands of the shell.
local M = {}

--- Run a command; a failure is reported.
---@param command string
function M.run(command)
  io.stdout:flush()
  local ok, how, number = os.execute(command)
  if not ok then
    io.stderr:write(how == "exit" and "exit status " or "ended by signal ", number, "\n")
  end
end

return M
