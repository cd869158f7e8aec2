--- Measurements of a model on problems: problems solved, accuracy on answers and loss, at several
--- lengths.
local core = require "roper.core"
local evaluation = require "roper.training.evaluation"
local experiment = require "roper.workbench.study.experiment"

local M = {}

--- Seed of the test sequences, which are the same for all runs, and, added to a run's seed, of its
--- questions. It is far from the seeds of training.
M.SEED = 1000003

--- Measures a model during training.
---@param model Transformer
---@param task task
---@param config table
---@param sequences integer
---@param beat function called from time to time
---@return table found accuracy on answers; test_loss
function M.evaluate(model, task, config, sequences, beat)
  local found = evaluation.answers(model, task, { seed = M.SEED, sequences = sequences,
    batch = config.batch, heartbeat = beat })
  return { accuracy = found.accuracy, test_loss = found.loss }
end

--- Measures a trained model.
---@param config table
---@param parts table model, task, as from `experiment.build`; trained: the task of the training, if
---   it is another one
---@param beat function called from time to time
---@return table found solved and solved_greedy, of `problems` problems; accuracy, accuracy_beyond,
---   loss, loss_answers, loss_questions and their floors test_floor, test_floor_answers and
---   test_floor_questions, as `evaluation.answers` measures them on the test sequences; floor and
---   floor_error of the task, and chance, the accuracy of the best guess, if they are known;
---   by_distance; longer
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
    sequences = config.test_sequences, batch = config.batch, beyond = parts.trained,
    heartbeat = beat })
  local floor, floor_error = task:floor()
  local changes, times = experiment.longer(config)
  local longer = evaluation.longer(model, task, changes, { problems = config.problems,
    sequences = math.min(64, config.test_sequences), batch = config.batch, seed = seed,
    beyond = parts.trained, heartbeat = beat })
  for i, entry in ipairs(longer) do
    entry.times = times[i]
  end
  return { solved = solved, solved_greedy = solved_greedy, problems = config.problems,
    accuracy = found.accuracy, accuracy_beyond = found.accuracy_beyond, loss = found.loss,
    loss_answers = found.loss_answers,
    loss_questions = found.loss_questions, test_floor = found.floor,
    test_floor_answers = found.floor_answers, test_floor_questions = found.floor_questions,
    floor = floor, floor_error = floor_error, chance = (task:chance()),
    by_distance = core.json_array(found.by_distance),
    longer = core.json_array(longer),
  }, { sampled = core.json_array(sampled), greedy = core.json_array(greedy) }
end

return M
