--- Runs a configuration: trains and measures its model, in a folder of its own.
local battery = require "roper.workbench.study.run.battery"
local clock = require "roper.system.clock"
local core = require "roper.core"
local claims = require "roper.workbench.study.run.claim"
local combinations = require "roper.workbench.study.experiment.combinations"
local experiment = require "roper.workbench.study.experiment"
local diagnostics = require "roper.text.diagnostics"
local files = require "roper.system.file"
local is_first = require("roper.training.ranks").is_first
local language = require "roper.workbench.study.run.language"
local measurement = require "roper.workbench.study.run.measurement"
local options_of = require "roper.options.rows"
local origin = require "roper.workbench.study.run.origin"
local rehearsal = require "roper.workbench.study.run.rehearsal"
local scoped = require "roper.base.scoped"
local stored = require "roper.workbench.study.run.runs"
local tables = require "roper.base.tables"

local M = {}

-- Returns a number of the metrics, or NaN for null, which replaces numbers that were not finite.
local function number(value)
  return type(value) == "number" and value or 0 / 0
end

--- Returns the first step at which the accuracy on answers was at least `accuracy`.
---@param metrics table[] entries with step and accuracy
---@param accuracy number
---@return integer? step nil if it never was
function M.steps_to(metrics, accuracy)
  for _, entry in ipairs(metrics) do
    if number(entry.accuracy) >= accuracy then
      return entry.step
    end
  end
  return nil
end

-- Returns the mean training loss over the last half of the steps; NaN without metrics.
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

-- Returns a progress object, derived from the given one if any, that also updates the heartbeat of
-- the claim.
local function watched(progress, beat)
  progress = progress or { update = function() end, finish = function() end }
  return setmetatable({ update = function(_, ...)
    beat()
    progress:update(...)
  end }, { __index = progress })
end

-- Fields that change what a run keeps and where it ends, but no step of training. A checkpoint need
-- not match them.
local FREE <const> = { "recompute", "snapshots", "patience", "min_delta", "monitor",
  "divergence_threshold" }

-- Builds the parts of a configuration and opens its folder.
local function open(config, o, beat)
  experiment.check(config)
  local function build()
    return experiment.build(config)
  end
  local parts = o.ranks and o.ranks:first_alone(build) or build()
  local about, start
  if config.from and not (o.resume and files.stat(o.run .. "/checkpoint.safetensors")) then
    about, start = origin.load(config, parts.model)
  end
  local has_problems = parts.task:has_problems()
  if not has_problems then
    parts.task:validation() -- raises an error before training if the model could not be measured
  end
  rehearsal.measure(config, parts, beat)
  local in_sweep = o.claim and not o.claim.before
  local slow = not in_sweep and require("roper.tensor.precision").note(config.matmul_precision)
  local fixed = tables.merged(config) -- what a checkpoint must match
  local settings = {}
  for _, name in ipairs(FREE) do
    fixed[name], settings[name] = nil, config[name]
  end
  if not config.cosine then
    fixed.steps = nil -- a run may be extended, unless its learning rate depends on the length
  end
  fixed.hash = parts.task:hash()
  local progress = o.progress
  if progress == nil then
    progress = require("roper.training.progress").new { name = o.name or config.experiment,
      steps = config.steps, floor = has_problems and not config.loss and parts.task:floor() or nil,
      tokens = config.batch * (config.length - 1) }
  end
  for _, note in ipairs(tables.joined({ slow or nil }, { start })) do
    if progress and progress.note and is_first(o.ranks) then
      progress:note(note)
    end
  end
  local measure = has_problems and "test_loss" or "validation_loss"
  local session = require("roper.training").open {
    model = parts.model, task = parts.task, optimizer = parts.optimizer,
    steps = config.steps, batch = config.batch, accumulate = config.accumulate or nil,
    loss = config.loss or nil,
    run = o.run, resume = o.resume, ranks = o.ranks,
    config = fixed, settings = settings,
    progress = watched(progress, beat),
    evaluate_every = config.evaluate_every, checkpoint_every = config.checkpoint_every,
    best = o.run and measure or nil,
    snapshots = o.run and combinations.snapshots(config) or nil,
    patience = config.patience or nil, min_delta = config.min_delta or nil,
    monitor = config.patience and (config.monitor or measure) or nil,
    mode = config.monitor == "accuracy" and "max" or nil,
    divergence_threshold = config.divergence_threshold or nil, on_divergence = "stop",
    evaluate = function(model)
      return measurement.of(parts.task).evaluate(model, parts.task, config, measurement.SEQUENCES,
        beat)
    end,
  }
  if o.run and is_first(o.ranks) then
    require("roper.workbench.study.experiment.loaded").keep(o.run)
    battery.keep(o.run, config)
    if about then -- the run did not resume
      files.write(("%s/%s"):format(o.run, origin.FILE), core.json_encode(about, { indent = 2 })
        .. "\n")
    end
    if not has_problems then
      language.keep_tokenizer(o.run, parts.task)
    end
  end
  return parts, session, fixed.hash
end

-- Returns the measurements of a trained model. A model that diverged is not measured.
local function measured(config, parts, beat, trained)
  if trained.diverged then
    return { diverged = { step = trained.diverged.step, reason = trained.diverged.reason } }, {}
  end
  local result, samples = measurement.of(parts.task).measure(config, parts, beat)
  result.stopped = trained.stopped and { step = trained.step } or nil
  return result, samples
end

