--- Measures the parameters, memory and time of a run on this machine: builds its model, trains it
--- and evaluates it. If a batch takes too long, it measures some rows and extrapolates.
local clock = require "roper.system.clock"
local core = require "roper.core"
local diagnostics = require "roper.text.diagnostics"
local evaluation = require "roper.training.evaluation"
local experiment = require "roper.workbench.study.experiment"
local measurement = require "roper.workbench.study.run.measurement"
local modules = require "roper.model.module"
local scoped = require "roper.base.scoped"
local training = require "roper.training"
local validation = require "roper.training.validation"

local M = {}

local QUESTIONS <const> = 64 -- problems drawn to find the longest question and answer
local GARBAGE <const> = 1 / 32

-- Frees unused memory, because new tensors would reuse blocks of up to twice their size. Returns
-- the bytes of tensors in use.
local function live()
  for _ = 1, 3 do
    collectgarbage() -- tensors can hold others, which the next collection frees
  end
  core.memory_trim()
  return core.memory().live
end

-- Returns the maximum number of bytes in use during f, of which at most a share of GARBAGE is
-- garbage.
local function bytes_of(f)
  local reachable = live() -- after the last collection; what is freed since then lowers it
  debug.sethook(function()
    local now = core.memory().live
    if now > reachable * (1 + GARBAGE) then
      collectgarbage()
      reachable = core.memory().live
    else
      reachable = math.min(reachable, now)
    end
  end, "c")
  scoped.finally(f, function() debug.sethook() end)
  return core.memory().peak
end

local function timed(f)
  local started = clock.seconds()
  f()
  return clock.seconds() - started
end

-- Returns the seconds of a call of f, the faster of two if they are short.
local function seconds_of(f)
  local first = timed(f)
  return first > 1 and first or math.min(first, timed(f))
end

-- Returns measure(f) for f with `all` rows. If `some` are fewer, it is on the line through the
-- results for two numbers of rows; not one row, whose products are computed in another way.
local function extrapolated(measure, f, all, some)
  local function at(rows)
    return measure(function() f(rows) end)
  end
  if some >= all then
    return at(all)
  end
  local few, many = some // 2, some
  if few < 2 then
    few, many = some, math.min(all, 2 * some)
  end
  local first, last = at(few), at(many)
  return last + math.max(0, last - first) / (many - few) * (all - many)
end

-- Returns how many rows can be measured: those that take `seconds` and half of the memory, but at
-- least two.
local function measured_rows(f, seconds)
  local one = seconds_of(function() f(1) end)
  return math.max(2, math.min(seconds / one, core.memory().limit / core.memory().peak / 2) // 1 | 0)
end

-- Calls f for its cost. Other errors than those of memory and Ctrl-C are ignored: a few sequences
-- may have no answers.
local function try(f, ...)
  local ok, message = pcall(f, ...)
  if not ok and diagnostics.is_transient(message) then
    error(message, 0)
  end
end

-- Returns the bytes in use when a trained model is tested on problems: its answers, and prompts
-- with a cache.
local function bytes_of_problems(config, model, task, some)
  local question, answer = 0, 0
  for _ = 1, QUESTIONS do
    local asked, right = task:question()
    question = math.max(question, task:encode(asked):count())
    answer = math.max(answer, task:encode(right):count())
  end
  return math.max(extrapolated(bytes_of, function(rows)
    try(evaluation.answers, model, task, { sequences = rows, batch = rows })
  end, config.batch, some), extrapolated(bytes_of, function(rows)
    scoped.without_training(model, function()
      try(modules.logits, model, core.zeros({ rows, question }, "int32"),
        model.cache and model:cache { batch = rows, length = question + answer })
    end)
  end, config.problems, some))
end

-- The same for text: the loss on rows of some length.
local function bytes_of_text(config, model, task, some, length)
  return extrapolated(bytes_of, function(rows)
    try(validation.measure, model, task, { length = length, sequences = rows, batch = rows })
  end, math.max(1, config.batch * config.length // length), some)
end

local function measured(config, budget)
  local before, parts, share = live(), experiment.build(config), config.accumulate or 1
  local model, task = parts.model, parts.task
  local function step(rows)
    training.train { model = model, task = task, optimizer = parts.optimizer, steps = 1,
      batch = rows * share, accumulate = share, progress = false, on_divergence = "stop" }
  end
  local function evaluate(rows)
    try(measurement.of(task).evaluate, model, task, config, rows)
  end
  local all = config.batch // share
  local some = measured_rows(step, budget)
  local seconds, bytes = extrapolated(seconds_of, step, all, some),
    extrapolated(bytes_of, step, all, some)
  local evaluation_seconds = extrapolated(seconds_of, evaluate, measurement.SEQUENCES, some)
  local changes = experiment.longer(config)
  local longest = changes[#changes] or {}
  bytes = math.max(bytes, task:has_problems()
    and bytes_of_problems(config, model, evaluation.fresh(task, 1, longest), some)
    or bytes_of_text(config, model, task, some, longest.length or config.length)) - before
  return { parameters = model:count(), seconds = seconds, evaluation = evaluation_seconds,
    total = seconds * config.steps + evaluation_seconds * (config.steps // config.evaluate_every),
    bytes = bytes, most = bytes + math.max(bytes / 2, 64 << 20), -- see bindings/handle.c
    rows = math.min(some, all) * share }
end

--- Measures the memory and time of training a configuration on this machine: builds the model,
--- and takes steps with as many rows of the batch as fit into a time and into half of the memory,
--- at least two of each part. The random state is restored.
---
--- Errors: the configuration cannot run; the model and the rows do not fit into memory.
---@param config table from `experiment.configure`
---@param seconds? number of a measured step; 1 by default
---@return table cost parameters; bytes: of tensors that are needed at once, up to 1/32 too large;
---   most: bytes, including tensors that are garbage but not collected yet; seconds: of a step;
---   evaluation: seconds of each evaluation; total: seconds of the run; rows: how many of the batch
---   were measured
function M.run(config, seconds)
  local problem = require("roper.workbench.study.run.rehearsal").problem(config)
  if problem then
    error(problem, 0)
  end
  return scoped.with_seed(1, function()
    return scoped.with_matmul_precision(config.matmul_precision or "float32", function()
      return measured(config, seconds or 1)
    end)
  end)
end

return M
