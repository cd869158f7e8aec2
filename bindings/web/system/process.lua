--- This process and other programs, in a page: it cannot start any.
local M = {}

--- Raises the error for everything that starts a program.
---@param what string the program, or what would start it
function M.need(what)
  error(("a page starts no programs; for %s, use roper on Linux"):format(what), 0)
end

--- Raises the error for several processes.
---@param jobs? integer the number of processes
function M.need_jobs(jobs)
  if jobs and jobs > 1 then
    M.need(("%d jobs"):format(jobs))
  end
end

M.starts_programs = false

--- Refuses to look for a program.
M.has = M.need

--- Refuses to run a command of the shell.
---@param command string
function M.output(command)
  M.need(type(command) == "string" and command:match "%S+" or "a shell")
end

--- The same; without a command, returns whether there is a shell.
---@param command? string
---@return boolean? ok
function M.shell(command)
  return command ~= nil and M.output(command)
end

--- The id of this process.
---@return integer id
function M.id()
  return 1
end

--- The start of a process: unknown, since those of earlier visits are not running.
---@return nil
function M.start_of()
  return nil
end

--- Refuses to name the Lua interpreter, which only a new process needs.
function M.lua()
  M.need "Lua"
end

--- Refuses to start a program.
---@param _ table
---@param name string
function M.start(_, name)
  M.need(name)
end

M.run = M.need

rawset(os, "execute", M.shell)
rawset(io, "popen", M.output)

return M
