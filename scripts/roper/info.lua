--- What a result or a timing depends on: version, processor, threads, BLAS.
local core = require "roper.core"

local M = {}

-- Variables that change how fast OpenBLAS and OpenMP are, and what they must not be for AVX-512.
local SLOW = { Haswell = true, Zen = true, Sandybridge = true, Nehalem = true, Prescott = true }

--- What holds the machine back.
---@param machine Machine
---@return string? warning
function M.warning(machine)
  local forced = os.getenv "OPENBLAS_CORETYPE"
  if forced and SLOW[machine.blas_core] and machine.instructions == "x86-64-v4" then
    return ("OPENBLAS_CORETYPE=%s makes OpenBLAS run its %s kernels, which leave half of this "
      .. "AVX-512 processor unused; unset it"):format(forced, machine.blas_core)
  end
  return nil
end

---@class Info: Machine
---@field version string of roper
---@field lua string
---@field memory Memory
---@field warning? string what holds the machine back: an environment variable

--- What a result or a timing depends on.
---
---     > roper.info().version
---     "0.1.0"
---@return Info facts
function M.info()
  local facts = core.machine()
  facts.version = require("roper").version
  facts.lua = _VERSION
  facts.memory = core.memory()
  facts.warning = M.warning(facts)
  return facts
end

return M
