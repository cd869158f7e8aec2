--- Shell commands.
local M = {}

--- Runs a command and reports its failure.
---@param command string
function M.run(command)
  io.stdout:flush()
  local ok, how, number = os.execute(command)
  if not ok then
    io.stderr:write(how == "exit" and "exit status " or "ended by signal ", number, "\n")
  end
end

return M
