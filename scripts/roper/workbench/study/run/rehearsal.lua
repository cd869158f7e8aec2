--- Tries configurations and new models before they are trained.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local evaluation = require "roper.training.evaluation"
local experiment = require "roper.workbench.study.experiment"
local measurement = require "roper.workbench.study.run.measurement"
local models = require "roper.workbench.study.experiment.models"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

-- Calls f(short), and f(full) if that fails: few sequences may have no answers. Restores the random
-- state. Returns the error if both fail.
local function failure_of(f, short, full)
  local function try(config)
    return pcall(scoped.with_seed, 1, function() f(config) end)
  end
  local ok, message = try(short)
  if not ok and not diagnostics.is_transient(message) then
    ok, message = try(full)
  end
  return not ok and message or nil
end

-- The smallest Transformer with everything that fields can contradict: one layer for each scheme of
-- a list, of the width and the heads of the configuration.
local function smallest(config)
  local scheme = experiment.scheme(config)
  local period = type(scheme) == "table" and math.max(#scheme, 1) or 1
  return tables.merged(config, { layers = math.min(period, config.layers), d_ff = 1 })
end

local function build(config, task, reach)
  local is_own = (config.model or models.DEFAULT) ~= models.DEFAULT
  return experiment.build(is_own and config or smallest(config), task, reach).model
end

local function try_text(config) -- without the text, which may take long to read
  local model = build(config, { vocabulary = function() return { "a", "b" } end }, 2)
  scoped.without_training(model, function()
    modules.logits(model, core.zeros({ 1, 2 }, "int32"))
  end)
end

local function try_problems(config)
  local task = experiment.task(config)
  evaluation.answers(build(config, task, experiment.reach(config)), task,
    { sequences = config.test_sequences, batch = config.batch })
end

--- Returns the reason if a configuration cannot run: fields contradict each other or the task, or
--- the model cannot compute with its position schemes. Restores the random state. Texts are not
--- read.
---@param config table from `experiment.configure`
---@return string? reason nil if it can run
function M.problem(config)
  local try = experiment.has_problems(config) and try_problems or try_text
  local message = failure_of(try, tables.merged(config, { test_sequences = 1 }), config)
  if diagnostics.is_transient(message) then
    error(message, 0)
  end
  return message and diagnostics.without_place(tostring(message)) or nil
end

--- Measures the new model of a run on few problems and sequences, so that a run whose model cannot
--- generate or cannot be measured fails before training.
---
--- Errors: the measurement fails, also with all problems and sequences.
---@param config table
---@param parts ExperimentParts
---@param beat function called from time to time
function M.measure(config, parts, beat)
  local few = tables.merged(config, { problems = 1, test_sequences = 1 })
  local message = failure_of(function(these)
    measurement.of(parts.task).measure(these, parts, beat)
  end, few, config)
  if message then
    error(diagnostics.is_interrupt(message) and message or "the new model cannot be measured; "
      .. "nothing was trained: " .. diagnostics.without_place(tostring(message)), 0)
  end
end

return M
