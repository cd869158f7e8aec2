--- Where the library lies.
local M = {}

--- The folder of these files; lessons and experiments lie beside it.
M.LIBRARY = debug.getinfo(1, "S").source:match "^@(.*)/base/paths%.lua$" or "scripts/roper"

--- A file that is kept from session to session.
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
