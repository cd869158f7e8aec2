--- Saves and loads models and training states. Both are safetensors files; values other than
--- tensors are JSON in the metadata.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local model_metadata = require "roper.model.metadata"
local numbers = require "roper.text.format.number"
local options_of = require "roper.options.rows"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"
local weights = require "roper.model.parameters"
local tensor_file = require "roper.tensor.file"

local M = tables.merged((require "roper.model.file"))

M.options, M.load_state = model_metadata.options, weights.load_state

---@class TrainingState
---@field model Module
---@field optimizer Optimizer
---@field task task
---@field config table configuration of the run, in a form that JSON can represent
---@field steps integer the step at which training ends
---@field step integer steps done so far
---@field sum number sum of the losses since the last entry of the metrics
---@field count integer number of these losses
---@field norm? number gradient norm of the last step, for that entry

-- Returns the arguments of `arguments.check` for a state.
local function fields_of(state)
  local optimizer = state.optimizer
  return "state.model", "module", state.model, "state.optimizer", "optimizer", optimizer,
    "state.optimizer.state", "table", type(optimizer) == "table" and optimizer.state,
    "state.task", "task", state.task, "state.config", "table", state.config,
    "state.steps", "count", state.steps, "state.step", "count", state.step, "state.sum",
    "real", state.sum, "state.count", "count", state.count, "state.norm", "real?", state.norm
end

--- Saves the complete state of a training run, including that of the random generators.
---
--- Errors: the path cannot be written.
---
---     > state = {model = roper.nn.Linear{inputs = 1, outputs = 1}, step = 5,
---     >>   sum = 0, count = 0, optimizer = roper.optim.SGD(),
---     >>   task = roper.tasks.addition(), config = {}, steps = 10}
---     > path = os.tmpname()
---     > roper.checkpoint.save_training(path, state)
---     > select(2, roper.load_safetensors(path)).roper
---     "training"
---     > os.remove(path);
---@param path string
---@param state TrainingState
function M.save_training(path, state)
  arguments.check("checkpoint.save_training", "path", "string", path, "state", "table", state)
  arguments.check("checkpoint.save_training", fields_of(state))
  local tensors = weights.collect(state.model, "model.", {})
  for i, moments in pairs(state.optimizer.state) do
    arguments.check("checkpoint.save_training", "state.optimizer.state: an index", "size", i,
      "state.optimizer.state: element " .. tostring(i), "table", moments)
    for name, tensor in pairs(moments) do
      tensors[("optimizer.%d.%s"):format(i, name)] = tensor
    end
  end
  local task_seed, task_counter = state.task:random()
  local seed, counter = core.random_state()
  core.save_safetensors(path, tensors, tables.merged(model_metadata.of(state.model), {
    roper = "training",
    settings = model_metadata.settings(state.model),
    config = core.json_encode(state.config),
    state = core.json_encode {
      step = state.step,
      sum = state.sum,
      count = state.count,
      norm = state.count > 0 and state.norm or nil,
      optimizer_count = state.optimizer.count,
      task = { task_seed, task_counter },
      random = { seed, counter },
    },
  }))
end

-- Formats a value of a configuration for messages.
local function text(value)
  if type(value) == "number" then
    return numbers.exact(value)
  end
  return value == nil and "nil" or type(value) == "string" and value or core.json_encode(value)
end

-- Adds the differences of two configurations to a list, as text in the order of names. False equals
-- absent.
local function differences(a, b, prefix, list)
  for _, name in ipairs(tables.keys(a, b)) do
    local there, here = a[name], b[name]
    if type(there) == "table" and type(here) == "table" then
      differences(there, here, prefix .. name .. ".", list)
    elseif (there or nil) ~= (here or nil) then
      list[#list + 1] = ("%s%s is %s in the file, %s in this run"):format(prefix, name, text(there),
        text(here))
    end
  end
  return list
end

-- Adds the defaults of options that did not exist when a file was written to the configuration from
-- the file.
local function completed(config, state)
  for name, part in pairs { model = state.model, optimizer = state.optimizer } do
    local there, here = config[name], state.config[name]
    if part.options_class and type(there) == "table" and type(here) == "table" then
      local defaults = options_of.completed(part.options_class, {})
      for option in pairs(here) do
        there[option] = there[option] == nil and defaults[option] or there[option]
      end
    end
  end
  return config
end

-- Raises an error if a state does not have the form that `save_training` writes.
local function check_state(path, saved)
  local function expect(name, what, fits)
    if not fits(saved[name]) then
      error(("%s: damaged: %s of its state: expected %s, got %s"):format(path, name, what,
        type(saved[name]) == "table" and core.json_encode(saved[name]) or tostring(saved[name])), 0)
    end
  end
  local function is_count(value)
    return math.type(value) == "integer" and value >= 0
  end
  local function is_pair(value)
    return type(value) == "table" and math.type(value[1]) == "integer"
      and math.type(value[2]) == "integer" and #value == 2
  end
  for _, name in ipairs { "step", "count", "optimizer_count" } do
    expect(name, "a non-negative integer", is_count)
  end
  expect("sum", "a number", function(value) return type(value) == "number" end)
  expect("task", "two integers", is_pair)
  expect("random", "two integers", is_pair)
