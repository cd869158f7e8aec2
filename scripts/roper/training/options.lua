--- The options of `roper.train`.
local options_of = require "roper.options.rows"
local snapshots = require "roper.training.snapshots"

local M = {}

local OPTIONS <const> = options_of.define("TrainOptions", {
  { "model", "module", nil, "maps tokens to logits (`roper.nn.class`)", type = "Module" },
  { "task", "task" },
  { "optimizer", "table", type = "Optimizer" },
  { "steps", "size", nil, "the step at which training ends" },
  { "batch", "size", 32, "rows per step" },
  { "accumulate", "size", 1,
    "parts of a batch. They go through the model one by one, which needs less memory, and their "
      .. "gradients are summed (gradient accumulation)" },
  { "loss", { "all", "answers" }, "all", "tokens whose prediction is trained: all, or only those "
    .. "of answers" },
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
  { "snapshots", "table?", nil,
    "steps after which the weights are kept as snapshot-STEP.safetensors in the folder; 0: before "
      .. "the first step", type = "integer[]" },
  { "patience", "size?", nil,
    "evaluations without improvement after which training stops early. They are counted from the "
      .. "metrics, so a resumed run stops at the same step" },
  { "min_delta", "amount", 0, "the least change that counts as an improvement" },
  { "monitor", "string?", nil,
    "name of the number from `evaluate` that must improve; by default that of `best`" },
  { "mode", { "min", "max" }, "min", "whether smaller or larger values of `monitor` are better" },
  { "divergence_threshold", "positive?", nil,
    "loss of a step above which training has diverged; NaN and infinity always count" },
  { "on_divergence", { "error", "stop" }, "error",
    "\"error\": training ends with an error; \"stop\": it returns, with the step and the reason "
      .. "in the field `diverged`" },
  { "progress", "any?", nil,
    "an object with update(step, loss, speed), finish() and, optionally, note(text); by default "
      .. "a line on the terminal", type = "table|false" },
  { "name", "string", "training", "label of the progress line" },
  { "ranks", "table?", nil,
    "from `roper.ranks`: the processes that share each batch. All of them call `train` with the "
      .. "same options; only the first evaluates, writes files and prints", type = "Ranks" },
})

--- Checks the options of `train` and adds defaults.
---@param options TrainOptions
---@return table
function M.check(options)
  local o = options_of.check("train", options, OPTIONS, 5)
  local function expect(option, methods, expected)
    local value = o[option]
    for _, method in ipairs(methods) do
      if value and not (type(value) == "table" and value[method]) then
        error(("train: option %s: expected %s, got %s"):format(option, expected,
          options_of.shown(value)), 5)
      end
    end
  end
  expect("optimizer", { "step", "state" }, "an optimizer")
  expect("progress", { "update", "finish" }, "an object with update and finish, or false")
  expect("ranks", { "size", "rank", "rows" }, "the result of roper.ranks")
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
  elseif o.patience and not (o.evaluate and (o.monitor or o.best)) then
    error("train: patience needs evaluate and monitor, the name of a number that it returns", 4)
  elseif o.snapshots and not o.run then
    error("train: snapshots need run, a folder", 4)
  end
  if o.loss == "answers" and not o.task:has_answers() then
    error(('train: loss = "answers" needs a task with answers, got %s'):format(o.task:name()), 4)
  end
  snapshots.check(o.snapshots or {}, 4)
  return o
end

--- Returns the configuration that a checkpoint must match. `steps` is not part of it, so a run can
--- be extended.
---@param o table checked options
---@return table config
function M.fixed(o)
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
  return { batch = o.batch, accumulate = parts, loss = o.loss ~= "all" and o.loss or nil,
    task = task, optimizer = optimizer,
    model = require("roper.model.checkpoint").options(o.model), parameters = o.model:count(),
    settings = #changed > 0 and changed or nil }
end

return M
