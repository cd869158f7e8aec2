--- Files that hold a model or a whole training state. Both are safetensors; what is not a tensor
--- stands in the metadata as JSON.
local core = require "roper.core"

local M = {}

--- Read a file by its content: npy, safetensors, or a model that `save` wrote.
---
--- Errors: a file that is missing, damaged or of another kind.
---
---     > path = os.tmpname() .. ".npy"
---     > roper.save(path, roper.eye(2))
---     > roper.load(path)
---     float32 [2, 2]
---     1 0
---     0 1
---     > os.remove(path);
---@param path string
---@return tensor|table<string, tensor>|Transformer value
---@return table? metadata of safetensors: strings by name
function M.load(path)
  local value, metadata = core.load(path)
  if not metadata then -- of npy
    return value
  elseif metadata.roper == "model" then
    return M.restore_model(path, value, metadata)
  end
  return value, metadata
end

--- Write a tensor (.npy), tensors by name (.safetensors) or a model. The path holds the old file or
--- the new one, never half of it.
---
--- Errors: a path that ends otherwise or can not be written.
---
---     > path = os.tmpname() .. ".safetensors"
---     > roper.save(path, {w = roper.zeros{2}}, {made = "here"})
---     > roper.load(path)
---     {w = float32 [2]}	{made = "here"}
---     > os.remove(path);
---@param path string
---@param value tensor|table<string, tensor>|Module
---@param ... table? metadata beside tensors by name: strings
function M.save(path, value, ...)
  if type(value) == "table" and value.named_parameters then
    return M.save_model(path, value)
  end
  return core.save(path, value, ...)
end

-- Parameters by name, ready for a file.
local function collect(model, prefix, tensors)
  for _, entry in ipairs(model:named_parameters()) do
    tensors[prefix .. entry.name] = entry.tensor:detach():contiguous()
  end
  return tensors
end

--- The options a model was made from, as JSON can hold them; a position scheme becomes the options
--- that make it again.
---
---     > model = roper.nn.Transformer{vocabulary = 4, d_model = 8, heads = 2}
---     > roper.checkpoint.options(model).d_model
---     8
---@param model Transformer
---@return table options
function M.options(model)
  local result = {}
  for name, value in pairs(model.options or {}) do
    result[name] = value
  end
  if type(result.position) == "userdata" then
    result.position = result.position:options()
    result.position.type = "rope"
  end
  return result
end

--- Write a module's parameters and, for a Transformer, the options it was made from.
---
--- Errors: a path that can not be written.
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
  local metadata = model.options
    and { roper = "model", options = core.json_encode(M.options(model)) }
  core.save_safetensors(path, collect(model, "", {}), metadata)
end

--- Copy tensors by name over a model's parameters; nothing is changed unless all fit.
---
--- Errors: a tensor that is missing or has another shape.
---
---     > linear = roper.nn.Linear{inputs = 2, outputs = 1, bias = false}
---     > tensors = {["a.weight"] = roper.tensor{{1, 2}}}
---     > roper.checkpoint.fill("a file", linear, "a.", tensors)
---     > linear.weight
---     float32 [1, 2]
---     1 2
---@param path string for messages
---@param model Module
---@param prefix string before each name in the file
---@param tensors table<string, tensor> by name
function M.fill(path, model, prefix, tensors)
  local entries = model:named_parameters()
  for _, entry in ipairs(entries) do
    local source = tensors[prefix .. entry.name]
    local expected = table.concat(entry.tensor:shape(), ", ")
    local got = source and table.concat(source:shape(), ", ")
    if expected ~= got then
      error(("%s: belongs to another model: %s is [%s] here and %s there"):format(path, entry.name,
        expected, got and "[" .. got .. "]" or "missing"), 0)
    end
  end
  for _, entry in ipairs(entries) do
    entry.tensor:copy(tensors[prefix .. entry.name])
  end
end

--- Make the model that a file describes.
---
--- Errors: tensors that do not fit the options.
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
  local model = require("roper.nn").Transformer(core.json_decode(metadata.options))
  M.fill(path, model, "", tensors)
  return model
end

---@class TrainingState
---@field model Module
---@field optimizer Adam|SGD
---@field task task
---@field config table what the run is, as JSON can hold it
---@field steps integer to train up to
---@field step integer done so far
---@field sum number of the losses since the last entry of the metrics
---@field count integer of these losses

--- Write the whole state of a training run.
---
--- Errors: a path that can not be written.
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
  local tensors = collect(state.model, "model.", {})
  for i, moments in pairs(state.optimizer.state) do
    for name, tensor in pairs(moments) do
      tensors[("optimizer.%d.%s"):format(i, name)] = tensor
    end
  end
  local task_seed, task_counter = state.task:random()
  local seed, counter = core.random_state()
  core.save_safetensors(path, tensors, {
    roper = "training",
    config = core.json_encode(state.config),
    state = core.json_encode {
      step = state.step,
      sum = state.sum,
      count = state.count,
      optimizer_count = state.optimizer.count,
      task = { task_seed, task_counter },
      random = { seed, counter },
    },
  })
end

-- Where two configurations differ, as sorted lines of text.
local function differences(a, b, prefix, list)
  local names = {}
  for _, config in ipairs { a, b } do
    for name in pairs(config) do
      names[name] = true
    end
  end
  for name in pairs(names) do
    local there, here = a[name], b[name]
    if type(there) == "table" and type(here) == "table" then
      differences(there, here, prefix .. name .. ".", list)
    elseif there ~= here then
      list[#list + 1] = ("%s%s is %s there and %s here"):format(prefix, name, tostring(there),
        tostring(here))
    end
  end
  table.sort(list)
  return list
end

--- Read what `save_training` wrote into a state and the random generator. Nothing is changed where
--- it is refused.
---
--- Errors: a damaged file, another configuration, a step past those asked for.
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
---@param state TrainingState step, sum and count are set
function M.load_training(path, state)
  local tensors, metadata = core.load_safetensors(path)
  if not metadata or metadata.roper ~= "training" then
    error(path .. ": expected a training checkpoint, found other tensors", 0)
  end
  local differing = differences(core.json_decode(metadata.config),
    core.json_decode(core.json_encode(state.config)), "", {})
  if #differing > 0 then
    error(("%s: belongs to another configuration: %s"):format(path,
      table.concat(differing, "; ")), 0)
  end
  local saved = core.json_decode(metadata.state)
  if saved.step > state.steps then
    error(("%s: is at step %d, past the %d asked for"):format(path, saved.step, state.steps), 0)
  end
  M.fill(path, state.model, "model.", tensors)
  state.optimizer.count = saved.optimizer_count
  state.optimizer.state = {}
  for name, tensor in pairs(tensors) do
    local place, moment = name:match "^optimizer%.(%d+)%.(%a+)$"
    if place then
      local moments = state.optimizer.state
      moments[tonumber(place)] = moments[tonumber(place)] or {}
      moments[tonumber(place)][moment] = tensor
    end
  end
  state.task:set_random(saved.task[1], saved.task[2])
  core.random_state(saved.random[1], saved.random[2])
  state.step, state.sum, state.count = saved.step, saved.sum, saved.count
end

return M
