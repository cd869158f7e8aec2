--- Saves and loads models and training states. Both are safetensors files; values other than
--- tensors are JSON in the metadata.
local arguments = require "roper.base.arguments"
local core = require "roper.core"
local files = require "roper.base.file"
local hooks = require "roper.model.hooks"
local load_option = require "roper.base.load_option"
local modules = require "roper.model.module"
local Module = modules.Module
local numbers = require "roper.base.format.number"
local options_of = require "roper.base.options"
local position = require "roper.position"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"

local M = {}

-- Returns the tensors of a training checkpoint that belong to its model, and metadata with the
-- model's options. Returns nil if a file of an older version of roper has no options.
local function model_in(tensors, metadata)
  local config = files.parse(metadata.config or "{}") or {}
  local options = metadata.options
    or type(config.model) == "table" and config.model.vocabulary and core.json_encode(config.model)
  local parameters = {}
  for name, tensor in pairs(tensors) do
    local short = name:match "^model%.(.*)$"
    parameters[short or false] = tensor
  end
  parameters[false] = nil
  return options and parameters, tables.merged(metadata, { options = options or nil })
end

--- Loads a file: npy, safetensors, a model from `save`, or the model in a checkpoint of a run. The
--- content determines the format, not the name. For the folder of a run, it loads its last
--- checkpoint.
---
--- Errors: the file is missing, damaged or of another kind; a model's class or position scheme is
--- not registered; a file of --load has another content than when the model was saved.
---
---     > path = os.tmpname() .. ".npy"
---     > roper.save(path, roper.eye(2))
---     > roper.load(path)
---     float32 [2, 2]
---     1 0
---     0 1
---     > os.remove(path);
---@param path string
---@return tensor|table<string, tensor>|Module value
---@return table? metadata of a safetensors file: strings by name
function M.load(path)
  arguments.check("load", "path", "string", path)
  local stat = files.stat(path)
  local is_folder = stat and stat.type == "directory"
  if is_folder then
    path = path:gsub("/+$", "") .. "/checkpoint.safetensors"
  end
  local value, metadata = core.load(path)
  if not metadata then -- of npy
    return value
  elseif metadata.roper == "model" then
    return M.restore_model(path, value, metadata)
  end
  local parameters, with_options
  if metadata.roper == "training" then
    parameters, with_options = model_in(value, metadata)
  end
  if parameters then
    return M.restore_model(path, parameters, with_options)
  elseif is_folder then
    error(("load: %s does not contain the options of its model; use roper.runs.model for a run of "
      .. "an experiment"):format(path), 0)
  end
  return value, metadata
end

--- Saves a tensor (.npy), tensors by name (.safetensors) or a model. The file is replaced
--- atomically: it is either the old one or the complete new one.
---
--- Errors: the path has another extension (tensors only) or cannot be written.
---
---     > path = os.tmpname() .. ".safetensors"
---     > roper.save(path, {w = roper.zeros{2}}, {made = "here"})
---     > roper.load(path)
---     {w = float32 [2]}	{made = "here"}
---     > os.remove(path);
---@param path string
---@param value tensor|table<string, tensor>|Module
---@param ... table? metadata, strings by name; only with tensors by name
function M.save(path, value, ...)
  if type(value) == "table" and value.named_parameters then
    return M.save_model(path, value)
  end
  return core.save(path, value, ...)
end

-- Adds the parameters by name to `tensors`, detached and contiguous.
local function collect(model, prefix, tensors)
  hooks.refuse(model, "save")
  for _, entry in ipairs(model:named_parameters()) do
    tensors[prefix .. entry.name] = entry.tensor:detach():contiguous()
  end
  return tensors
end

--- Returns the options a model was created from, in a form that JSON can represent. A position
--- scheme becomes the options that recreate it.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > roper.checkpoint.options(model).d_model
---     8
---@param model Transformer
---@return table options
function M.options(model)
  arguments.check("checkpoint.options", "model", "table", model)
  local given = settings.options(model)
  local result = tables.merged(type(given) == "table" and given or nil)
  result.position = settings.plain(result.position)
  return result
