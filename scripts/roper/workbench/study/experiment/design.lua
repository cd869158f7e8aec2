--- Design of an experiment's main comparison, which `roper study` runs: its methods, seeds and
--- fields. The experiment's file specifies them before the first of these runs.
local definitions = require "roper.workbench.study.experiment.definitions"
local experiment = require "roper.workbench.study.experiment"
local configuration = require "roper.workbench.study.experiment.configuration"
local grid = require "roper.workbench.study.experiment.grid"
local tables = require "roper.base.tables"

local M = {}

local DEFAULTS <const> = { methods = { "rope", "roper" }, first_seed = 1, seeds = 3, fields = {} }

--- Name of the experiment that `make run` runs.
M.EXPERIMENT = "substring_prefix"

---@class Design
---@field methods string[] position schemes
---@field first_seed integer
---@field seeds integer number of runs of each method
---@field fields table further fields of the experiment
---@field note? string which choices were made before the first run, and which after

--- Returns the design of an experiment: the field `study` of its file, or RoPE and RoPER with seeds
--- 1 to 3.
---
--- Errors: no experiment has this name.
---@param name string
---@return Design design
function M.of(name)
  return tables.merged(DEFAULTS, experiment.definition(name).study or {})
end

--- Returns the fields of a design's runs in the form that `sweep.run` takes.
---@param design Design
---@return table[] fields {name, value or list of values} each
function M.fields(design)
  local seeds = ("%d..%d"):format(design.first_seed, design.first_seed + design.seeds - 1)
  local list = { { "position", design.methods }, { "seed", grid.values("seed", seeds) } }
  for _, name in ipairs(tables.keys(design.fields)) do
    list[#list + 1] = { name, design.fields[name] }
  end
  return list
end

--- Returns the note of an experiment's design if the trials of a sweep are all of its runs and no
--- others.
---@param sweep Sweep
---@return string? note nil for any other sweep
function M.note(sweep)
  local design = definitions.find(sweep.experiment) and M.of(sweep.experiment)
  if not design or #sweep.trials ~= #design.methods * design.seeds then
    return nil
  end
  local configs = grid.configure(sweep.experiment, M.fields(design))
  local wanted = tables.set(tables.map(configs, configuration.hash))
  for _, trial in ipairs(sweep.trials) do
    if not wanted[configuration.hash(trial.config)] then
      return nil
    end
  end
  return design.note
end

return M
