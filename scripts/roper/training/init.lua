--- The training loop: minimizes the cross-entropy of the next token on batches of a task. Writes
--- metrics and checkpoints to a folder, from which training resumes with bit-identical results.
local core = require "roper.core"
local is_first = require("roper.training.ranks").is_first
local modules = require "roper.model.module"
local options_of = require "roper.base.options"

local M = {}

local function seconds()
  return require("luv").hrtime() * 1e-9
end

--- Returns the loss of a model on a batch: the mean cross-entropy, in nats, of tokens 2 to T given
--- the tokens before them.
---@param model Module|function
---@param tokens tensor int32 [batch, T]
---@param positions? tensor [batch, T], from `task:positions`
---@param how? table options of `cross_entropy`
---@return tensor loss a scalar, or [batch, T - 1] with reduction = "none"
function M.loss(model, tokens, positions, how)
  local last = tokens:size(2) - 1
  local given, targets = tokens:narrow(2, 1, last), tokens:narrow(2, 2, last)
  positions = positions and positions:narrow(2, 1, last)
  if type(model) == "table" and model.loss then
    return model:loss(given, targets, how, positions)
  end
  return core.cross_entropy(modules.logits(model, given, nil, positions), targets, how)
end

local OPTIONS <const> = options_of.define("TrainOptions", {
  { "model", "table", nil, "maps tokens to logits (`roper.nn.class`)", type = "Module" },
  { "task", "task" },
  { "optimizer", "table", type = "Adam|SGD" },
  { "steps", "size", nil, "the step at which training ends" },
  { "batch", "size", 32, "rows per step" },
  { "accumulate", "size", 1,
    "parts of a batch. They go through the model one by one, which needs less memory, and their "
      .. "gradients are summed (gradient accumulation)" },
  { "run", "string?", nil,
    "folder for config.json, metrics.jsonl and checkpoint.safetensors, created if missing" },
  { "config", "table?", nil,
    "configuration of the run, in a form that JSON can represent; by default the options of "
      .. "model, task and optimizer. A checkpoint with another configuration is refused" },
  { "settings", "table?", nil,
    "further contents of config.json: settings that do not change results and need not match a "
      .. "checkpoint" },
  { "resume", "boolean", false,
    "continue from the checkpoint in the folder. The result is bit-identical with the same "
      .. "threads, kernels and BLAS; if they differ, a note is printed. Without a checkpoint, "
      .. "training starts from step 0, and existing metrics are renamed to metrics.jsonl.old" },
  { "log_every", "size", 10, "steps between entries of the metrics" },
  { "evaluate", "function?", nil,
    "returns numbers for the metrics", type = "fun(model: Module, step: integer): table" },
  { "evaluate_every", "size?", nil, "steps between evaluations" },
  { "checkpoint_every", "size?", nil, "steps between checkpoints; by default only at the end" },
  { "best", "string?", nil,
    "name of a number from `evaluate`; the model with the smallest value so far is saved as "
      .. "best.safetensors in the folder" },
  { "progress", "any?", nil,
    "an object with update(step, loss, speed), finish() and, optionally, note(text); by default "
      .. "a line on the terminal", type = "table|false" },
  { "name", "string", "training", "label of the progress line" },
  { "ranks", "table?", nil,
    "from `roper.ranks`: the processes that share each batch. All of them call `train` with the "
      .. "same options; only the first evaluates, writes files and prints", type = "Ranks" },
})

local function check(options)
  local o = options_of.check("train", options, OPTIONS, 5)
  if o.batch % o.accumulate > 0 then
    error(("train: accumulate: expected a divisor of the batch size %d, got %d"):format(o.batch,
      o.accumulate), 4)
  elseif o.ranks and o.batch < o.ranks.size then
    error(("train: batch: expected at least %d rows, one for each rank, got %d"):format(
      o.ranks.size, o.batch), 4)
  elseif o.best and not (o.run and o.evaluate) then
    error("train: best needs run, a folder for the best model, and evaluate, which measures it", 4)
  elseif o.evaluate and not o.evaluate_every then
    error("train: evaluate needs evaluate_every, a number of steps", 4)
  end
  return o
end

