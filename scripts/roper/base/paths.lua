--- Paths of the library and of its state.
local M = {}

--- The folder of the library; the folders of lessons and experiments are beside it.
M.LIBRARY = debug.getinfo(1, "S").source:match "^@(.*)/base/paths%.lua$" or "scripts/roper"

--- The path of a file that persists between sessions.
---@param name string
---@return string? path below $XDG_STATE_HOME or ~/.local/state; nil without a home
function M.state(name)
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if not state or state == "" then
    state = home and home .. "/.local/state"
  end
  return state and ("%s/roper/%s"):format(state, name)
end

return M
