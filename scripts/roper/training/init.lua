--- The training loop: batches of a task, cross-entropy of the next token, an optimizer; with
--- metrics, evaluation and checkpoints in a folder, from which it goes on bit for bit.
local core = require "roper.core"
local is_first = require("roper.training.ranks").is_first
local modules = require "roper.model.module"
local options_of = require "roper.base.options"

local M = {}

local function seconds()
  return require("luv").hrtime() * 1e-9
end

--- The loss of a model on a batch: mean cross-entropy, in nats, of tokens 2..T given those before.
---@param model Module|function
---@param tokens tensor int32 [batch, T]
---@param positions? tensor [batch, T], as `task:positions` gives them
---@param how? table as for `cross_entropy`
---@return tensor loss a scalar, or [batch, T - 1] with `each`
function M.loss(model, tokens, positions, how)
  local last = tokens:size(2) - 1
  local given, targets = tokens:narrow(2, 1, last), tokens:narrow(2, 2, last)
  positions = positions and positions:narrow(2, 1, last)
  if type(model) == "table" and model.loss then
    return model:loss(given, targets, how, positions)
  end
  return core.cross_entropy(modules.logits(model, given, nil, positions), targets, how)
end

local function check(options)
  local o = options_of.check("train", options, {
    model = "table", task = "task", optimizer = "table",
    steps = "size", batch = { "size", 32 }, accumulate = { "size", 1 },
    run = "string?", config = "table?", settings = "table?", resume = { "boolean", false },
    log_every = { "size", 10 }, evaluate_every = "size?", evaluate = "function?",
    checkpoint_every = "size?", best = "string?", progress = "any?",
    name = { "string", "training" }, ranks = "table?",
  }, 5)
  if o.batch % o.accumulate > 0 then
    error(("train: accumulate: %d parts do not divide a batch of %d"):format(o.accumulate, o.batch),
      4)
  elseif o.ranks and o.batch < o.ranks.size then
    error(("train: batch: expected %d rows or more, one for each rank, got %d"):format(o.ranks.size,
      o.batch), 4)
  elseif o.best and not (o.run and o.evaluate) then
    error("train: best needs run, a folder to keep the model in, and evaluate, to tell it by", 4)
  elseif o.evaluate and not o.evaluate_every then
    error("train: evaluate needs evaluate_every, a number of steps", 4)
  end
  return o
end

-- What a checkpoint must agree with. `steps` is not part of it: a run may be made longer.
local function fixed(o)
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
  local parts = o.accumulate > 1 and o.accumulate or nil
  return { batch = o.batch, accumulate = parts, task = task, optimizer = optimizer,
    model = require("roper.model.checkpoint").options(o.model), parameters = o.model:count() }
end

-- What the metrics so far tell: the smallest of the numbers that tell the best model, and the
-- seconds. A number that was not finite is null.
local function remember(o, state, entries)
  for _, entry in ipairs(entries) do
    local value, past = entry[o.best], entry.seconds
    state.best = type(value) == "number" and math.min(state.best, value) or state.best
    state.seconds = type(past) == "number" and past or state.seconds
  end
end

