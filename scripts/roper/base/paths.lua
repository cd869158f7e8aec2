--- Paths of the library and of its state.
local M = {}

--- The folder of the library; the folders of lessons and experiments are beside it.
M.LIBRARY = debug.getinfo(1, "S").source:match "^@(.*)/base/paths%.lua$" or "scripts/roper"

--- A folder of the user, according to the XDG Base Directory Specification.
---@param variable string such as "XDG_STATE_HOME"
---@param default string relative to the home folder, such as ".local/state"
---@return string? folder nil without a home folder
function M.user(variable, default)
  local folder, home = os.getenv(variable), os.getenv "HOME"
  return folder and folder ~= "" and folder or home and home .. "/" .. default
end

--- The path of a file that persists between sessions.
---@param name string
---@return string? path below $XDG_STATE_HOME or ~/.local/state; nil without a home folder
function M.state(name)
  local state = M.user("XDG_STATE_HOME", ".local/state")
  return state and ("%s/roper/%s"):format(state, name)
end

return M
