--- Experiments: what one training run of the study is, as a flat table of named fields, and how it
--- is run. An experiment is a file of scripts/experiments; it is found by being there.
local core = require "roper.core"
local options_of = require "roper.options"
local suggest = require "roper.suggest"

local M = {}

--- Fresh sequences that the loss and the accuracy of a finished run are over.
M.TEST_SEQUENCES = 512

--- The fields that every experiment has: name, kind, value when nothing else is said (false: not
--- set), meaning.
M.fields = {
  { "position", "string", "roper",
    "scheme: " .. table.concat(require("roper.position").list(), ", ") },
  { "rotate", "string", false, "letters of qkvo that turn, instead of the scheme's own" },
  { "pairing", "string", "half", "which features turn together: half or interleaved" },
  { "base", "number", 10000, "of the frequencies" },
  { "fraction", "number", 1, "of the features of queries and keys that turn" },
  { "value_fraction", "number", 1, "of the features of values and output that turn" },
  { "d_model", "size", 128, "features of a token" },
  { "layers", "size", 3, "transformer layers" },
  { "heads", "size", 4, "attention heads" },
  { "d_ff", "size", false, "features inside the feed-forward, instead of four times d_model" },
  { "norm", "string", "pre", "layer norm before (pre) or after (post) each part" },
  { "activation", "string", "relu", "of the feed-forward: relu or gelu" },
  { "dropout", "number", 0, "probability" },
  { "length", "size", 161, "tokens of a sequence" },
  { "batch", "size", 32, "sequences a step" },
  { "steps", "size", 1000, "training steps" },
  { "rate", "number", 2.5e-4, "learning rate of Adam" },
  { "warmup", "number", 0, "steps over which the rate rises" },
  { "clip", "number", 0, "most for the norm of the gradient; 0 clips nothing" },
  { "evaluate_every", "size", 100, "steps between measures of accuracy on answers" },
  { "checkpoint_every", "size", 500, "steps between checkpoints" },
  { "problems", "size", 128, "problems asked at the end" },
  { "seed", "integer", 1, "of the model, the batches and the draws" },
}

local function folder()
  local source = debug.getinfo(1, "S").source:match "^@(.*)/roper/experiment.lua$"
  return (source or "scripts") .. "/experiments"
end

