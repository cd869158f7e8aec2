--- The training loop: batches of a task, cross-entropy of the next token, an optimizer; with
--- metrics, evaluation and checkpoints in a folder, from which it goes on bit for bit.
local core = require "roper.core"
local options_of = require "roper.options"

local M = {}

local function seconds()
  return require("luv").hrtime() * 1e-9
end

--- The loss of a model on a batch: mean cross-entropy, in nats, of tokens 2..T given those before.
---@param model Transformer
---@param tokens tensor int32 [batch, T]
---@return tensor scalar
function M.loss(model, tokens)
  local last = tokens:size(2) - 1
  return core.cross_entropy(model(tokens:narrow(2, 1, last)), tokens:narrow(2, 2, last))
end

local function check(options)
  local o = options_of.check("train", options, {
    model = "table", task = "task", optimizer = "table",
    steps = "size", batch = { "size", 32 },
    run = "string?", config = "table?", resume = { "boolean", false },
    log_every = { "size", 10 }, evaluate_every = "size?", evaluate = "function?",
    checkpoint_every = "size?", best = "string?", progress = "any?",
    name = { "string", "training" },
  }, 4)
  if o.best and not (o.run and o.evaluate) then
    error("train: best needs run, a folder to keep the model in, and evaluate, to tell it by", 3)
  elseif o.evaluate and not o.evaluate_every then
    error("train: evaluate needs evaluate_every, a number of steps", 3)
  end
  return o
end

-- What a checkpoint must agree with. `steps` is not part of it: a run may be made longer.
local function identity(o)
  if o.config then
    return o.config
  end
  local task, optimizer = o.task:options(), { name = o.optimizer.name }
  task.name = o.task:name()
  for name, value in pairs(o.optimizer.options or {}) do
    if type(value) ~= "function" then
      optimizer[name] = value
    end
  end
  return { batch = o.batch, task = task, optimizer = optimizer,
    model = require("roper.checkpoint").options(o.model), parameters = o.model:count() }
end

-- Make the folder of a run, or go on with it: load its checkpoint, write what the run is, open its
-- metrics. A folder whose checkpoint is refused stays as it was.
local function open(o, state)
  local folders = require "roper.folder"
  folders.make(o.run)
  folders.clean(o.run)
  local checkpoint = o.run .. "/checkpoint.safetensors"
  if folders.stat(checkpoint) then
    if not o.resume then
      error(("train: %s has a checkpoint; resume it (resume = true) or choose another folder")
        :format(o.run), 3)
    end
    require("roper.checkpoint").load_training(checkpoint, state)
  end
  local config = { steps = o.steps }
  for name, value in pairs(state.config) do
    config[name] = value
  end
  local path, stints = o.run .. "/config.json", require "roper.stints"
  local worked = stints.continue(stints.of(folders.decode(path)), state.step)
  folders.write(path, core.json_encode({ config = config, stints = worked }, { indent = 2 })
    .. "\n")
  local metrics = require "roper.metrics"
  path = o.run .. "/metrics.jsonl"
  local writer = metrics.open(path, state.step)
  for _, entry in ipairs(metrics.read(path)) do
    state.best = o.best and math.min(state.best, entry[o.best] or math.huge) or state.best
    state.seconds = entry.seconds or state.seconds
  end
  return checkpoint, writer
end

-- Keep the model beside the checkpoint where no entry of the metrics was better before.
local function keep_best(o, state, entry)
  local value = entry[o.best]
  if value and value < state.best then
    state.best = value
    require("roper.checkpoint").save_model(o.run .. "/best.safetensors", o.model)
  end
end

---@class TrainOptions
---@field model Transformer
---@field task task
---@field optimizer Adam|SGD
---@field steps integer to train up to
---@field batch? integer = 32; rows each
---@field run? string a folder for config.json, metrics.jsonl and checkpoint.safetensors,
---   made if missing
---@field config? table what the run is, as JSON can hold it: by default the options of model,
---   task and optimizer; a checkpoint of another is refused
---@field resume? boolean = false; go on from the checkpoint in the folder, bit for bit
---@field log_every? integer = 10; steps between entries of the metrics
---@field evaluate? fun(model: Transformer, step: integer): table numbers for the metrics
---@field evaluate_every? integer steps between them
---@field checkpoint_every? integer steps; by default at the end only
---@field best? string a number that `evaluate` finds; the model with the smallest so far is
---   kept as best.safetensors in the folder
---@field progress? table|false with update(step, loss, speed) and finish(); by default a line
---   on the terminal
---@field name? string = "training"; for that line

-- The states of the generators that a step draws from.
local function generators(task)
  return { task = { task:random() }, core = { core.random_state() } }
