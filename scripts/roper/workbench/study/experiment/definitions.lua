--- Definitions of experiments by name: files in scripts/experiments, registered ones, and one for
--- each other task with problems.
local arguments = require "roper.options.arguments"
local fields = require "roper.workbench.study.experiment.fields"
local files = require "roper.system.file"
local modules = require "roper.model.module"
local models = require "roper.workbench.study.experiment.models"
local options_of = require "roper.options.rows"
local own_tasks = require "roper.tasks.own"
local registered = require "roper.options.registered"
local suggest = require "roper.base.suggest"
local tables = require "roper.base.tables"
local tasks = require "roper.tasks"

local M = {}

local FOLDER <const> = require("roper.system.paths").LIBRARY .. "/../experiments"

--- Names of measures by which an experiment can compare methods
--- (`roper.workbench.study.run.measures`).
M.MEASURES = { "solved", "solved_greedy", "accuracy", "loss", "perplexity", "bits_per_byte",
  "last_half", "steps_to_90" }

-- The presets of an experiment that defines none.
local PRESETS <const> = {
  mini = { d_model = 64, layers = 2, heads = 4, norm = "pre", batch = 16, steps = 1000,
    rate = 3e-3, warmup = 50, evaluate_every = 50 },
  smoke = { d_model = 32, layers = 1, heads = 2, norm = "pre", batch = 4, steps = 20, rate = 1e-3,
    evaluate_every = 10, checkpoint_every = 10, problems = 4, test_sequences = 16 },
}

local own = {}

--- Returns the names of all experiments, registered ones included.
---
---     > table.unpack(roper.experiment.list(), 1, 3)
---     "addition"	"copy"	"language_model"
---@return string[] names
function M.list()
  local names = tables.map(tasks.list(), function(name)
    return tasks.has_problems(name) and name or nil
  end)
  return tables.keys(tables.set(files.modules(FOLDER)), own, tables.set(names))
end

local MEMBERS <const> = options_of.define("ExperimentDefinition", {
  { "summary", "string", "an experiment of your own" },
  { "task", "string", nil, "name of the kind of task" },
  { "presets", "table", PRESETS, "fields by preset; one is mini, the default",
    type = "table<string, table>", shown = "{mini = ..., smoke = ...}" },
  { "measure", "any?", nil, 'name of the Measure by which methods are compared; "solved" by '
    .. 'default, "bits_per_byte" for text', type = "string" },
  { "study", "table?", nil, "the comparison that `roper study` runs", type = "Design" },
  { "longer", "any?", nil, "names of the task's options that are multiplied by `times` to test a "
    .. "trained model on longer problems or rows, or a function that returns the changed options",
    type = "string[]|fun(config: table, times: number): table" },
  { "times", "table?", nil, "the factors of `longer`, if the field `times` is not set; 1.5, 2 and "
    .. "4 by default", type = "number[]" },
  { "model", "any?", nil, "the default of the field `model`, a class from `roper.nn.class`",
    type = "string|Module" },
})

-- Returns the experiment on a task, if it has no other.
local function of_task(name)
  local task = own_tasks.find(name) or { summary = "a task without presets of its own" }
  return { summary = task.summary or "a task of your own", task = name, presets = PRESETS,
    longer = task.longer }
end

--- Finds the definition of an experiment.
---
--- Errors: a file that cannot be read.
---@param name any
---@return ExperimentDefinition? definition
---@return string? problem why there is none
function M.find(name)
  local names = M.list()
  if own[name] then
    return own[name]
  elseif tables.set(files.modules(FOLDER))[name] then
    if own_tasks.find(name) then
      return nil, ("the registered task %s has the name of a built-in experiment; register it with "
        .. "another name"):format(name)
    end
    return dofile(("%s/%s.lua"):format(FOLDER, name))
  elseif tables.set(names)[name] then
    return of_task(name)
  end
  return nil, ("no experiment %q%s"):format(tostring(name),
    suggest.hint(tostring(name), names, "there are"))
end

--- Returns the definition of an experiment.
---
--- Errors: no experiment has this name; the message suggests the nearest one. A registered task has
--- the name of a built-in experiment.
---
---     > roper.experiment.definition("addition").task
---     "addition"
---@param name string
---@return ExperimentDefinition definition
function M.definition(name)
  arguments.check("definition", "name", "string", name)
  local found, problem = M.find(name)
  return found or error(problem, 0)
