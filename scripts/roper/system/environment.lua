--- The environment of this process: variables, host name, current folder.
local uv = require "luv"

local M = {}

--- The value of an environment variable.
---@param name string
---@return string? value nil if the variable is unset
M.get = os.getenv

--- All environment variables.
---@return table<string, string> variables
M.all = uv.os_environ

--- The name of this machine.
---@return string name
M.host = uv.os_gethostname

--- The current folder.
---@return string path
M.folder = uv.cwd

--- Changes the current folder.
---@param path string
---@return any ok nil if it cannot be changed
---@return string? message
M.change_folder = uv.chdir

return M
