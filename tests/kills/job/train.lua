-- Trains a small model in the folder RUN, alone or as ranks: ./roper job/train.lua RUN

local roper = require "roper"
local checkpoint = require "roper.model.checkpoint"
local save = checkpoint.save_training
checkpoint.save_training = function(path, state)
  save(path, state)
  io.stdout:write(("saved %d\n"):format(state.step))
  io.stdout:flush()
end

local ranks = roper.ranks()
roper.seed(1)
local task = roper.tasks.copy{letters = 3, length = 15, seed = 1}
local model = roper.nn.Transformer{vocabulary = task:vocabulary(), d_model = 8, heads = 2,
  layers = 1, dropout = 0.1, position = "roper"}
roper.train{model = model, task = task, optimizer = roper.optim.Adam(), steps = 12, batch = 2,
  run = arg[1], resume = true, ranks = ranks, log_every = 1, checkpoint_every = 3,
  evaluate_every = 4, best = "test_loss", snapshots = {0, 5}, progress = false,
  evaluate = function(it)
    return {test_loss = roper.evaluate.answers(it, roper.evaluate.fresh(task, 2)).loss}
  end}
