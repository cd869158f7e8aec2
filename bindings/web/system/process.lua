--- This process and other programs, in a page: it cannot start any.
local M = {}

-- The error for a program.
local function refuse(name)
  error(("a page cannot start other programs, and this needs %s; use roper on a computer with "
    .. "Linux"):format(name), 0)
end

M.starts_programs = false

--- Is a program installed?
---@return boolean
function M.has()
  return false
end

--- Refuses to run a command of the shell.
---@param command string
function M.shell(command)
  refuse(command:match "^%S+")
end

M.output = M.shell

--- The id of this process.
---@return integer id
function M.id()
  return 1
end

--- Refuses to name the Lua interpreter, which only a new process needs.
function M.interpreter()
  refuse "Lua"
end

--- Refuses to start a program.
---@param _ table
---@param name string
function M.start(_, name)
  refuse(name)
end

M.run = refuse

return M
