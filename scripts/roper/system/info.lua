--- The environment of a run: version, processor, threads, BLAS.
local core = require "roper.core"
local environment = require "roper.system.environment"

local M = {}

-- Values of OPENBLAS_CORETYPE that do not use AVX-512.
local SLOW = { Haswell = true, Zen = true, Sandybridge = true, Nehalem = true, Prescott = true }

--- A warning about an environment variable that slows the library.
---@param machine Machine
---@return string? warning
function M.warning(machine)
  local forced = environment.get "OPENBLAS_CORETYPE"
  local kernels = machine.blas:match "^OpenBLAS (.+)"
  if forced and SLOW[kernels] and machine.instructions == "x86-64-v4" then
    return ("OPENBLAS_CORETYPE=%s makes OpenBLAS run its %s kernels, which leave half of this "
      .. "AVX-512 processor unused; unset it"):format(forced, kernels)
  end
  return nil
end

--- The git commit of the library's files, with "-dirty" if the work tree had changes.
---@return string? commit nil if git does not track the files
M.commit = require "roper.system.commit"

---@class Info: Machine
---@field version string of roper
---@field lua string
---@field memory Memory
---@field warning? string about an environment variable that slows the library

--- Information on the version, processor, threads, BLAS and memory, on which results and timings
--- depend.
---
---     > roper.info().version
---     "0.1.0"
---@return Info facts
function M.info()
  local facts = core.machine()
  facts.version = require "roper.base.version"
  facts.lua = _VERSION
  facts.memory = core.memory()
  facts.warning = M.warning(facts)
  return facts
end

return M
