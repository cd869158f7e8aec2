--- The design of an experiment's main comparison, which `roper study` runs: methods, seeds and
--- fields, set down in the experiment's file before the first of these runs.
local experiment = require "roper.workbench.study.experiment"
local tables = require "roper.base.tables"

local M = {}

local DEFAULTS <const> = { methods = { "rope", "roper" }, first_seed = 1, seeds = 3, fields = {} }

--- The experiment of `make run`.
M.EXPERIMENT = "substring_prefix"

---@class Design
---@field methods string[] position schemes
---@field first_seed integer
---@field seeds integer runs of each method
---@field fields table of the experiment
---@field note? string what was fixed before the first run, and what was not

--- The design that the file of an experiment gives in its field `study`.
---
--- Errors: a name that no experiment has.
---@param name string
---@return Design design RoPE and RoPER from seeds 1 to 3 by default
function M.of(name)
  return tables.merged(DEFAULTS, experiment.definition(name).study or {})
end

--- The fields of its runs, as `sweep.run` takes them.
---@param design Design
---@return table[] fields {name, value or values} each
function M.fields(design)
  local list = { { "position", design.methods },
    { "seed", ("%d..%d"):format(design.first_seed, design.first_seed + design.seeds - 1) } }
  for _, name in ipairs(tables.keys(design.fields)) do
    list[#list + 1] = { name, design.fields[name] }
  end
  return list
end

--- The note of the design that the trials of a sweep follow: all of its runs, and no others.
---@param sweep Sweep
---@return string? note nil if they follow none
function M.note(sweep)
  local ok, design = pcall(M.of, sweep.experiment)
  if not ok or #sweep.trials ~= #design.methods * design.seeds then
    return nil
  end
  local known, same = tables.set(design.methods), require("roper.workbench.study.runs").same
  for _, trial in ipairs(sweep.trials) do
    local config = trial.config
    local fields = tables.merged(design.fields, { position = config.position, seed = config.seed })
    local place = config.seed - design.first_seed
    if not known[config.position] or place < 0 or place >= design.seeds
      or not same(config, experiment.configure(sweep.experiment, fields)) then
      return nil
    end
  end
  return design.note
end

return M