end

-- Raises an error unless the presets have fields of the experiment, with values that fit.
local function check_presets(fail, definition)
  local known = {}
  for _, field in ipairs(fields.of(definition.task, definition.model)) do
    known[field[1]] = field
  end
  for name, preset in pairs(definition.presets) do
    if type(name) ~= "string" or type(preset) ~= "table" then
      fail("presets: expected tables of fields by name, got " .. options_of.shown(preset))
    end
    for field, value in pairs(preset) do
      if not known[field] then
        fail(("preset %s: no field %q%s"):format(name, tostring(field),
          suggest.hint(tostring(field), tables.keys(known), "there are")))
      end
      local ok, message = pcall(fields.convert, known[field], value)
      if not ok then
        fail(("preset %s: %s"):format(name, message))
      end
    end
  end
  if not definition.presets.mini then
    fail(("presets: expected a preset mini, the default, got %s"):format(
      table.concat(tables.keys(definition.presets), ", ")))
  end
end

-- Raises an error unless the longer problems change options of the task.
local function check_longer(fail, definition)
  local longer, names = definition.longer, tables.map(tasks.options(definition.task),
    function(row) return (row[2].smallest or tonumber(row[3])) and row[1] end)
  if longer ~= nil and type(longer) ~= "table" and type(longer) ~= "function" then
    fail("longer: expected a list of options or a function, got " .. options_of.shown(longer))
  end
  for _, name in ipairs(type(longer) == "table" and longer or {}) do
    if not tables.set(names)[name] then
      fail(("longer: %s is not an option of the task with a number%s"):format(
        options_of.shown(name), suggest.hint(tostring(name), names, "there are")))
    end
  end
  if definition.times and not longer then
    fail("times: has an effect only with longer, the options of the task to multiply")
  end
  for _, times in ipairs(definition.times or {}) do
    if options_of.mismatch("positive", times) then
      fail("times: expected positive numbers, got " .. options_of.shown(times))
    end
  end
end

-- Returns the checked definition of an experiment.
local function check(where, given)
  local function fail(text)
    error(("%s: %s"):format(where, text), 0)
  end
  local ok, definition = pcall(options_of.check, "", given, MEMBERS, 0)
  if not ok then
    fail((definition:gsub("^: ", "")))
  end
  local refusal = options_of.refusal(tasks.list(), definition.task)
  if refusal then
    fail("task: " .. refusal)
  end
  refusal = definition.measure ~= nil and options_of.refusal(M.MEASURES, definition.measure)
  if refusal then
    fail("measure: " .. refusal)
  end
  local model = definition.model
  model = type(model) == "table" and model.name or model
  refusal = model ~= nil and options_of.refusal(models.names(), model)
  if refusal or type(definition.model) == "table" and modules.find_class(model) ~= definition.model
  then
    fail("model: " .. (refusal or "expected the last class of its name, got another one"))
  end
  definition.model = model
  check_presets(fail, definition)
  check_longer(fail, definition)
  return definition
end

--- Registers an experiment of your own, so that its name can be used like that of any other:
--- in `roper train`, `sweep` and `study` with --load. A task from `roper.tasks.register` is an
--- experiment of its name without this; register one to set presets, a measure or a model.
---
--- Errors: the name of an experiment in a file of roper; an unknown member; a task, measure, model
--- or field that does not exist.
---
---     > roper.experiment.register("short_copy", {task = "copy",
---     >>   presets = {mini = {letters = 4, length = 33, steps = 300}}})
---     > roper.experiment.configure("short_copy", {seed = 2}).letters
---     4
---@param name string letters, digits and "_"; begins with a letter
---@param definition ExperimentDefinition what files in scripts/experiments return; `summary` and
---   `presets` may be missing
function M.register(name, definition)
  local lead, mark = registered.file(2)
  if type(name) ~= "string" or not name:match "^%a[%w_]*$" then
    error(("%sexperiment.register: expected a name of letters, digits and _, got %s"):format(lead,
      options_of.shown(name)), 0)
  elseif tables.set(files.modules(FOLDER))[name] then
    error(("%sexperiment.register: %s is a built-in experiment; choose another name"):format(lead,
      name), 0)
  end
  local checked = check(("experiment %s%s"):format(name, mark), definition)
  registered.claim("experiment", name, 2)
  own[name] = checked
end

return M
