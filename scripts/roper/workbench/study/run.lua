--- A run: a configuration trained to its end and measured, in a folder of its own.
local core = require "roper.core"
local claims = require "roper.workbench.study.claim"
local experiment = require "roper.workbench.study.experiment"
local diagnostics = require "roper.base.diagnostics"
local files = require "roper.base.file"
local is_first = require("roper.training.ranks").is_first
local language = require "roper.workbench.study.language"
local options_of = require "roper.base.options"
local problems = require "roper.workbench.study.problems"
local scoped = require "roper.base.scoped"

local M = {}

--- Test sequences of each measure while training. All are looked at in batches of the training's
--- size, for which there is memory already.
M.SEQUENCES = 32

-- A number of the metrics; one that was not finite is null there.
local function number(value)
  return type(value) == "number" and value or 0 / 0
end

--- The first step at which the accuracy on answers was at least `accuracy`.
---@param metrics table[] entries with step and accuracy
---@param accuracy number
---@return integer? nil when it never was
function M.steps_to(metrics, accuracy)
  for _, entry in ipairs(metrics) do
    if number(entry.accuracy) >= accuracy then
      return entry.step
    end
  end
  return nil
end

-- The mean training loss of the last half of the steps; not a number without metrics.
local function last_half(metrics)
  local sum, count = 0, 0
  local last = metrics[#metrics] and metrics[#metrics].step
  local before = 0
  for _, entry in ipairs(metrics) do
    if entry.step > last / 2 then
      sum = sum + number(entry.loss) * (entry.step - before)
      count = count + entry.step - before
    end
    before = entry.step
  end
  return sum / count
end

-- A progress object that lets the lease beat.
local function watched(progress, beat)
  return {
    update = function(_, ...)
      beat()
      if progress then
        progress:update(...)
      end
    end,
    note = function(_, text)
      if progress and progress.note then
        progress:note(text)
      end
    end,
    finish = function()
      if progress then
        progress:finish()
      end
    end,
  }
end

-- What a task is looked at and measured by.
local function kind_of(task)
  return task:has_problems() and problems or language
end

-- Build what a configuration says, and open its folder.
local function open(config, o, beat)
  experiment.check(config)
  local function build()
    return experiment.build(config)
  end
  local parts = o.ranks and o.ranks:first_alone(build) or build()
  local has_problems = parts.task:has_problems()
  if not has_problems then
    parts.task:validation() -- refused before anything is trained that could not be measured
  end
  local slow = not o.lease and require("roper.base.precision").note(config.matmul_precision)
  local fixed = require("roper.base.tables").merged(config) -- what a checkpoint must agree with
  fixed.recompute = nil -- has the same bits
  if not config.cosine then
    fixed.steps = nil -- it may be made longer; a rate that falls would have been another
  end
  fixed.hash = not has_problems and parts.task:options().hash or nil
  local progress = o.progress
  if progress == nil then
    progress = require("roper.training.progress").new { name = o.name or config.experiment,
      steps = config.steps, floor = has_problems and parts.task:floor() or nil,
      tokens = config.batch * (config.length - 1) }
  end
  if slow and progress and progress.note and is_first(o.ranks) then
    progress:note(slow)
  end
  local session = require("roper.training").open {
    model = parts.model, task = parts.task, optimizer = parts.optimizer,
    steps = config.steps, batch = config.batch, accumulate = config.accumulate or nil,
    run = o.run, resume = o.resume, ranks = o.ranks,
    config = fixed, settings = { recompute = config.recompute },
    progress = watched(progress, beat),
    evaluate_every = config.evaluate_every, checkpoint_every = config.checkpoint_every,
    best = o.run and (has_problems and "test_loss" or "validation_loss") or nil,
    evaluate = function(model)
      return kind_of(parts.task).look(model, parts.task, config, M.SEQUENCES, beat)
    end,
  }
  if o.run and not has_problems and is_first(o.ranks) then
    language.keep_tokenizer(o.run, parts.task)
  end
  return parts, session, fixed.hash
end

--- What was found of a model, on a line.
---@param found table from `problems.measure`, `language.predict` or `run`
---@return string
function M.told(found)
  return (found.accuracy and problems or language).told(found)
end

-- Train, and measure what came out, which of several ranks the first does.
local function work(config, o, beat, parts, session, hash)
  local trained = require("roper.training").run(session)
  if not is_first(o.ranks) then
    return nil
  end
  local metrics = o.run and require("roper.training.metrics").read(o.run .. "/metrics.jsonl")
    or trained.history
  local trained_at = require("luv").hrtime()
  local result, samples = kind_of(parts.task).measure(config, parts, beat)
  result.steps_to_90 = result.accuracy and M.steps_to(metrics, 0.9)
  result.config = require("roper.base.tables").merged(config, { hash = hash })
  result.parameters, result.last_half = parts.model:count(), last_half(metrics)
  local last = metrics[#metrics]
  result.seconds = (last and number(last.seconds) or 0)
    + (require("luv").hrtime() - trained_at) * 1e-9
  return result, samples, metrics, parts
end

-- Write the outcome: the result last, since a run that has one is finished.
local function write(run, result, samples)
  files.write(run .. "/samples.json", core.json_encode(samples, { indent = 2 }) .. "\n")
  files.write(run .. "/result.json", core.json_encode(result, { indent = 2 }) .. "\n")
end

-- The lease on a run's folder and what stood there before it, or an error that says who has it.
local function take(run)
  files.make(run)
  local before = claims.read(run)
  claims.retry(run)
  local taken = claims.take(run)
  if not taken then
    local found = claims.read(run)
    if found.problem then
      error("run: " .. found.problem, 0)
    end
    local owner = found.owner
    error(("run: %s: process %s on %s works on it"):format(run, owner and owner.pid or "?",
      owner and owner.host or "?"), 0)
  end
  return taken, before
end

-- Give a run back that was trained, or opened, or refused; a refused one is as it was before.
local function leave(held, is_open, before, message)
  local state = not message and "finished" or diagnostics.is_interrupt(message) and "released"
    or "failed"
  message = message and diagnostics.without_place(tostring(message))
  if message and not is_open and before then
    state, message = before.state == "failed" and "failed" or "released", before.message
  end
  pcall(held.leave, held, state, message)
end

--- Run a configuration to its end. Of several ranks each calls it; the first holds the folder, and
--- the others read there the checkpoint to go on from.
---@param config table from `experiment.configure`
---@param options table? run: folder for configuration, metrics, samples, checkpoints and result;
---   lease: on that folder, taken if it is missing; resume = false: go on from its checkpoint;
---   progress, name, ranks: as for `train`
---@return table? result nil on all ranks but the first; config, parameters; seconds: of training,
---   over all starts, and of measuring; what `problems.measure` or `language.measure` finds; of
---   problems steps_to_90 (or nil); last_half: mean training loss over the last half of the steps;
---   metrics, samples, model, task
function M.run(config, options)
  local o = options_of.check("run", options, { run = "string?", lease = "table?",
    resume = { "boolean", false }, progress = "any?", name = "string?", ranks = "table?" })
  local held, before, is_open = o.lease, nil, false
  if o.run and not held and is_first(o.ranks) then
    held, before = take(o.run)
  end
  local function beat()
    if held then
      held:beat()
    end
  end
  local precision = config.matmul_precision or "float32"
  local ok, result, samples, metrics, parts = pcall(scoped.with_matmul_precision, precision,
    function()
      local opened, session, hash = open(config, o, beat)
      is_open = true
      return work(config, o, beat, opened, session, hash)
    end)
  if held then
    local written, message = ok, result
    if ok then
      written, message = pcall(function()
        held:check()
        write(o.run, result, samples)
      end)
    end
    leave(held, is_open, before, not written and message or nil)
    ok, result = written, written and result or message
  end
  if not ok then
    error(result, 0)
  elseif not result then
    return nil
  end
  result.metrics, result.samples, result.model, result.task = metrics, samples, parts.model,
    parts.task
  return result
end

return M
