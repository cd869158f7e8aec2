--- Paths of the library and of its state.
local environment = require "roper.system.environment"

local M = {}

--- The folder of the library; the folders of lessons and experiments are beside it.
M.LIBRARY = debug.getinfo(1, "S").source:match "^@(.*)/system/paths%.lua$" or "scripts/roper"

-- The value of an environment variable, if it is an absolute path. A relative one would depend on
-- the current folder.
local function absolute(variable)
  local path = environment.get(variable)
  return path and path:find "^/" and path or nil
end

--- A folder of the user, according to the XDG Base Directory Specification: a relative path is
--- ignored.
---@param variable string such as "XDG_STATE_HOME"
---@param default string relative to the home folder, such as ".local/state"
---@return string? folder nil without a home folder
function M.user(variable, default)
  local home = absolute "HOME"
  return absolute(variable) or home and home .. "/" .. default
end

--- The places of a file that `make` writes: in a source tree, after `make install`, and in a tree
--- of luarocks.
---@param name string such as "native.lua"
---@return string[] paths
function M.built(name)
  return { M.LIBRARY .. "/../../build/library/" .. name,
    M.LIBRARY .. "/../../../roper/library/" .. name,
    ("%s/../../../../lib/luarocks/rocks-5.4/roper/%s-1/share/roper/library/%s"):format(M.LIBRARY,
      require "roper.base.version", name) }
end

--- The path of a file that persists between sessions.
---@param name string
---@return string? path below $XDG_STATE_HOME or ~/.local/state; nil without a home folder
function M.state(name)
  local state = M.user("XDG_STATE_HOME", ".local/state")
  return state and ("%s/roper/%s"):format(state, name)
end

return M
