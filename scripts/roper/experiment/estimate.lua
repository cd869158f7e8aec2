--- What a run will cost: parameters, memory and time, from a step on a part of the batch.
local core = require "roper.core"
local experiment = require "roper.experiment"

local M = {}

-- Bytes of a parameter in training: itself, its gradient, the two moments of Adam.
local BYTES <const> = 16

local function seconds()
  return require("luv").hrtime() * 1e-9
end

--- Estimate what training a configuration takes on this machine, by training a few steps on an
--- eighth of the batch. Nothing is written, and the random generator is left as it was.
---@param config table from `experiment.configure`
---@return table parameters; bytes, of tensors at most; seconds a step; evaluation, seconds each;
---   total, seconds
function M.run(config)
  local seed, counter = core.random_state()
  collectgarbage()
  local before = core.memory().live
  local parts = experiment.build(config)
  local model, batch = parts.model, math.max(1, config.batch // 8)
  local rows = config.batch / batch
  local parameters = model:parameters()
  local train = require "roper.train"
  local most, best = 0, math.huge
  for _ = 1, 3 do
    collectgarbage()
    local started = seconds()
    local loss = train.loss(model, parts.task:batch(batch))
    most = math.max(most, core.memory().live - before)
    model:zero_gradients()
    loss:backward()
    parts.optimizer:step(parameters)
    best = math.min(best, seconds() - started)
  end
  local started = seconds()
  require("roper.evaluation").answers(model, parts.task, { sequences = batch })
  local evaluation = (seconds() - started) * require("roper.run").SEQUENCES / batch
  core.random_state(seed, counter)
  local count = model:count()
  local step = best * rows
  return { parameters = count, seconds = step, evaluation = evaluation,
    bytes = math.floor(count * BYTES + math.max(0, most - count * BYTES) * rows),
    total = step * config.steps + evaluation * (config.steps // config.evaluate_every) }
end

return M