-- Trains the model and measures it. With several ranks, only the first measures.
local function work(config, o, beat, parts, session, hash)
  local trained = require("roper.training").run(session)
  if not is_first(o.ranks) then
    return nil
  end
  local metrics = o.run and require("roper.training.metrics").read(o.run .. "/metrics.jsonl")
    or trained.history
  local trained_at = clock.seconds()
  local result, samples = measured(config, parts, beat, trained)
  result.steps_to_90 = result.accuracy and M.steps_to(metrics, 0.9)
  result.config = tables.merged(config, { hash = hash })
  result.parameters, result.last_half = parts.model:count(), last_half(metrics)
  local last = metrics[#metrics]
  result.seconds = (last and number(last.seconds) or 0)
    + clock.seconds() - trained_at
  return result, { metrics = metrics, samples = samples, model = parts.model, task = parts.task }
end

-- Writes samples and result. The result comes last, because a run with a result counts as finished.
local function write(run, result, samples)
  files.write(run .. "/samples.json", core.json_encode(samples, { indent = 2 }) .. "\n")
  files.write(run .. "/result.json", core.json_encode(result, { indent = 2 }) .. "\n")
end

-- Claims a run's folder. If a process works on the run, the error names it.
local function take(run)
  files.make(run)
  local before = claims.read(run)
  claims.retry(run)
  local taken = claims.take(run)
  if taken then
    taken.before = before
  else
    local found = claims.read(run)
    if found.problem then
      error("run: " .. found.problem, 0)
    end
    local owner = found.owner
    error(("run: %s is in use by process %s on %s"):format(run, owner and owner.pid or "?",
      owner and owner.host or "?"), 0)
  end
  return taken
end

-- Returns true if a folder contains at most the beginning of a run of this configuration that ended
-- before its first checkpoint.
local function is_unused(folder, config)
  local function is_remainder(name)
    return name:find "^lease%-%d+%.json$" or name:find "%.tmp$"
      or name == "metrics.jsonl" and files.stat(folder .. "/" .. name).size == 0
  end
  local others = tables.map(files.names(folder), function(name)
    return not is_remainder(name) and name or nil
  end)
  local content = others[1] and files.decode(folder .. "/config.json")
  local there = content and content.config
  return not others[1] or type(there) == "table"
    and stored.same(tables.merged(config, { hash = there.hash }), there)
    and not files.stat(folder .. "/checkpoint.safetensors")
    and not files.stat(folder .. "/result.json")
end

-- Claims a folder for a new run; nil if it is used.
local function take_unused(folder, config)
  local stat = files.stat(folder)
  if stat and stat.type ~= "directory" then
    return nil
  end
  files.make(folder)
  local ok, held, before = pcall(claims.take, folder, function()
    return is_unused(folder, config)
  end)
  if not ok and not files.stat(folder) then
    return take_unused(folder, config) -- another run failed before it began, and removed the folder
  elseif not ok then
    error(held, 0)
  elseif held then
    held.before, held.is_new = before, true
  end
  return held
end

--- Claims the folder of a new run: the first of path, path-2, ... that does not exist. A run
--- of the same configuration that ended before its first checkpoint starts again in its folder.
---@param path string
---@param config table
---@return string folder
---@return Claim claim for `run`
function M.claim_new(path, config)
  local count, folder = 1, path
  local held = take_unused(folder, config)
  while not held do
    count = count + 1
    folder = ("%s-%d"):format(path, count)
    held = take_unused(folder, config)
  end
  return folder, held
end

-- Releases a run. If an error occurred before its folder was opened, its previous state is
-- restored; a new folder is removed.
local function leave(held, is_open, message)
  local before = held.before
  if message and held.is_new and not files.stat(held.folder .. "/config.json") then
    return files.remove(held.folder)
  end
  local state = not message and "finished" or diagnostics.is_interrupt(message) and "released"
    or "failed"
  message = message and diagnostics.without_place(tostring(message))
  if message and not is_open and before then
    state, message = before.state == "failed" and "failed" or "released", before.message
  end
  pcall(held.leave, held, state, message)
end

local OPTIONS <const> = options_of.define("RunOptions", {
  { "run", "string?", nil, "folder for configuration, metrics, samples, checkpoints and result" },
  { "claim", "table?", nil, "the claim on that folder, taken if it is missing" },
  { "resume", "boolean", false, "resume from its checkpoint" },
  { "progress", "any?", nil, "as for `train`, like `name` and `ranks`" },
  { "name", "string?" },
  { "ranks", "table?" },
})

--- Runs a configuration to its end. With several ranks, each calls this function; the first claims
--- the folder, and the others read the checkpoint to resume from there.
---@param config table from `experiment.configure`
---@param options? RunOptions
---@return table? result nil on all ranks but the first; config; parameters; seconds of training
---   (all sessions of a resumed run) and measuring; the results of `problems.measure` or
---   `language.measure`; steps_to_90 for problems (or nil); last_half: mean training loss over the
---   last half of the steps; metrics, samples, model, task
function M.run(config, options)
  local o = options_of.check("run", options, OPTIONS)
  local held, is_open = o.claim, false
  if o.run and not held and is_first(o.ranks) then
    held = take(o.run)
  end
  if held then
    held:forget_others()
  end
  local function beat()
    if held then
      held:beat()
    end
  end
  local precision = config.matmul_precision or "float32"
  local ok, result = pcall(scoped.with_matmul_precision, precision, function()
    config = origin.complete(config)
    local parts, session, hash = open(config, o, beat)
    is_open = true
    local found, more = work(config, o, beat, parts, session, hash)
    if held then
      held:check()
      write(o.run, found, more.samples)
    end
    return found and tables.merged(found, more)
  end)
  if held then
    leave(held, is_open, not ok and result or nil)
  end
  if not ok then
    error(result, 0)
  end
  return result
end

return M