end

-- Reads a training checkpoint: its tensors, its metadata, and the state in the metadata.
local function read_training(path)
  local tensors, metadata = tensor_file.load_safetensors(path)
  if metadata.roper ~= "training" then
    error(path .. ": expected a training checkpoint, got another safetensors file", 0)
  end
  local saved = model_metadata.decode(path, metadata, "state")
  check_state(path, saved)
  return tensors, metadata, saved
end

-- Returns the optimizer's moments from the tensors of a file, by the index of their parameter.
-- Raises an error if they are not moments of this optimizer.
local function moments_of(path, tensors, optimizer, parameters)
  local function refuse(name, expected)
    error(("%s: damaged: %s: expected %s"):format(path, name, expected), 0)
  end
  local state = {}
  for name, tensor in pairs(tensors) do
    local digits, moment = name:match "^optimizer%.([1-9]%d*)%.(%a+)$"
    local index = math.tointeger(tonumber(digits))
    if index and parameters[index] then
      weights.compare(path, name, parameters[index], tensor)
      state[index] = state[index] or {}
      state[index][moment] = tensor
    elseif not name:match "^model%." then
      refuse(name, "only parameters of the model and moments of the optimizer")
    end
  end
  local wanted = tables.set(optimizer.moments)
  for index, moments in pairs(state) do
    for _, name in ipairs(optimizer.moments) do
      if not moments[name] then
        refuse(("optimizer.%d"):format(index), name .. ", got none")
      end
    end
    for name in pairs(moments) do
      if not wanted[name] then
        refuse(("optimizer.%d.%s"):format(index, name), table.concat(optimizer.moments, ", "))
      end
    end
  end
  return state
end

--- Loads a file from `save_training` into a state, its task and the random generator. If an error
--- is raised, nothing is changed.
---
--- Errors: the file is damaged, has another configuration, a step after `state.steps`, or moments
--- of another optimizer.
---
---     > state = {model = roper.nn.Linear{inputs = 1, outputs = 1}, step = 5,
---     >>   sum = 0, count = 0, optimizer = roper.optim.SGD(),
---     >>   task = roper.tasks.addition(), config = {}, steps = 10}
---     > path = os.tmpname()
---     > roper.checkpoint.save_training(path, state)
---     > state.step = 0
---     > roper.checkpoint.load_training(path, state)
---     > state.step
---     5
---     > os.remove(path);
---@param path string
---@param state TrainingState its step, sum and count are set
function M.load_training(path, state)
  arguments.check("checkpoint.load_training", "path", "string", path, "state", "table", state)
  arguments.check("checkpoint.load_training", fields_of(state))
  local tensors, metadata, saved = read_training(path)
  local differing = differences(completed(model_metadata.decode(path, metadata, "config"), state),
    core.json_decode(core.json_encode(state.config)), "", {})
  if #differing > 0 then
    error(("%s: has another configuration: %s"):format(path,
      table.concat(differing, "; ")), 0)
  end
  if saved.step > state.steps then
    error(("%s: expected a checkpoint of step %d or before, got step %d"):format(path, state.steps,
      saved.step), 0)
  end
  weights.check(path, state.model, "model.", tensors)
  local found = model_metadata.settings_in(path, metadata)
  local moments = moments_of(path, tensors, state.optimizer, state.model:parameters())
  settings.apply(path, state.model, found)
  weights.load_state(path, state.model, "model.", tensors)
  state.optimizer.count, state.optimizer.state = saved.optimizer_count, moments
  state.task:set_random(saved.task[1], saved.task[2])
  core.random_state(saved.random[1], saved.random[2])
  state.step, state.sum, state.count = saved.step, saved.sum, saved.count
  state.norm = math.type(saved.norm) and saved.norm or nil
end

--- Returns the number of steps done in a training checkpoint.
---
--- Errors: the file is damaged or not a training checkpoint.
---
---     > state = {model = roper.nn.Linear{inputs = 1, outputs = 1}, step = 5,
---     >>   sum = 0, count = 0, optimizer = roper.optim.SGD(),
---     >>   task = roper.tasks.addition(), config = {}, steps = 10}
---     > path = os.tmpname()
---     > roper.checkpoint.save_training(path, state)
---     > roper.checkpoint.training_step(path)
---     5
---     > os.remove(path);
---@param path string of a file from `save_training`
---@return integer step
function M.training_step(path)
  arguments.check("checkpoint.training_step", "path", "string", path)
  local _, _, saved = read_training(path)
  return saved.step
end

return M
