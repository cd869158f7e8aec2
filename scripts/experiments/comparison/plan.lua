-- Plan of the study "Position schemes side by side"; design.md describes it.
local position = require "roper.position"
local settings = require "roper.workbench.study.experiment.position"
local tables = require "roper.base.tables"

-- All schemes but those that are wrong on purpose.
local SCHEMES <const> = tables.map(position.list(), function(name)
  return not settings.is_mutant(name) and name or nil
end)

local function sweep(name)
  return { name = name, experiment = name, position = SCHEMES, seeds = "1..11" }
end

return {
  title = "Position schemes side by side",
  fields = { preset = "comparison", times = "2,4", problems = 8 },
  sweeps = { sweep "copy", sweep "recall", sweep "substring_index", sweep "substring_prefix" },
  columns = { "at_1", "at_2", "at_4", "beyond_2", "beyond_4" },
  schemes = SCHEMES,
}