end

-- Returns the settings of a model as JSON; nil if there are none.
local function encoded_settings(model)
  local found = settings.changed(model)
  return #found > 0 and core.json_encode { settings = found } or nil
end

-- Returns the class and the options, as JSON, from which a model can be created again; nil if it
-- cannot. The class is nil for a Transformer.
local function recipe_of(model)
  if model.options_class and model.options then
    return nil, core.json_encode(M.options(model))
  end
  local class, options = modules.origin(model)
  local ok, text = pcall(function()
    options.position = settings.plain(options.position)
    return core.json_encode(options)
  end)
  if class and ok then
    return class, text
  end
end

-- Returns the metadata of a file with a model: its class, unless it is Transformer, its options,
-- and its settings (of a Transformer, those that changed since it was created); nil if there is
-- nothing to save.
local function metadata_of(model)
  local class, options = recipe_of(model)
  local replaced = options and settings.replaced(model) or {}
  local metadata = {
    roper = options and "model" or nil,
    class = class,
    options = options,
    settings = encoded_settings(model),
    loaded = options and load_option.text(),
    replaced = #replaced > 0 and table.concat(replaced, ", ") or nil,
  }
  return next(metadata) and metadata or nil
end

--- Saves a module's parameters and settings and, for a model that a table of options created, its
--- class and these options. The settings are fields such as `epsilon`, which the class names in its
--- list `settings`.
---
--- Errors: the path cannot be written.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > path = os.tmpname()
---     > roper.checkpoint.save_model(path, model)
---     > roper.load(path):count() == model:count()
---     true
---     > os.remove(path);
---@param path string
---@param model Module
function M.save_model(path, model)
  arguments.check("checkpoint.save_model", "path", "string", path, "model", "module", model)
  core.save_safetensors(path, collect(model, "", {}), metadata_of(model))
end

--- Saves the parameters and settings to a safetensors file. For a Transformer, and for a model of a
--- class of your own that was created from a table of options, the file also contains the options
--- and `roper.load` returns the model. For any other module, create the module and load the file
--- with `Module:load`.
---
--- Settings are fields that change the results, such as `epsilon` of a norm. A file cannot contain
--- methods and modules that were replaced in a Transformer: `roper.load` refuses such a file.
---
--- Errors: the path cannot be written.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > path = os.tmpname()
---     > model:save(path)
---     > roper.load(path):count() == model:count()
---     true
---     > os.remove(path);
---@param path string
function Module:save(path)
  arguments.self("Module:save", self, Module)
  M.save_model(path, self)
end

-- Describes a tensor by its shape, and by its dtype if it differs from that of `other`.
local function kind(tensor, other)
  local shape = "[" .. table.concat(tensor:shape(), ", ") .. "]"
  return other and tensor:dtype() ~= other:dtype() and tensor:dtype() .. " " .. shape or shape
end

-- Raises an error if a tensor of the model (`here`) and the one of the same name in the file
-- (`there`) differ in shape or dtype, or if one of them is missing.
local function compare(path, name, here, there)
  local expected = here and kind(here, there) or "missing"
  local got = there and kind(there, here) or "missing"
  if expected ~= got then
    error(("%s: belongs to another model: %s is %s in this model, %s in the file"):format(path,
      name, expected, got), 0)
  end
end

