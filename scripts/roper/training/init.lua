--- The training loop: minimizes the cross-entropy of the next token on batches of a task. Writes
--- metrics and checkpoints to a folder, from which training resumes with bit-identical results.
local clock = require "roper.system.clock"
local core = require "roper.core"
local folders = require "roper.training.folder"
local is_first = require("roper.training.ranks").is_first
local meter = require "roper.training.meter"
local modules = require "roper.model.module"
local options_of = require "roper.training.options"
local snapshots = require "roper.training.snapshots"

local M = {}

-- The target of a token that does not count.
local IGNORED <const> = -1

local function seconds()
  return clock.seconds()
end

--- Returns the loss of a model on a batch: the mean cross-entropy, in nats, of tokens 2 to T given
--- the tokens before them.
---@param model Module|function
---@param tokens tensor int32 [batch, T]
---@param positions? tensor [batch, T], from `task:positions`
---@param how? table options of `cross_entropy`
---@param targets? tensor int32 [batch, T], from `task:targets`; by default the tokens
---@return tensor loss a scalar, or [batch, T - 1] with reduction = "none"
function M.loss(model, tokens, positions, how, targets)
  local last = tokens:size(2) - 1
  local given = tokens:narrow(2, 1, last)
  targets = (targets or tokens):narrow(2, 2, last)
  positions = positions and positions:narrow(2, 1, last)
  if type(model) == "table" and model.loss then
    return model:loss(given:clone(), targets, how, positions and positions:clone())
  end
  return core.cross_entropy(modules.logits(model, given, nil, positions), targets, how)
end

---@class Trained
---@field step integer the last step
---@field history table[] metrics of this call: step, loss (mean since the previous entry), seconds
---   (of the whole run), ...
---@field loss? number of the last entry; nil if the run was already finished
---@field stopped? boolean true if `patience` ended training before the last step
---@field diverged? table with `on_divergence` = "stop": step, the one that diverged, which was not
---   taken; reason, such as "the loss is nan"; loss

--- Trains a model on a task, minimizing the cross-entropy of the next token. Ctrl-C stops training
--- between two kernels; model and optimizer are then as after the last complete step. If the run
--- has a folder, a checkpoint of this step is saved, from which the run can be resumed; also after
--- an error in drawing or computing a batch, such as one that a function of the task raises.
---
--- Errors: the loss diverged (see `on_divergence`); the folder has a checkpoint and `resume` is not
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
  local o = options_of.check(options)
  local state = { model = o.model, optimizer = o.optimizer, task = o.task,
    config = options_of.fixed(o), steps = o.steps, step = 0, sum = 0, count = 0, best = math.huge,
    seconds = 0 }
  local session = { options = o, state = state, notes = { o.ranks and o.ranks.note or nil },
    stopping = o.patience and is_first(o.ranks)
      and require("roper.training.stopping").new(o), is_stopped = false,
    meter = meter.new(o.optimizer) }
  o.is_evaluated = o.evaluate ~= nil
  if not is_first(o.ranks) then
    o.evaluate, o.best, o.progress = nil, nil, false
  end
  if o.run then
    folders.enter(session)
  end
  return session
end

local function is_logged(o, step)
  return step == o.steps or step % o.log_every == 0
    or o.is_evaluated and step % o.evaluate_every == 0
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
    session.meter:fill(entry, state.norm)
    history[#history + 1] = entry
    if session.metrics then
      session.metrics.write(entry)
    end
    local value = o.best and entry[o.best]
    if value and value < state.best then
      state.best = value
      require("roper.model.checkpoint").save_model(o.run .. "/best.safetensors", o.model)
    end
    session.is_stopped = session.stopping and session.stopping:update(entry)
    state.sum, state.count = 0, 0
    state.generators = folders.generators(o.task)
  end)
end

