-- Runs programs as several processes with mpirun.

local busted = require("busted")
local core = require("roper.core")
local luassert = require("luassert")
local process = require("tests.process")
local scratch = require("tests.scratch")

local M = {}

--- Environment variables for mpirun: it can be run by root, and in a container in which processes
--- cannot read each other's memory; ranks choose their threads.
M.ENVIRONMENT = { OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1",
  OMPI_MCA_btl_vader_single_copy_mechanism = "none", OMP_NUM_THREADS = false }

--- The reason why processes cannot train together; nil if they can.
---@return string?
function M.missing()
  local reason = process.missing("mpirun") or not core.ranks_join and "roper was built without it"
  return reason and "no MPI here: " .. reason or nil
end

--- A test that is skipped, with its reason, if processes cannot train together.
---@param name string
---@param f fun()
function M.it(name, f)
  local reason = M.missing()
  if reason then
    busted.pending(("%s: %s"):format(name, reason))
  else
    busted.it(name, f)
  end
end

--- The command that runs another as several processes, whatever the number of processors.
---@param ranks integer
---@param ... string words of the other
---@return string[]
function M.command(ranks, ...)
  return { "mpirun", "--oversubscribe", "--bind-to", "none", "-n", tostring(ranks), ... }
end

--- Run Lua code in several processes, and check that all succeed.
---@param ranks integer
---@param text string
---@return string output of all of them
function M.script(ranks, text)
  local path = scratch.write("script.lua", text)
  local status, output, errors = process.run(M.command(ranks, "./roper", path), nil, M.ENVIRONMENT)
  luassert.equal(0, status, errors)
  return output
end

return M