-- Put aside the metrics of a run that was ended before its first checkpoint, since it starts again
-- from its first step; what to say of it, nil if there are none.
local function put_aside(path)
  local entries = require("roper.training.metrics").read(path)
  if #entries == 0 then
    return nil
  end
  assert(os.rename(path, path .. ".old"))
  return ("there is no checkpoint of the %d steps before: training starts again; their metrics are "
    .. "kept in metrics.jsonl.old"):format(entries[#entries].step)
end

-- Make the folder of a run, or continue it: load its checkpoint, open its metrics, write what the
-- run is. Without a checkpoint it starts from its first step. A folder whose checkpoint is refused
-- stays as it was.
local function enter(session)
  local o, state = session.options, session.state
  local files, provenance = require "roper.base.file", require "roper.training.provenance"
  if is_first(o.ranks) then
    files.make(o.run)
    files.clean(o.run)
  end
  local checkpoint = o.run .. "/checkpoint.safetensors"
  local has_checkpoint = files.stat(checkpoint) ~= nil
  if has_checkpoint then
    if not o.resume then
      error(("train: %s has a checkpoint; resume it (resume = true) or choose another folder")
        :format(o.run), 4)
    end
    require("roper.model.checkpoint").load_training(checkpoint, state)
  end
  if not is_first(o.ranks) then
    return
  end
  local config = require("roper.base.tables").merged({ steps = o.steps }, state.config,
    o.settings)
  local path = o.run .. "/config.json"
  local before = provenance.of(files.decode(path))
  -- Losses that no entry tells of yet: one of this step was cut off, and is made again.
  local told = state.count > 0 and state.step - 1 or state.step
  table.insert(session.notes, not has_checkpoint and put_aside(o.run .. "/metrics.jsonl") or nil)
  local metrics, entries = require("roper.training.metrics").open(o.run .. "/metrics.jsonl", told)
  remember(o, state, entries)
  local worked, note = provenance.continue(before, state.step, o.ranks and o.ranks.size)
  files.write(path, core.json_encode({ config = config, provenance = worked }, { indent = 2 })
    .. "\n")
  session.checkpoint, session.metrics = checkpoint, metrics
  table.insert(session.notes, note)
end

-- Keep the model beside the checkpoint where no entry of the metrics was better before.
local function keep_best(o, state, entry)
  local value = entry[o.best]
  if value and value < state.best then
    state.best = value
    require("roper.model.checkpoint").save_model(o.run .. "/best.safetensors", o.model)
  end
end

---@class TrainOptions
---@field model Module maps tokens to logits (`roper.nn.class`)
---@field task task
---@field optimizer Adam|SGD
---@field steps integer to train up to
---@field batch? integer = 32; rows each
---@field accumulate? integer = 1; parts that a batch goes through the model in, one by one, in less
---   memory: their gradients add up (gradient accumulation)
---@field run? string a folder for config.json, metrics.jsonl and checkpoint.safetensors,
---   made if missing
---@field config? table what the run is, as JSON can hold it: by default the options of model,
---   task and optimizer; a checkpoint of another is refused
---@field settings? table what else config.json records: settings that change no result, so that a
---   checkpoint with others is resumed
---@field resume? boolean = false; continue from the checkpoint in the folder, bit for bit on the
---   same threads, kernels and BLAS; if they are others, it says so. Without a checkpoint training
---   starts from its first step, and metrics of steps before are kept as metrics.jsonl.old
---@field log_every? integer = 10; steps between entries of the metrics
---@field evaluate? fun(model: Module, step: integer): table numbers for the metrics
---@field evaluate_every? integer steps between them
---@field checkpoint_every? integer steps; by default at the end only
---@field best? string a number that `evaluate` finds; the model with the smallest so far is
---   kept as best.safetensors in the folder
---@field progress? table|false with update(step, loss, speed), finish() and, where it takes news,
---   note(text); by default a line on the terminal
---@field name? string = "training"; for that line
---@field ranks? Ranks from `roper.ranks`: the processes that share each batch, all of which call
---   this with the same options; the first of them measures, writes and tells

-- The states of the generators that a step and an evaluation draw from.
local function generators(task)
  return { task = { task:random() }, core = { core.random_state() } }
end

-- Write a checkpoint, once the metrics that it counts as told are on the disk.
local function save(session)
  session.metrics.sync()
  require("roper.model.checkpoint").save_training(session.checkpoint, session.state)
end

-- Keep what was done before Ctrl-C, as if what it ended had not begun.
local function keep(session)
  local state = session.state
  state.task:set_random(table.unpack(state.generators.task))
  core.random_state(table.unpack(state.generators.core))
  save(session)
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
  local session = M.open(options)
  return M.run(session)
end

--- Begin a training: check its options, and in its folder load the checkpoint to go on from. Where
--- that is refused, the folder is as it was.
---@param options TrainOptions
---@return table session for `run`
function M.open(options)
  local o = check(options)
  local state = { model = o.model, optimizer = o.optimizer, task = o.task, config = fixed(o),
    steps = o.steps, step = 0, sum = 0, count = 0, best = math.huge, seconds = 0 }
  local session = { options = o, state = state, notes = { o.ranks and o.ranks.note or nil } }
  if not is_first(o.ranks) then
    o.evaluate, o.best, o.progress = nil, nil, false
  end
  if o.run then
    enter(session)
  end
  return session
end

-- Is there an entry of the metrics for this step?
local function is_told(o, step)
  return step == o.steps or step % o.log_every == 0
    or o.evaluate ~= nil and step % o.evaluate_every == 0
end

-- What `evaluate` finds where it is due.
local function evaluate(o, step, entry)
  if not o.evaluate or step ~= o.steps and step % o.evaluate_every ~= 0 then
    return
  end
  local found = o.evaluate(o.model, step)
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

-- Make the entry of the metrics for the step that was done. Ctrl-C leaves it whole or undone.
local function tell(session, history, elapsed)
  local o, state = session.options, session.state
  local entry = { step = state.step, loss = state.sum / state.count }
  evaluate(o, state.step, entry)
  core.interrupt_defer(function()
    entry.seconds = elapsed()
    history[#history + 1] = entry
    if session.metrics then
      session.metrics.write(entry)
    end
    if o.best then
      keep_best(o, state, entry)
    end
    state.sum, state.count = 0, 0
    state.generators = generators(o.task)
  end)
end

-- The loss of a batch, part by part, and over all ranks; leaves its gradients.
local function gradients(o, step, parameters)
  local tokens, sum, ranks = o.task:batch(o.batch), 0, o.ranks
  local rows, first, last = o.batch // o.accumulate, 1, o.batch
  for _, parameter in ipairs(parameters) do
    parameter.grad = nil
  end
  if ranks then
    first, last = ranks:rows(o.batch)
    ranks:seed(step)
  end
  for row = first, last, rows do
    local count = math.min(rows, last - row + 1)
    local these = tokens:narrow(1, row, count)
    local loss = M.loss(o.model, these, o.task:positions(these))
    local share = core.full(loss:shape(), count / o.batch, loss:dtype())
    sum = sum + loss:item() * count
    if ranks and row + count > last then
      ranks:backward(loss, share, parameters)
    else
      loss:backward(share)
    end
  end
  local value = (ranks and core.ranks_combine("sum", sum) or sum) / o.batch
  if value ~= value or value == math.huge then
    error(("train: the loss is %s at step %d; a smaller rate or clipping may help"):format(value,
      step), 0)
  end
  return value
end

-- Do a step; returns its loss.
local function advance(o, state, parameters)
  local value = gradients(o, state.step + 1, parameters)
  local is_counted = false
  local function count()
    if not is_counted then
      is_counted = true
      state.step = state.step + 1
      state.sum, state.count = state.sum + value, state.count + 1
      state.generators = generators(o.task)
    end
  end
  o.optimizer:step(parameters, count)
  count() -- for an optimizer that is not of ours
  return value
end

-- The loop of `run`.
local function loop(session, progress)
  local o, state = session.options, session.state
  state.generators = generators(o.task)
  local parameters, history = o.model:parameters(), {}
  local start, started = state.step, seconds()
  local function elapsed()
    return state.seconds + seconds() - started
  end
  o.model:training(true)
  if o.ranks then
    o.ranks:check(parameters, start)
  end
  local is_cut = state.count > 0 and is_told(o, state.step) -- before its entry was made
  while is_cut or state.step < o.steps do
    local value = not is_cut and advance(o, state, parameters)
    is_cut = false
    if is_told(o, state.step) then
      tell(session, history, elapsed)
    end
    if progress and value then
      progress:update(state.step, value, (state.step - start) / (seconds() - started))
    end
    local due = o.checkpoint_every and state.step % o.checkpoint_every == 0
      or state.step == o.steps
    if due and o.ranks then
      o.ranks:check(parameters, state.step)
    end
    if due and session.checkpoint then
      save(session)
    end
  end
  if o.ranks then
    o.ranks:draw_alike()
  end
  return { step = state.step, loss = history[#history] and history[#history].loss,
    history = history }
end

--- Train to the end what `open` began.
---@param session table
---@return Trained done
function M.run(session)
  local o = session.options
  local progress = o.progress
  if progress == nil then
    progress = require("roper.training.progress").new { name = o.name, steps = o.steps,
      floor = o.task:has_problems() and o.task:floor() or nil,
      tokens = o.batch * (o.task:length() - 1) }
  end
  for _, note in ipairs(progress and progress.note and session.notes or {}) do
    progress:note(note)
  end
  local ok, result = pcall(loop, session, progress)
  if progress then
    progress:finish()
  end
  if not ok and session.checkpoint and session.state.generators
    and require("roper.base.diagnostics").is_interrupt(result) then
    local kept, problem = pcall(core.interrupt_defer, keep, session)
    result = kept and result or problem
    if kept and progress and o.progress == nil then
      progress:note(("%s is kept at step %d; with resume = true the same goes on"):format(
        require("roper.base.escape").line(o.run), session.state.step))
    end
  end
  if session.metrics then
    session.metrics.close()
  end
  if not ok then
    error(result, 0)
  end
  return result
end

return M