-- Returns the configuration that a checkpoint must match. `steps` is not part of it, so a run can
-- be extended.
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
  local changed = o.model.options and require("roper.model.settings").changed(o.model) or {}
  return { batch = o.batch, accumulate = parts, task = task, optimizer = optimizer,
    model = require("roper.model.checkpoint").options(o.model), parameters = o.model:count(),
    settings = #changed > 0 and changed or nil }
end

-- Restores the best value and the seconds so far from the metrics, which contain null for numbers
-- that were not finite.
local function remember(o, state, entries)
  for _, entry in ipairs(entries) do
    local value, past = entry[o.best], entry.seconds
    state.best = type(value) == "number" and math.min(state.best, value) or state.best
    state.seconds = type(past) == "number" and past or state.seconds
  end
end

-- Renames the metrics of a run that was interrupted before its first checkpoint and now starts from
-- step 0. Returns a note about it, or nil if there are no metrics.
local function put_aside(path)
  local entries = require("roper.training.metrics").read(path)
  if #entries == 0 then
    return nil
  end
  assert(os.rename(path, path .. ".old"))
  return ("the previous %d steps have no checkpoint: training starts from step 0; their metrics "
    .. "are kept in metrics.jsonl.old"):format(entries[#entries].step)
end

-- Creates the folder of a run or resumes from it: loads the checkpoint, opens the metrics, writes
-- config.json. Without a checkpoint, training starts from step 0. If the checkpoint is refused, the
-- folder does not change.
local function enter(session)
  local o, state = session.options, session.state
  local files, provenance = require "roper.base.file", require "roper.training.provenance"
  require("roper.model.hooks").refuse(o.model, "train")
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
  -- With pending losses, the entry of this step is incomplete; it is written again.
  local logged = state.count > 0 and state.step - 1 or state.step
  table.insert(session.notes, not has_checkpoint and put_aside(o.run .. "/metrics.jsonl") or nil)
  local metrics, entries = require("roper.training.metrics").open(o.run .. "/metrics.jsonl", logged)
  remember(o, state, entries)
  local records, note = provenance.continue(before, state.step, o.ranks and o.ranks.size)
  files.write(path, core.json_encode({ config = config, provenance = records }, { indent = 2 })
    .. "\n")
  session.checkpoint, session.metrics = checkpoint, metrics
  table.insert(session.notes, note)
end

-- Returns the states of the random generators used by a step and an evaluation.
local function generators(task)
  return { task = { task:random() }, core = { core.random_state() } }
end

-- Writes a checkpoint after flushing the metrics that it counts as written to disk.
local function save(session)
  session.metrics.sync()
  require("roper.model.checkpoint").save_training(session.checkpoint, session.state)
end

-- Saves a checkpoint after Ctrl-C, with the generators as they were before the interrupted step or
-- evaluation.
local function keep(session)
  local state = session.state
  state.task:set_random(table.unpack(state.generators.task))
  core.random_state(table.unpack(state.generators.core))
  save(session)
end

---@class Trained
---@field step integer the last step
---@field history table[] metrics of this call: step, loss (mean since the previous entry), seconds
---   (of the whole run), ...
---@field loss? number of the last entry; nil if the run was already finished

--- Trains a model on a task, minimizing the cross-entropy of the next token. Ctrl-C stops training
--- between two kernels; model and optimizer are then as after the last complete step. If the run
--- has a folder, a checkpoint of this step is saved, from which the run can be resumed.
---
--- Errors: the loss or a gradient is not finite; the folder has a checkpoint and `resume` is not
--- set; the checkpoint has another configuration.
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
  return M.run(M.open(options))
end

--- Prepares a training run: checks its options and loads the checkpoint in its folder. If an error
--- is raised, the folder does not change.
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

local function is_logged(o, step)
  return step == o.steps or step % o.log_every == 0
    or o.evaluate ~= nil and step % o.evaluate_every == 0
end

-- Adds the numbers from `evaluate` to an entry if an evaluation is due.
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
      error(("train: evaluate: expected names other than step and loss, got %s; rename it"):format(
        name), 0)
    end
    entry[name] = number
  end
  o.model:training(true)
end

-- Writes the metrics of the current step. Ctrl-C never leaves an incomplete entry.
local function log(session, history, elapsed)
  local o, state = session.options, session.state
  local entry = { step = state.step, loss = state.sum / state.count }
  evaluate(o, state.step, entry)
  core.interrupt_defer(function()
    entry.seconds = elapsed()
    history[#history + 1] = entry
    if session.metrics then
      session.metrics.write(entry)
    end
    local value = o.best and entry[o.best]
    if value and value < state.best then
      state.best = value
      require("roper.model.checkpoint").save_model(o.run .. "/best.safetensors", o.model)
    end
    state.sum, state.count = 0, 0
    state.generators = generators(o.task)
  end)
end

-- Computes the loss of a batch, over all its parts and ranks, and the gradients of the parameters.
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
    error(("train: the loss is %s at step %d; try a smaller rate or gradient clipping"):format(
      value, step), 0)
  end
  return value
end

-- Takes one step; returns its loss.
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
  count() -- for an optimizer that does not call it
  return value
end

-- Runs the remaining steps.
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
  -- The run was interrupted after a step, before its metrics were written.
  local is_cut = state.count > 0 and is_logged(o, state.step)
  while is_cut or state.step < o.steps do
    local value = not is_cut and advance(o, state, parameters)
    is_cut = false
    if is_logged(o, state.step) then
      log(session, history, elapsed)
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

--- Trains a run from `open` to its last step.
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
      progress:note(("%s is saved at step %d; set resume = true to continue"):format(
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
