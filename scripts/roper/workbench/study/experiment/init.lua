--- Experiments: a task with presets of fields. Each file in scripts/experiments defines one, and
--- `register` adds your own. The configuration of a run is a flat table of these fields.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local definitions = require "roper.workbench.study.experiment.definitions"
local document = require "roper.text.document"
local documents = require "roper.text.document.terminal"
local fields = require "roper.workbench.study.experiment.fields"
local loaded = require "roper.workbench.study.experiment.loaded"
local models = require "roper.workbench.study.experiment.models"
local options_of = require "roper.options.rows"
local optimizers = require "roper.workbench.study.experiment.optimizers"
local position = require "roper.workbench.study.experiment.position"
local published = require "roper.workbench.study.experiment.published"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

M.list = definitions.list
M.definition = definitions.definition
M.register = definitions.register

--- Returns the complete configuration of a run: the given fields, then those of the published model
--- from which it starts, if any, then those of the preset, then defaults.
---
--- Errors: the experiment, a field or the preset does not exist; a value does not fit its field or
--- has no effect; a required field is missing; an option of the scheme contradicts a field.
---
---     > config = roper.experiment.configure("addition", {steps = 5, rate = "1e-3"})
---     > config.steps, config.rate, config.preset
---     5	0.001	"mini"
---@param name string of the experiment
---@param given? table field to value (strings are converted); `preset` selects a preset, "mini" by
---   default
---@return table config every field, with experiment and preset; and loaded: the files of --load,
---   with their hashes
function M.configure(name, given)
  arguments.check("experiment.configure", "name", "string", name, "given", "table?", given)
  given = given or {}
  local definition = M.definition(name)
  local names = { "preset" }
  local preset = given.preset or "mini"
  if not definition.presets[preset] then
    local presets = tables.keys(definition.presets)
    error(("%s has no preset %q%s"):format(name, tostring(preset),
      suggest.hint(tostring(preset), presets, "it has")), 0)
  end
  local folder = published.folder(given.from)
  local chosen = tables.merged(definition.presets[preset],
    folder and published.fields(folder, fields.MODEL))
  local config, missing = { experiment = name, preset = preset }, nil
  -- `loaded` and `hash` are accepted in the fields of an earlier run, but computed again; `origin`
  -- stays as it is.
  local known = { preset = true, loaded = tostring(given.loaded):find " %x+$",
    hash = tostring(given.hash):find("^" .. ("%x"):rep(16) .. "$"),
    origin = given.from and tostring(given.origin):find " weights %x+$" }
  for _, field in ipairs(fields.of(definition.task, definition.model)) do
    local field_name = field[1]
    names[#names + 1] = field_name
    known[field_name] = true
    config[field_name] = field[3]
    local value = given[field_name]
    if value == nil then
      value = chosen[field_name]
    end
    if value or value == false and (field[5] == "true" or field[3] == "true") then
      config[field_name] = fields.convert(field, value)
    end
    missing = missing or field.required and not config[field_name] and field
  end
  for field_name in pairs(given) do
    if not known[field_name] then
      error(("%s has no field %q%s"):format(name, tostring(field_name),
        suggest.nearest_of_many(tostring(field_name), names,
          ("to list all fields: ./roper train %s --dry-run"):format(name))), 0)
    end
  end
  if missing then
    error(("%s needs the field %s, %s: set %s=..."):format(name, missing[1], missing[4],
      missing[1]), 0)
  end
  if config.batch % (config.accumulate or 1) ~= 0 then
    error(("field batch: %d is not divisible by accumulate, %d"):format(config.batch,
      config.accumulate), 0)
  end
  if not config.head_dim and config.d_model % config.heads ~= 0 then
    error(("field d_model: %d is not divisible by heads, %d"):format(config.d_model, config.heads),
      0)
  end
  if config.times and not definition.longer then
    error(("field times: expected an experiment that defines `longer`, the options of its task to "
      .. "multiply; %s defines none"):format(name), 0)
  end
  require("roper.workbench.study.experiment.combinations").check(config)
  position.complete(config, given, given.position or chosen.position or config.position)
  config.loaded, config.origin = loaded.now(), given.origin
  return config
end

--- Raises an error for a configuration that was made with other loaded files.
---
--- Errors: its `loaded` is not the one that `configure` sets.
---
---     > config = roper.experiment.configure("addition", {position = "kerple"})
---     > roper.experiment.check(config)
---@param config table
function M.check(config)
  arguments.check("experiment.check", "config", "table", config)
  arguments.check("experiment.check", "config.position", "string?", config.position)
  if config.loaded ~= loaded.now() then
    error(("experiment: this configuration was made with %s; loaded now: %s"):format(
      config.loaded or "no loaded files", loaded.now() or "none"), 0)
  end
end

--- Returns the fields of an experiment with their values and documentation, as lines of text.
---
--- Errors: no experiment has this name.
---
---     > roper.experiment.describe("addition"):match "^[^\n]*"
---     "addition: add two numbers step by step"
---@param name string
---@param config? table whose values are shown; by default, the defaults and the presets are shown
---@return string text
function M.describe(name, config)
  arguments.check("experiment.describe", "name", "string", name, "config", "table?", config)
  local definition = M.definition(name)
  local presets = tables.keys(definition.presets)
  local rows = { config and { "preset", config.preset,
    "supplies the fields that are not set: " .. table.concat(presets, ", ") } }
  for _, field in ipairs(fields.of(definition.task, definition.model)) do
    local value = field[3]
    if config then
      value = config[field[1]]
    end
    local meaning, takes = field[4], fields.takes(field)
    rows[#rows + 1] = { field[1], value or field[5] or "-",
      takes and ("%s: %s"):format(meaning, takes) or meaning }
  end
  return documents.render({ document.paragraph(name .. ": " .. definition.summary),
    document.table { rows = rows, sides = "l" },
    not config and document.table { caption = "Presets:", sides = "l",
      rows = tables.map(presets, function(preset)
        return { preset, tables.text(definition.presets[preset]) }
      end) } }, { width = 80 }):match "^(.-)\n$"
end

--- Returns the fields in which a configuration differs from the published model from which it
--- starts, such as "position=roper (rope there)".
---
---     > roper.experiment.changes(roper.experiment.configure "addition")
---     {}
---@param config table from `configure`
---@return string[] changes empty without such a model
function M.changes(config)
  arguments.check("experiment.changes", "config", "table", config)
  local folder, list = published.folder(config.from), {}
  local there = folder and published.fields(folder, fields.MODEL) or {}
  local definition = M.definition(config.experiment)
  for _, field in ipairs(folder and fields.of(definition.task, definition.model) or {}) do
    local name, other = field[1], there[field[1]]
    other = other and fields.convert(field, other) or other ~= nil and field[3]
    if there[name] ~= nil and (config[name] or false) ~= other then
      list[#list + 1] = ("%s=%s (%s there)"):format(name, tostring(config[name] or "-"),
        tostring(other or "-"))
    end
  end
  return list
end

-- Raises an error unless a value is a table from `configure`.
local function check_config(name, config)
  if type(config) ~= "table" or type(config.experiment) ~= "string" then
    error(("%s: config: expected a table from experiment.configure, got %s"):format(name,
      type(config) == "table" and "another table" or options_of.shown(config)), 3)
  end
end

--- Returns the position scheme of a configuration in the form that a Transformer takes.
---
---     > fields = {position = "rope+alibi:none", base = 500}
---     > config = roper.experiment.configure("addition", fields)
---     > roper.experiment.scheme(config)
---     {{parts = {{base = 500, type = "rope"}, "alibi"}, type = "join"}, "none"}
---@param config table from `configure`
---@return string|table position
function M.scheme(config)
  check_config("scheme", config)
  return position.scheme(config)
end

-- Default lengths of the longer problems, as multiples of the length in training.
local TIMES <const> = { 1.5, 2, 4 }

-- Returns the changes of the task's options for problems `times` as long.
local function changes_of(longer, config, times)
  if type(longer) == "function" then
    return longer(config, times)
  end
  local changes = {}
  for _, name in ipairs(longer) do
    changes[name] = math.floor(config[name] * times)
  end
  return changes
end

-- Returns the lengths at which a configuration is tested, as multiples of that in training.
local function times_of(config, definition)
  local list = {}
  for factor in (config.times or ""):gmatch "[^,]+" do
    list[#list + 1] = tonumber(factor)
  end
  return list[1] and list or definition.times or TIMES
end

--- Returns the changes of a task for the longer problems, or rows of text, on which the trained
--- model is tested: the multiples of the field `times`, or else of the experiment.
---
---     > config = roper.experiment.configure("substring_index")
---     > roper.experiment.longer(config)[2]
---     {length = 322, letters = 26}
---@param config table from `configure`
---@return table[] changes of the task's options; those beyond the range of an option are left out
---@return number[] times how many times as long as in training each is
function M.longer(config)
  check_config("longer", config)
  local definition = M.definition(config.experiment)
  local largest, list, kept = {}, {}, {}
  for _, row in ipairs(tasks.options(definition.task)) do
    largest[row[1]] = row[2].largest or math.huge
  end
  for _, times in ipairs(definition.longer and times_of(config, definition) or {}) do
    local changes, fits = changes_of(definition.longer, config, times), true
    if type(changes) ~= "table" then
      error(("experiment %s: longer: expected a table of options of the task, got %s"):format(
        config.experiment, options_of.shown(changes)), 0)
    end
    for name, value in pairs(changes) do
      if not largest[name] or not math.type(value) then
        error(("experiment %s: longer: expected numbers for options of the task, got %s = %s")
          :format(config.experiment, tostring(name), options_of.shown(value)), 0)
      end
      fits = fits and value <= largest[name] and value > config[name]
    end
    if fits then
      list[#list + 1], kept[#kept + 1] = changes, times
    end
  end
  return list, kept
end

--- Returns true if the task of a configuration poses problems, and false if it is text. If the
--- experiment no longer exists, its task is assumed to pose problems.
---
---     > roper.experiment.has_problems(roper.experiment.configure("addition"))
---     true
---@param config table
---@return boolean yes
function M.has_problems(config)
  arguments.check("has_problems", "config", "table", config)
  local definition = definitions.find(config.experiment)
  return not definition or tasks.has_problems(definition.task)
end

--- Creates the task of a configuration.
---
--- Errors: the values of some fields contradict each other.
---
---     > config = roper.experiment.configure("addition", {length = 50})
---     > roper.experiment.task(config):length()
---     50
---@param config table from `configure`
---@return task task
function M.task(config)
  check_config("task", config)
  local name = M.definition(config.experiment).task
  local options = fields.options(fields.of_task(name), config)
  options.seed = config.seed
  return tasks[name](options)
end

--- Returns the number of positions that a configuration needs, for its rows and problems and for
--- the longer ones in the final evaluation. Schemes with a table of positions use this as its
--- length.
---
---     > config = roper.experiment.configure("copy", {preset = "smoke"})
---     > config.length, roper.experiment.reach(config)
---     33	132
---@param config table from `configure`
---@return integer count
function M.reach(config)
  check_config("reach", config)
  local reach, all = 0, M.longer(config)
  all[#all + 1] = {}
  for _, changes in ipairs(all) do
    local changed = tables.merged(config, changes)
    if M.has_problems(config) then
      local task = M.task(changed)
      reach = math.max(reach, task:length(), task:longest())
    else -- the text need not be read
      reach = math.max(reach, changed.length)
    end
  end
  return reach
end

-- Returns the learning-rate schedule of a configuration; nil if the rate is constant.
local function schedule_of(config)
  if config.cosine then
    return require("roper.training.optim").schedule.cosine(math.ceil(config.warmup), config.steps,
      config.cosine)
  end
  return config.warmup > 0 and function(step)
    return math.min(1, step / config.warmup)
  end or nil
end

-- Returns the optimizer of a configuration.
local function optimizer_of(config)
  local kind = optimizers.kind(config)
  local options = { rate = config.rate, clip = config.clip > 0 and config.clip or nil,
    schedule = schedule_of(config), decay_on = config.decay and "matrices" or nil,
    [kind.decay] = config.decay or nil }
  for _, pair in ipairs(kind.fields) do
    options[pair[1]] = config[pair[2]] or nil
  end
  return require("roper.training.optimizer").new(kind, options)
end

---@class ExperimentParts
---@field model Module
---@field task task
---@field optimizer Optimizer

--- Creates the task, model and optimizer of a configuration from its seed.
---
--- Errors: the values of some fields contradict each other; the class of the model is not defined,
--- or its model does not map tokens to logits.
---
---     > config = roper.experiment.configure("addition", {d_model = 16})
---     > roper.experiment.build(config).model:count()
---     10532
---@param config table from `configure`
---@param task? task with the same vocabulary, used instead of its own
---@param length? integer number of positions for schemes with a table of them; by default `reach`
---@return ExperimentParts parts
function M.build(config, task, length)
  check_config("build", config)
  local has_vocabulary = type(task) == "table" and task.vocabulary -- all that is used of it
  arguments.check("build", "task", has_vocabulary and "table" or "task?", task, "length", "size?",
    length)
  task = task or M.task(config)
  core.seed(config.seed)
  local options = fields.options(fields.MODEL, config)
  options.vocabulary, options.position, options.length = task:vocabulary(), M.scheme(config),
    length or M.reach(config)
  local model = models.create(config, options)
  return { model = model, task = task, optimizer = optimizer_of(config) }
end

return M
