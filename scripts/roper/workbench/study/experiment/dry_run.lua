--- Tries configurations before they are trained.
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local evaluation = require "roper.training.evaluation"
local experiment = require "roper.workbench.study.experiment"
local models = require "roper.workbench.study.experiment.models"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

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
  local model = build(config, task, experiment.reach(config))
  local function answer(sequences)
    evaluation.answers(model, task, { sequences = sequences, batch = config.batch })
  end
  local ok, message = pcall(answer, 1)
  if not ok and diagnostics.is_transient(message) then
    error(message, 0)
  elseif not ok then -- perhaps only because a single sequence may have no answer
    answer(config.test_sequences)
  end
end

--- Returns the reason if a configuration cannot run: fields contradict each other or the task, or
--- the model cannot compute with its position schemes. Restores the random state. Texts are not
--- read.
---@param config table from `experiment.configure`
---@return string? reason nil if it can run
function M.problem(config)
  local ok, message = scoped.with_seed(1, function()
    return pcall(experiment.has_problems(config) and try_problems or try_text, config)
  end)
  if not ok and diagnostics.is_transient(message) then
    error(message, 0)
  end
  return not ok and diagnostics.without_place(tostring(message)) or nil
end

return M