end

-- Keep what was done before a step that Ctrl-C ended, as if that step had not begun.
local function keep(checkpoint, state)
  state.task:set_random(table.unpack(state.generators.task))
  core.random_state(table.unpack(state.generators.core))
  require("roper.checkpoint").save_training(checkpoint, state)
end

---@class Trained
---@field step integer where it ended
---@field history table[] of this call: step, loss (mean since the entry before), seconds (of the
---   whole run), ...
---@field loss? number the last of these; nil where nothing was left to do

--- Train a model on a task: batches, cross-entropy of the next token, an optimizer. Ctrl-C ends it
--- between two kernels: model and optimizer are as after the last whole step, and a run's folder
--- gets a checkpoint of that, to be resumed.
---
--- Errors: a loss or a gradient that is not finite, a folder with a checkpoint unless it is
--- resumed, a checkpoint of another configuration.
---
---     > task = roper.tasks.addition{max_digits = 2, length = 40, seed = 1}
---     > words = task:vocabulary()
---     > model = roper.nn.Transformer{vocabulary = words, d_model = 16, heads = 2}
---     > done = roper.train{model = model, task = task, steps = 20, batch = 4,
---     >>   optimizer = roper.optim.Adam{rate = 1e-2}, progress = false}
---     > done.step, done.loss < 3
---     20	true
---@param options TrainOptions
---@return Trained done
function M.train(options)
  local o = check(options)
  local state = { model = o.model, optimizer = o.optimizer, task = o.task, config = identity(o),
    steps = o.steps, step = 0, sum = 0, count = 0, best = math.huge, seconds = 0 }
  local checkpoint, metrics
  if o.run then
    checkpoint, metrics = open(o, state)
  end
  local progress = o.progress
  if progress == nil then
    progress = require("roper.progress").new { name = o.name, steps = o.steps,
      floor = o.task:floor(), tokens = o.batch * (o.task:length() - 1) }
  end
  local ok, result = pcall(M.run, o, state, checkpoint, metrics, progress)
  if metrics then
    metrics.close()
  end
  if progress then
    progress:finish()
  end
  if not ok and checkpoint and state.generators
    and require("roper.failure").is_interrupt(result) then
    keep(checkpoint, state)
  end
  if not ok then
    error(result, 0)
  end
  return result
end

-- An entry of the metrics for the step that was done, with what `evaluate` finds where it is due.
local function measure(o, state, is_last)
  local entry = { step = state.step, loss = state.sum / state.count }
  state.sum, state.count = 0, 0
  if o.evaluate and (is_last or state.step % o.evaluate_every == 0) then
    local found = o.evaluate(o.model, state.step)
    if type(found) ~= "table" then
      error("train: evaluate: expected a function that returns a table, got " .. type(found), 0)
    end
    for name, number in pairs(found) do
      if entry[name] then
        error(("train: evaluate: expected names other than step and loss, got %s"):format(name), 0)
      end
      entry[name] = number
    end
    o.model:training(true)
  end
  return entry
end

--- The loop of `train`.
function M.run(o, state, checkpoint, metrics, progress)
  local model = o.model
  local parameters = model:parameters()
  local history = {}
  local start, started = state.step, seconds()
  model:training(true)
  while state.step < o.steps do
    state.generators = generators(o.task)
    local loss = M.loss(model, o.task:batch(o.batch))
    local value = loss:item()
    if value ~= value or value == math.huge then
      error(("train: the loss is %s at step %d; a smaller rate or clipping may help"):format(value,
        state.step + 1), 0)
    end
    for _, parameter in ipairs(parameters) do
      parameter.grad = nil
    end
    loss:backward()
    core.interrupt_defer(function()
      o.optimizer:step(parameters)
      state.step = state.step + 1
      state.sum, state.count = state.sum + value, state.count + 1
      state.generators = nil
    end)
    local is_last = state.step == o.steps
    if is_last or state.step % o.log_every == 0
      or (o.evaluate and state.step % o.evaluate_every == 0) then
      local entry = measure(o, state, is_last)
      entry.seconds = state.seconds + seconds() - started
      history[#history + 1] = entry
      if metrics then
        metrics.write(entry)
      end
      if o.best then
        keep_best(o, state, entry)
      end
    end
    if progress then
      progress:update(state.step, value, (state.step - start) / (seconds() - started))
    end
    local due = o.checkpoint_every and state.step % o.checkpoint_every == 0
    if checkpoint and (due or is_last) then
      require("roper.checkpoint").save_training(checkpoint, state)
    end
  end
  return { step = state.step, loss = history[#history] and history[#history].loss,
    history = history }
end

return M