--- The names of all experiments.
---
---     > roper.experiment.list()
---     {"addition", "substring_index", "substring_prefix"}
---@return string[] names
function M.list()
  local names = {}
  for name, kind in require("luv").fs_scandir_next, assert(require("luv").fs_scandir(folder())) do
    if kind ~= "directory" and name:match "%.lua$" then
      names[#names + 1] = name:gsub("%.lua$", "")
    end
  end
  table.sort(names)
  return names
end

---@class ExperimentDefinition
---@field summary string
---@field task string the name of its kind of task
---@field presets table<string, table> fields by preset

--- What an experiment is.
---
--- Errors: a name that no experiment has; the nearest one is suggested.
---
---     > roper.experiment.definition("addition").task
---     "addition"
---@param name string
---@return ExperimentDefinition definition
function M.definition(name)
  local names = M.list()
  for _, known in ipairs(names) do
    if known == name then
      return dofile(("%s/%s.lua"):format(folder(), name))
    end
  end
  error(("no experiment %q%s; there are %s"):format(tostring(name),
    suggest.hint(tostring(name), names), table.concat(names, ", ")), 0)
end

-- What the kinds of fields take.
local EXPECTED <const> = {
  string = "a string",
  number = "a finite number from 0 on",
  integer = "a whole number",
  size = "a whole number from 1 on",
}

-- A given value as a field of a kind takes it: numbers also as text.
local function convert(name, value, kind)
  local result, fits = value, type(value) == "string"
  if kind ~= "string" then
    local number = tonumber(value)
    result = number and math.tointeger(number) or number
    if kind == "number" then
      fits = result and result >= 0 and result < math.huge
    else
      fits = math.type(result) == "integer" and (kind == "integer" or result >= 1)
    end
  end
  if not fits then
    error(("field %s: expected %s, got %s"):format(name, EXPECTED[kind], tostring(value)), 0)
  end
  return result
end

-- Every field of an experiment, as in `fields`.
local function all_fields(definition)
  local list = { table.unpack(M.fields) }
  for _, option in ipairs(core.tasks.options(definition.task)) do
    if option.name ~= "seed" and option.name ~= "length" then
      list[#list + 1] = { option.name, "integer", option.standard, option.meaning }
    end
  end
  return list
end

local function preset_names(definition)
  local names = {}
  for preset in pairs(definition.presets) do
    names[#names + 1] = preset
  end
  table.sort(names)
  return names
end

--- The whole configuration of a run.
---
--- Errors: a name, a field or a preset that is not there; a value that does not fit.
---
---     > config = roper.experiment.configure("addition", {steps = 5, rate = "1e-3"})
---     > config.steps, config.rate, config.preset
---     5	0.001	"mini"
---@param name string of the experiment
---@param given? table field to value (strings are converted); `preset` chooses a
---   preset, "mini" by default
---@return table config every field, with experiment and preset
function M.configure(name, given)
  given = given or {}
  local definition = M.definition(name)
  local names = { "preset" }
  local preset = given.preset or "mini"
  if not definition.presets[preset] then
    local presets = preset_names(definition)
    error(("%s has no preset %q%s; it has %s"):format(name, tostring(preset),
      suggest.hint(tostring(preset), presets), table.concat(presets, ", ")), 0)
  end
  local config, known = { experiment = name, preset = preset }, { preset = true }
  for _, field in ipairs(all_fields(definition)) do
    local field_name, kind, default = table.unpack(field, 1, 3)
    names[#names + 1] = field_name
    known[field_name] = true
    config[field_name] = default
    local value = given[field_name]
    if value == nil then
      value = definition.presets[preset][field_name]
    end
    if value ~= nil and value ~= false then
      config[field_name] = convert(field_name, value, kind)
    end
  end
  for field_name in pairs(given) do
    if not known[field_name] then
      error(("%s has no field %q%s; it has %s"):format(name, tostring(field_name),
        suggest.hint(tostring(field_name), names), table.concat(names, ", ")), 0)
    end
  end
  return config
end

--- What each field of an experiment means, as lines of text.
---
--- Errors: a name that no experiment has.
---
---     > roper.experiment.describe("addition"):match "^[^\n]*"
---     "addition: add two numbers step by step"
---@param name string
---@return string text
function M.describe(name)
  local definition = M.definition(name)
  local lines = { name .. ": " .. definition.summary, "" }
  for _, field in ipairs(all_fields(definition)) do
    lines[#lines + 1] = ("  %-18s %-8s %s"):format(field[1], field[3] or "", field[4])
  end
  lines[#lines + 1] = "\nPresets:"
  for _, preset in ipairs(preset_names(definition)) do
    local values, parts = definition.presets[preset], {}
    for field, value in pairs(values) do
      parts[#parts + 1] = ("%s=%s"):format(field, value)
    end
    table.sort(parts)
    lines[#lines + 1] = ("  %-8s %s"):format(preset, table.concat(parts, " "))
  end
  return table.concat(lines, "\n")
end

---@class ExperimentParts
---@field model Transformer
---@field task task
---@field optimizer Adam

--- The task, model and optimizer of a configuration, made from its seed.
---
--- Errors: values that do not fit together.
---
---     > config = roper.experiment.configure("addition", {d_model = 16})
---     > roper.experiment.build(config).model:count()
---     10532
---@param config table from `configure`
---@return ExperimentParts parts
function M.build(config)
  local definition = M.definition(config.experiment)
  local task_options = { length = config.length, seed = config.seed }
  for _, option in ipairs(core.tasks.options(definition.task)) do
    task_options[option.name] = task_options[option.name] or config[option.name]
  end
  local task = core.tasks[definition.task](task_options)
  core.seed(config.seed)
  local scheme = "none"
  if config.position ~= "none" then
    scheme = { type = config.position, rotate = config.rotate or nil, pairing = config.pairing,
      base = config.base, fraction = config.fraction, value_fraction = config.value_fraction }
  end
  local model = require("roper.nn").Transformer { vocabulary = task:vocabulary(),
    d_model = config.d_model, layers = config.layers, heads = config.heads, norm = config.norm,
    d_ff = config.d_ff or nil, activation = config.activation, dropout = config.dropout,
    position = scheme }
  local optimizer = require("roper.optim").Adam { rate = config.rate,
    clip = config.clip > 0 and config.clip or nil,
    schedule = config.warmup > 0 and function(step)
      return math.min(1, step / config.warmup)
    end or nil }
  return { model = model, task = task, optimizer = optimizer }
end

-- Questions and test sequences come from seeds far from those of training.
local TEST_SEED = 1000003

---@class ExperimentOptions
---@field run? string a folder
---@field resume? boolean = false
---@field progress? table|false as for `roper.train`
---@field name? string for the progress line; by default that of the experiment

---@class ExperimentResult
---@field config table
---@field solved integer of the problems
---@field problems integer
---@field accuracy number on answers, from 0 to 1
---@field loss number nats per token, on fresh sequences
---@field floor number the lowest that loss can be
---@field steps_to_90? integer the first step with an accuracy of 0.9
---@field history table[] as for `roper.train`
---@field samples Sample[]
---@field parameters integer
---@field seconds number
---@field model Transformer
---@field task task

--- Run a configuration to its end: train, ask fresh problems, measure on fresh sequences.
---
--- Errors: as for `roper.train`.
---
---     > config = roper.experiment.configure("addition", {d_model = 8, layers = 1,
---     >>   steps = 2, batch = 1, length = 60, problems = 1})
---     > result = roper.experiment.run(config, {progress = false})
---     > result.problems, result.loss > result.floor
---     1	true
---@param config table from `configure`
---@param options? ExperimentOptions
---@return ExperimentResult result
function M.run(config, options)
  options = options_of.check("experiment.run", options, { run = "string?",
    resume = { "boolean", false }, progress = "any?", name = "string?" })
  local parts = M.build(config)
  local evaluation = require "roper.evaluation"
  local started = require("luv").hrtime()
  local identity = {}
  for name, value in pairs(config) do
    identity[name] = value
  end
  identity.steps = nil
  local trained = require("roper.train").train {
    model = parts.model, task = parts.task, optimizer = parts.optimizer,
    steps = config.steps, batch = config.batch, run = options.run, resume = options.resume,
    config = identity, progress = options.progress, name = options.name or config.experiment,
    evaluate_every = config.evaluate_every, checkpoint_every = config.checkpoint_every,
    evaluate = function(model)
      local found = evaluation.answers(model, parts.task, { seed = TEST_SEED, sequences = 32 })
      return { accuracy = found.accuracy, test_loss = found.loss }
    end,
  }
  local history = options.run and require("roper.metrics").read(options.run .. "/metrics.jsonl")
    or trained.history
  local solved, samples = evaluation.solve(parts.model, parts.task, { problems = config.problems,
    seed = TEST_SEED + config.seed })
  local final = evaluation.answers(parts.model, parts.task, { seed = TEST_SEED,
    sequences = M.TEST_SEQUENCES })
  local result = { config = config, solved = solved, problems = config.problems,
    accuracy = final.accuracy, loss = final.loss, floor = parts.task:floor(),
    steps_to_90 = M.steps_to(history, 0.9), parameters = parts.model:count(),
    seconds = (require("luv").hrtime() - started) * 1e-9 }
  if options.run then
    local folders = require "roper.folder"
    folders.write(options.run .. "/samples.json", core.json_encode(core.json_array(samples),
      { indent = 2 }) .. "\n")
    folders.write(options.run .. "/result.json", core.json_encode(result, { indent = 2 }) .. "\n")
  end
  result.history, result.samples, result.model, result.task = history, samples, parts.model,
    parts.task
  return result
end

--- The first step at which the accuracy on answers was at least so high.
---
---     > history = {{step = 10, accuracy = 0.2}, {step = 20, accuracy = 0.95}}
---     > roper.experiment.steps_to(history, 0.9)
---     20
---@param history table[] entries with step and accuracy
---@param accuracy number
---@return integer? step nil when it never was
function M.steps_to(history, accuracy)
  for _, entry in ipairs(history) do
    if entry.accuracy and entry.accuracy >= accuracy then
      return entry.step
    end
  end
  return nil
end

return M