-- Draws a batch. With loss = "answers", also returns the targets, of which those outside of answers
-- are ignored, and the number of the others in each row.
local function draw(o)
  if o.loss ~= "answers" then
    return o.task:batch(o.batch)
  end
  local tokens, is_answer = o.task:batch(o.batch, { answers = true })
  local targets, last = o.task:targets(tokens) or tokens, tokens:size(2) - 1
  return tokens, core.where(is_answer:ne(0), targets, IGNORED),
    is_answer:narrow(2, 2, last):to("float64"):sum(2):view { -1 }
end

-- The loss of a part of a batch, and its share in the loss of the whole batch. A part without
-- answers has the loss 0, but is computed, since all ranks sum their gradients.
local function part_of(o, tokens, row, count, targets, counts)
  local these = tokens:narrow(1, row, count)
  local positions = o.task:positions(these)
  if not targets then
    return M.loss(o.model, these, positions, nil, o.task:targets(these)), count / o.batch
  end
  local own, all = counts:narrow(1, row, count):sum():item(), counts:sum():item()
  targets = targets:narrow(1, row, count)
  if own == 0 then
    return M.loss(o.model, these, positions, { reduction = "none" }, targets):sum(), 0
  end
  return M.loss(o.model, these, positions, nil, targets), own / all
end

-- Computes the loss of a batch, over all its parts and ranks, and the gradients of the parameters.
-- Also returns the number of predicted tokens.
local function gradients(o, step, parameters)
  local tokens, targets, counts = draw(o)
  local sum, ranks = 0, o.ranks
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
    local loss, weight = part_of(o, tokens, row, count, targets, counts)
    local share = core.full(loss:shape(), weight, loss:dtype())
    sum = sum + loss:item() * (targets and weight or count)
    if ranks and row + count > last then
      ranks:backward(loss, share, parameters)
    else
      loss:backward(share)
    end
  end
  return (ranks and core.ranks_combine("sum", sum) or sum) / (targets and 1 or o.batch),
    o.batch * (tokens:size(2) - 1)
end

-- Returns the reason why a step diverges, or nil. Without clipping, a gradient that is not finite
-- shows in the loss of the next step.
local function divergence(o, loss, norm)
  local limit = o.divergence_threshold
  if loss - loss ~= 0 then
    return ("the loss is %s"):format(loss ~= loss and "nan" or loss)
  elseif limit and loss > limit then
    return ("the loss is %.6g (above %.6g)"):format(loss, limit)
  elseif norm and norm - norm ~= 0 and (o.optimizer.options or {}).clip then
    return ("the gradient norm is %s"):format(norm ~= norm and "nan" or norm)
  end
end

-- Takes one step; returns its loss and the reason why it diverged, in which case the parameters do
-- not change.
local function advance(session, parameters)
  local o, state, started = session.options, session.state, seconds()
  local step = state.step + 1
  session.is_computing = true
  local value, tokens = gradients(o, step, parameters)
  session.is_computing = false
  local is_clipped = (o.optimizer.options or {}).clip
  local norm = (is_clipped or is_logged(o, step)) and core.gradient_norm(parameters) or nil
  local reason = divergence(o, value, norm)
  if reason then
    return value, reason
  end
  local is_counted = false
  local function count()
    if not is_counted then
      state.generators = folders.generators(o.task)
      state.step, state.norm = step, norm
      state.sum, state.count = state.sum + value, state.count + 1
      session.unshown = value
      is_counted = true
    end
  end
  o.optimizer:step(parameters, count, is_clipped and norm)
  count() -- for an optimizer that does not call it
  session.meter:count(tokens, seconds() - started)
  return value
end

