--- Saves and loads models as safetensors files.
local arguments = require "roper.options.arguments"
local core = require "roper.core"
local files = require "roper.system.file"
local load_option = require "roper.options.load_option"
local model_metadata = require "roper.model.metadata"
local modules = require "roper.model.module"
local Module = modules.Module
local position = require "roper.position"
local settings = require "roper.model.settings"
local tables = require "roper.base.tables"
local weights = require "roper.model.parameters"
local tensor_file = require "roper.tensor.file"

local M = {}

-- Returns the tensors of a training checkpoint that belong to its model.
local function model_in(tensors)
  local parameters = {}
  for name, tensor in pairs(tensors) do
    local short = name:match "^model%.(.*)$"
    if short then
      parameters[short] = tensor
    end
  end
  return parameters
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
  local value, metadata = tensor_file.load(path)
  if not metadata then -- of npy
    return value
  elseif metadata.roper == "model" then
    return M.restore_model(path, value, metadata)
  end
  if metadata.roper == "training" and metadata.options then
    return M.restore_model(path, model_in(value), metadata)
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
  arguments.check("save", "path", "string", path, "value", "tensor|table", value)
  for name in pairs(type(value) == "table" and value or {}) do
    arguments.check("save", "value: name of a tensor", "string", name)
  end
  return core.save(path, value, ...)
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
  core.save_safetensors(path, weights.collect(model, "", {}), model_metadata.of(model))
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
  arguments.check("save", "path", "string", path)
  M.save_model(path, self)
end

-- Compares the options with the tensors of the file before the model is created, so that a damaged
-- file cannot request a huge allocation.
local function check_sizes(path, options, tensors)
  local function expect(name, rows, columns)
    local wanted = ("[%d, %d]"):format(rows, columns)
    local got = tensors[name] and weights.kind(tensors[name]) or "missing"
    if got ~= wanted then
      error(("%s: belongs to another model: its options require %s to be %s, but it is %s"):format(
        path, name, wanted, got), 0)
    end
  end
  local sizes = {}
  local more = tables.entries { [1] = options.d_ff and "d_ff", [2] = options.head_dim and "heads",
    [3] = options.head_dim and "head_dim" }
  for _, name in ipairs(tables.joined({ "vocabulary", "d_model", "layers" }, more)) do
    sizes[name] = math.type(options[name]) == "integer" and options[name] or error(
      ("%s: damaged: %s of its options: expected an integer, got %s"):format(path, name,
        tostring(options[name])), 0)
  end
  local width = sizes.d_model
  expect("embedding.weight", sizes.vocabulary, width)
  for i = 1, sizes.layers do
    expect(("layers.%d.attention.query.weight"):format(i),
      sizes.head_dim and sizes.heads * sizes.head_dim or width, width)
    expect(("layers.%d.feed_forward.inner.weight"):format(i), sizes.d_ff or 4 * width, width)
  end
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
  arguments.check("load", "path", "string", path)
  local tensors, metadata = tensor_file.load_safetensors(path)
  local undo = settings.apply(path, self, model_metadata.settings_in(path, metadata))
  local ok, message = pcall(weights.load_state, path, self, "", tensors)
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
  for name, text in pairs(metadata) do
    arguments.check("checkpoint.restore_model", "metadata: " .. tostring(name), "string", text)
  end
  for name, tensor in pairs(tensors) do
    arguments.check("checkpoint.restore_model", "tensors: " .. tostring(name), "tensor", tensor)
  end
  local edited = load_option.edited(metadata.loaded)
  if edited then
    error(("%s: made with %s; load the same files with --load"):format(path, edited), 0)
  end
  local options = model_metadata.decode(path, metadata, "options")
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
  settings.apply(path, model, model_metadata.settings_in(path, metadata))
  weights.load_state(path, model, "", tensors)
  return model
end

return M
