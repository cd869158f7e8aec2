--- What a run on problems is measured by: those it solves, accuracy on answers and loss, in several
--- lengths.
local core = require "roper.core"
local evaluation = require "roper.training.evaluation"
local experiment = require "roper.workbench.study.experiment"

local M = {}

--- Questions and test sequences come from seeds from this one on, far from those of training. The
--- sequences are the same for all runs.
M.SEED = 1000003

--- What is looked at while a model is trained.
---@param model Transformer
---@param task task
---@param config table
---@param sequences integer
---@param beat function called now and then
---@return table found accuracy on answers; test_loss
function M.look(model, task, config, sequences, beat)
  local found = evaluation.answers(model, task, { seed = M.SEED, sequences = sequences,
    batch = config.batch, beat = beat })
  return { accuracy = found.accuracy, test_loss = found.loss }
end

--- What a trained model can do with problems.
---@param config table
---@param parts table model, task, as from `experiment.build`
---@param beat function called now and then
---@return table found solved and solved_greedy (of problems); accuracy, loss, loss_answers,
---   loss_questions and their floors, as `evaluation.answers` finds on the test sequences:
---   test_floor, ...; floor and floor_error of the task; by_distance; longer
---@return table samples of problems: sampled, greedy
function M.measure(config, parts, beat)
  local model, task = parts.model, parts.task
  local seed = M.SEED + config.seed
  local solved, sampled = evaluation.solve(model, task, { problems = config.problems, seed = seed })
  beat()
  local solved_greedy, greedy = evaluation.solve(model, task, { problems = config.problems,
    seed = seed, temperature = 0 })
  beat()
  local found = evaluation.answers(model, task, { seed = M.SEED,
    sequences = config.test_sequences, batch = config.batch, beat = beat })
  local floor, floor_error = task:floor()
  local changes, times = experiment.longer(config)
  local longer = evaluation.longer(model, task, changes, { problems = config.problems,
    sequences = math.min(64, config.test_sequences), batch = config.batch, seed = seed,
    beat = beat })
  for i, entry in ipairs(longer) do
    entry.times = times[i]
  end
  return { solved = solved, solved_greedy = solved_greedy, problems = config.problems,
    accuracy = found.accuracy, loss = found.loss, loss_answers = found.loss_answers,
    loss_questions = found.loss_questions, test_floor = found.floor,
    test_floor_answers = found.floor_answers, test_floor_questions = found.floor_questions,
    floor = floor, floor_error = floor_error,
    by_distance = core.json_array(found.by_distance),
    longer = core.json_array(longer),
  }, { sampled = core.json_array(sampled), greedy = core.json_array(greedy) }
end

--- What was found, on a line.
---@param found table
---@return string
function M.told(found)
  return ("%d of %d solved (%d greedy), accuracy on answers %.3f, loss %.4f (floor %.4f)"):format(
    found.solved, found.problems, found.solved_greedy, found.accuracy, found.loss,
    found.test_floor)
end

return M