-- Raises an error unless the tensors are exactly the parameters of a model.
local function check(path, model, prefix, tensors)
  local known, others = {}, {}
  for _, entry in ipairs(model:named_parameters()) do
    compare(path, entry.name, entry.tensor, tensors[prefix .. entry.name])
    known[prefix .. entry.name] = true
  end
  for name in pairs(tensors) do
    others[#others + 1] = name:sub(1, #prefix) == prefix and not known[name] and name or nil
  end
  table.sort(others)
  if others[1] then
    compare(path, others[1]:sub(#prefix + 1), nil, tensors[others[1]])
  end
end

--- Copies tensors by name into a model's parameters. If any of them does not match, nothing is
--- changed.
---
--- Errors: a tensor is missing, has another shape or dtype, or is not a parameter of the model.
---
---     > linear = roper.nn.Linear{inputs = 2, outputs = 1, bias = false}
---     > tensors = {["a.weight"] = roper.tensor{{1, 2}}}
---     > roper.checkpoint.load_state("a file", linear, "a.", tensors)
---     > linear.weight
---     float32 [1, 2]
---     1 2
---@param path string for messages
---@param model Module
---@param prefix string before each name in the file
---@param tensors table<string, tensor> by name
function M.load_state(path, model, prefix, tensors)
  arguments.check("checkpoint.load_state", "path", "string", path, "model", "module", model,
    "prefix", "string", prefix, "tensors", "table", tensors)
  check(path, model, prefix, tensors)
  for _, entry in ipairs(model:named_parameters()) do
    entry.tensor:copy(tensors[prefix .. entry.name])
  end
end

-- Decodes an entry of a file's metadata, which must be a JSON object.
local function decode(path, metadata, name)
  local text = metadata[name]
  return files.parse(text or "") or error(("%s: metadata %q: expected a JSON object, got %s")
    :format(path, name, text or "none"), 0)
end

-- Compares the options with the tensors of the file before the model is created, so that a damaged
-- file cannot request a huge allocation.
local function check_sizes(path, options, tensors)
  local function expect(name, rows, columns)
    local wanted = ("[%d, %d]"):format(rows, columns)
    local got = tensors[name] and kind(tensors[name]) or "missing"
    if got ~= wanted then
      error(("%s: belongs to another model: its options require %s to be %s, but it is %s"):format(
        path, name, wanted, got), 0)
    end
  end
  local sizes = {}
  for _, name in ipairs { "vocabulary", "d_model", "layers", options.d_ff and "d_ff" } do
    sizes[name] = math.type(options[name]) == "integer" and options[name] or error(
      ("%s: damaged: %s of its options: expected an integer, got %s"):format(path, name,
        tostring(options[name])), 0)
  end
  local width = sizes.d_model
  expect("embedding.weight", sizes.vocabulary, width)
  for i = 1, sizes.layers do
    expect(("layers.%d.attention.query.weight"):format(i), width, width)
    expect(("layers.%d.feed_forward.inner.weight"):format(i), sizes.d_ff or 4 * width, width)
  end
end

-- Returns the settings in a file.
local function settings_in(path, metadata)
  if not metadata.settings then
    return {}
  end
  local list = decode(path, metadata, "settings").settings
  local is_valid = type(list) == "table"
  for _, setting in ipairs(is_valid and list or {}) do
    is_valid = is_valid and type(setting) == "table" and type(setting[1]) == "string"
  end
  return is_valid and list or error(path .. ": damaged: metadata \"settings\": expected a list of "
    .. "names and values", 0)
end

--- Loads the parameters and settings from a file that `save` wrote for a module with the same
--- parameters. If any of them does not match, nothing is changed.
---
--- Errors: the file cannot be read; a tensor is missing, has another shape or dtype, or is not a
--- parameter of the module.
---
---     > one = roper.nn.Linear{inputs = 2, outputs = 1}
---     > path = os.tmpname()
---     > one:save(path)
---     > other = roper.nn.Linear{inputs = 2, outputs = 1}:load(path)
---     > (one.weight - other.weight):abs():max():item()
---     0.0
---     > os.remove(path);
---@param path string
---@return Module self
function Module:load(path)
  arguments.self("Module:load", self, Module)
  local tensors, metadata = core.load_safetensors(path)
  local undo = settings.apply(path, self, settings_in(path, metadata))
  local ok, message = pcall(M.load_state, path, self, "", tensors)
  if not ok then
    undo()
    error(message, 0)
  end
  return self
end

--- Creates a model from the tensors and metadata of a file.
---
--- Errors: the tensors do not match the options; the position scheme or the class is not
--- registered; the saved model had methods or modules that were replaced.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > path = os.tmpname()
---     > model:save(path)
---     > tensors, metadata = roper.load_safetensors(path)
---     > roper.checkpoint.restore_model(path, tensors, metadata):count() > 0
---     true
---     > os.remove(path);
---@param path string for messages
---@param tensors table<string, tensor> by name
---@param metadata table<string, string>
---@return Transformer model
function M.restore_model(path, tensors, metadata)
  arguments.check("checkpoint.restore_model", "path", "string", path,
    "tensors", "table", tensors, "metadata", "table", metadata)
  local edited = load_option.edited(metadata.loaded)
  if edited then
    error(("%s: made with %s; load the same files with --load"):format(path, edited), 0)
  end
  local options = decode(path, metadata, "options")
  local missing = position.missing(options.position)
  if not metadata.class then
    check_sizes(path, options, tensors)
  end
  if missing then
    error(("%s: needs the position scheme %s: register it first (roper.position.register)"):format(
      path, missing), 0)
  end
  if metadata.replaced then
    error(("%s: modules or methods of the saved model were replaced, which a file cannot contain: "
      .. "%s; create the model, replace them again and load its parameters with model:load(path)")
      :format(path, metadata.replaced), 0)
  end
  local class = metadata.class and modules.find_class(metadata.class)
  if metadata.class and not class then
    error(("%s: needs the model class %s: define it first (roper.nn.class), in the shell with "
      .. "--load FILE"):format(path, metadata.class), 0)
  end
  local model = (class or require("roper.model.transformer").Transformer)(options)
  settings.apply(path, model, settings_in(path, metadata))
  M.load_state(path, model, "", tensors)
  return model
end

---@class TrainingState
---@field model Module
---@field optimizer Adam|SGD
---@field task task
---@field config table configuration of the run, in a form that JSON can represent
---@field steps integer the step at which training ends
---@field step integer steps done so far
---@field sum number sum of the losses since the last entry of the metrics
---@field count integer number of these losses
---@field norm? number gradient norm of the last step, for that entry

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
  arguments.check("checkpoint.save_training", "state.model", "module", state.model,
    "state.optimizer", "table", state.optimizer, "state.task", "task", state.task)
  local tensors = collect(state.model, "model.", {})
  for i, moments in pairs(state.optimizer.state) do
    for name, tensor in pairs(moments) do
      tensors[("optimizer.%d.%s"):format(i, name)] = tensor
    end
  end
  local task_seed, task_counter = state.task:random()
  local seed, counter = core.random_state()
  core.save_safetensors(path, tensors, tables.merged(metadata_of(state.model), {
    roper = "training",
    settings = encoded_settings(state.model),
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
-- absent: files from before an option was added lack it.
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
  local tensors, metadata = core.load_safetensors(path)
  if metadata.roper ~= "training" then
    error(path .. ": expected a training checkpoint, got another safetensors file", 0)
  end
  local saved = decode(path, metadata, "state")
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
      compare(path, name, parameters[index], tensor)
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
  local tensors, metadata, saved = read_training(path)
  local differing = differences(completed(decode(path, metadata, "config"), state),
    core.json_decode(core.json_encode(state.config)), "", {})
  if #differing > 0 then
    error(("%s: has another configuration: %s"):format(path,
      table.concat(differing, "; ")), 0)
  end
  if saved.step > state.steps then
    error(("%s: expected a checkpoint of step %d or before, got step %d"):format(path, state.steps,
      saved.step), 0)
  end
  check(path, state.model, "model.", tensors)
  local found = settings_in(path, metadata)
  local moments = moments_of(path, tensors, state.optimizer, state.model:parameters())
  settings.apply(path, state.model, found)
  M.load_state(path, state.model, "model.", tensors)
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
  local _, _, saved = read_training(path)
  return saved.step
end

return M