-- Ends a run that diverged: adds the step to the metrics, and saves the checkpoint of the step
-- before it. Returns a description.
local function diverge(session, history, elapsed, loss, reason)
  local o, step = session.options, session.state.step + 1
  if o.on_divergence == "error" then
    error(("train: %s at step %d; try a smaller rate or gradient clipping"):format(reason,
      step), 0)
  end
  core.interrupt_defer(function()
    local entry = { step = step, loss = loss, diverged = true, seconds = elapsed() }
    history[#history + 1] = entry
    if session.metrics then
      session.metrics.write(entry)
    end
    if session.checkpoint then
      folders.keep(session)
    end
  end)
  return { step = step, reason = reason, loss = loss }
end

-- Returns true on every rank if early stopping ends training; only the first rank knows it.
local function is_stopped(session)
  local ranks = session.options.ranks
  if ranks and session.options.patience then
    return core.ranks_combine("sum", session.is_stopped and 1 or 0) > 0
  end
  return session.is_stopped
end

-- Reports the last complete step, unless that was done.
local function show(session, progress)
  local step, start = session.state.step, session.start
  if progress and session.unshown then
    progress:update(step, session.unshown, (step - start.step) / (seconds() - start.seconds))
  end
  session.unshown = nil
end

-- Runs the remaining steps.
local function loop(session, progress)
  local o, state = session.options, session.state
  state.generators = folders.generators(o.task)
  local parameters, history, diverged = o.model:parameters(), {}, nil
  local start = { step = state.step, seconds = seconds() }
  session.start = start
  local function elapsed()
    return state.seconds + seconds() - start.seconds
  end
  o.model:training(true)
  if o.ranks then
    o.ranks:check(parameters, start.step)
  end
  -- The run was interrupted after a step, before its metrics were written.
  local is_cut = state.count > 0 and is_logged(o, state.step)
  local is_ended = is_stopped(session)
  snapshots.save(session)
  while not is_ended and (is_cut or state.step < o.steps) do
    local value, reason
    if not is_cut then
      value, reason = advance(session, parameters)
    end
    is_cut = false
    if reason then
      diverged = diverge(session, history, elapsed, value, reason)
      break
    end
    if is_logged(o, state.step) then
      log(session, history, elapsed)
    end
    if o.patience and state.step % o.evaluate_every == 0 then
      is_ended = is_stopped(session)
    end
    snapshots.save(session)
    show(session, progress)
    local due = o.checkpoint_every and state.step % o.checkpoint_every == 0
      or state.step == o.steps or is_ended
    if due and o.ranks then
      o.ranks:check(parameters, state.step)
    end
    if due and session.checkpoint then
      folders.save(session)
    end
  end
  if o.ranks then
    o.ranks:draw_alike()
  end
  return { step = state.step, loss = history[#history] and history[#history].loss,
    history = history, diverged = diverged,
    stopped = is_ended and state.step < o.steps or nil }
end

-- Saves the last complete step of a run that Ctrl-C ended, or an error in drawing or computing a
-- batch. Other errors may be about the state or the folder, such as one that another process took
-- over, and those of one rank leave ranks that differ. Returns the error to raise.
local function save_last_step(session, progress, message)
  local o = session.options
  local is_interrupt = require("roper.text.diagnostics").is_interrupt(message)
  if not is_interrupt and (not session.is_computing or o.ranks or session.state.step == 0) then
    return message
  end
  local kept, problem = pcall(core.interrupt_defer, folders.keep, session)
  if kept and progress and progress.note and (not is_interrupt or o.progress == nil) then
    progress:note(("%s is saved at step %d%s"):format(require("roper.base.escape").line(o.run),
      session.state.step, o.progress == nil and "; set resume = true to continue"
        or ", the last complete one"))
  end
  return not kept and is_interrupt and problem or message
end

--- Trains a run from `open` to its last step.
---@param session table
---@return Trained done
function M.run(session)
  local o = session.options
  local progress = o.progress
  if progress == nil then
    progress = require("roper.training.progress").new { name = o.name, steps = o.steps,
      floor = o.loss == "all" and o.task:has_problems() and o.task:floor() or nil,
      tokens = o.batch * (o.task:length() - 1) }
  end
  for _, note in ipairs(progress and progress.note and session.notes or {}) do
    progress:note(note)
  end
  local ok, result = pcall(loop, session, progress)
  if not ok and require("roper.text.diagnostics").is_interrupt(result) then
    pcall(show, session, progress) -- Ctrl-C may come between a step and its report
  end
  if progress then
    progress:finish()
  end
  if not ok and session.checkpoint and session.state.generators then
    result = save_last_step(session, progress, result)
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
