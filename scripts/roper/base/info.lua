--- What a result or a timing depends on: version, processor, threads, BLAS.
local core = require "roper.core"
local uv = require "luv"

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

local commit -- of the files of this process: nil until asked for, then false where there is none

--- The commit that the library's files are of, with "-dirty" where they were changed since.
---@return string? commit nil where git does not know them
function M.commit()
  if commit == nil then
    -- An installed copy may lie inside a work tree that does not know it.
    local pipe = io.popen(("{ cd '%s' && git ls-files --error-unmatch init.lua >&2 && git describe "
      .. "--always --dirty --abbrev=12 --exclude='*'; } 2>/dev/null"):format(
      require("roper.base.paths").LIBRARY:gsub("'", "'\\''")))
    local line = pipe and pipe:read "l"
    if pipe then
      pipe:close()
    end
    commit = line and line:match "^%x+[%w-]*$" or false
  end
  return commit or nil
end

--- What the numbers of a run depend on besides its configuration, for its folder.
---@return table version, commit, host, processor, blas_core, instructions, threads, started;
---   loaded: the files that --load ran, with the hash of each
function M.record()
  local facts = core.machine()
  facts.version, facts.commit = require "roper.base.version", M.commit()
  facts.loaded = require("roper.base.load_option").text()
  facts.host, facts.started = uv.os_gethostname(), os.date "!%Y-%m-%dT%H:%M:%SZ"
  return facts
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
  facts.version = require "roper.base.version"
  facts.lua = _VERSION
  facts.memory = core.memory()
  facts.warning = M.warning(facts)
  return facts
end

return M
