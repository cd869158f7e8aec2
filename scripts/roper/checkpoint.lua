--- Files that hold a model or a whole training state. Both are safetensors; what is not a tensor
-- stands in the metadata as JSON.
local core = require "roper.core"

local M = {}

--- Read a file by its content: npy gives a tensor; safetensors a table of tensors and a table of
-- metadata, or a model where it was written by `model:save`.
-- @param path string
-- @return any
-- @return table? metadata
function M.load(path)
  local value, metadata = core.load(path)
  if type(metadata) == "table" and metadata.roper == "model" then
    return M.restore_model(path, value, metadata)
  end
  return value, metadata
end

--- Write a tensor (.npy), a table of tensors (.safetensors) or a model.
-- @param path string
-- @param value any
function M.save(path, value)
  if type(value) == "table" and value.named_parameters then
    return M.save_model(path, value)
  end
  return core.save(path, value)
end

--- Parameters by name, ready for a file.
local function collect(model, prefix, tensors)
  for _, entry in ipairs(model:named_parameters()) do
    tensors[prefix .. entry.name] = entry.tensor:detach():contiguous()
  end
  return tensors
end

--- Options that JSON can hold; a position scheme becomes the options that make it again.
local function plain(options)
  local result = {}
  for name, value in pairs(options) do
    result[name] = value
  end
  if type(result.position) == "userdata" then
    result.position = result.position:options()
    result.position.type = "rope"
  end
  return result
end

--- Write a model's parameters and the options it was made from.
-- @param path string
-- @param model Transformer
function M.save_model(path, model)
  core.save_safetensors(path, collect(model, "", {}), {
    roper = "model",
    options = core.json_encode(plain(model.options or {})),
  })
end

--- Copy tensors by name over a model's parameters; nothing is changed unless all fit.
-- @param path string for messages
-- @param model Transformer
-- @param prefix string before each name in the file
-- @param tensors table name to tensor
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
function M.restore_model(path, tensors, metadata)
  local model = require("roper.nn").Transformer(core.json_decode(metadata.options))
  M.fill(path, model, "", tensors)
  return model
end

--- Write the whole state of a training run. It replaces `path` at once or not at all.
-- @param path string
-- @param state table model, optimizer, task; step, config (a table that JSON can hold)
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
      optimizer_count = state.optimizer.count,
      task = { task_seed, task_counter },
      random = { seed, counter },
      best = state.best,
    },
  })
end

--- Say where two configurations differ, or nil.
local function difference(a, b)
  local names = {}
  for _, config in ipairs { a, b } do
    for name in pairs(config) do
      names[name] = true
    end
  end
  local differing = {}
  for name in pairs(names) do
    if core.json_encode { a[name] } ~= core.json_encode { b[name] } then
      differing[#differing + 1] = ("%s is %s there and %s here"):format(name, tostring(a[name]),
        tostring(b[name]))
    end
  end
  table.sort(differing)
  return differing[1] and table.concat(differing, "; ")
end

--- Read what `save_training` wrote into a model, an optimizer, a task and the random generator.
-- Nothing is changed when the file is damaged or belongs to another configuration.
-- @param path string
-- @param state table model, optimizer, task, config
-- @return table step, best
function M.load_training(path, state)
  local tensors, metadata = core.load_safetensors(path)
  if not metadata or metadata.roper ~= "training" then
    error(path .. ": expected a training checkpoint, found other tensors", 0)
  end
  local differs = difference(core.json_decode(metadata.config),
    core.json_decode(core.json_encode(state.config)))
  if differs then
    error(("%s: belongs to another configuration: %s"):format(path, differs), 0)
  end
  local saved = core.json_decode(metadata.state)
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
  return saved
end

return M
