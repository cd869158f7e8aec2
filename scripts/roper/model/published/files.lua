--- Tensors in a folder of safetensors files: one file, or shards with an index.
local core = require "roper.core"
local files = require "roper.system.file"
local tables = require "roper.base.tables"
local tensor_file = require "roper.tensor.file"

local M = {}

local SINGLE <const>, INDEX <const> = "model.safetensors", "model.safetensors.index.json"

-- Decodes a JSON object.
local function object(path, text)
  local content, problem = core.json_decode(text)
  if type(content) ~= "table" or getmetatable(content) ~= nil then
    error(("%s: expected a JSON object%s"):format(path, problem and ": " .. problem or ""), 0)
  end
  return content
end

--- Reads a file that contains a JSON object.
---
--- Errors: the file is missing, or has another content.
---@param path string
---@return table content
function M.object(path)
  return object(path, files.read(path)
    or error(path .. ": expected a JSON object, found no file", 0))
end

--- Does a folder contain a model in Hugging Face's layout?
---@param folder string
---@return boolean yes
function M.has_model(folder)
  local content = files.decode(folder .. "/config.json")
  return content ~= nil and type(content.model_type) == "string"
end

-- Ends of the names of files that belong to a model without containing weights.
local BESIDE <const> = { "%.json$", "%.txt$", "%.model$", "%.jinja$", "%.tiktoken$" }

--- The names of the files beside weights and config.json, such as those of the tokenizer.
---@param folder string
---@return string[] names sorted
function M.beside(folder)
  return tables.map(files.names(folder), function(name)
    local fits = false
    for _, pattern in ipairs(BESIDE) do
      fits = fits or name:find(pattern) ~= nil
    end
    local stat = fits and files.stat(("%s/%s"):format(folder, name))
    return fits and name ~= "config.json" and name ~= INDEX and stat and stat.type == "file"
      and name or nil
  end)
end

--- Copies files from one folder to another, byte for byte.
---
--- Errors: a file that cannot be read or written.
---@param names string[]
---@param from string
---@param to string
function M.copy(names, from, to)
  for _, name in ipairs(names) do
    local path = ("%s/%s"):format(from, name)
    files.write(("%s/%s"):format(to, name), files.read(path)
      or error(("%s: the file disappeared while it was copied"):format(path), 0))
  end
end

-- The paths of the files in an index, each with the set of its tensors.
local function shards(folder, path)
  local map = M.object(path).weight_map
  if type(map) ~= "table" or getmetatable(map) ~= nil then
    error(("%s: expected an object weight_map"):format(path), 0)
  end
  local found = {}
  for name, file in pairs(map) do
    if type(file) ~= "string" or file:find "[/\\%z]" or not file:find "^[^.].*%.safetensors$" then
      error(("%s: weight_map: %s: expected the name of a safetensors file in %s, got %s"):format(
        path, name, folder, core.json_encode(file)), 0)
    end
    local part = ("%s/%s"):format(folder, file)
    found[part] = found[part] or {}
    found[part][name] = true
  end
  return found
end

-- Adds the tensors of a shard.
local function add_shard(tensors, path, names, index)
  local found = tensor_file.load_safetensors(path)
  for _, name in ipairs(tables.keys(found, names)) do
    if not names[name] then
      error(("%s: contains the tensor %s, which %s does not assign to it"):format(path, name,
        index), 0)
    elseif not found[name] then
      error(("%s: has no tensor %s, which %s assigns to it"):format(path, name, index), 0)
    end
    tensors[name] = found[name]
  end
end

--- Reads all tensors in a folder: those of model.safetensors or, without this file, of the files
--- in model.safetensors.index.json.
---
--- Errors: neither file exists; a shard is missing, or contains other tensors than the index says;
--- the index names a file outside the folder; a file is damaged.
---@param folder string
---@return table<string, tensor> tensors
function M.tensors(folder)
  local single, index = ("%s/%s"):format(folder, SINGLE), ("%s/%s"):format(folder, INDEX)
  if files.stat(single) then
    return (tensor_file.load_safetensors(single))
  elseif not files.stat(index) then
    local others = ""
    for _, name in ipairs(files.names(folder)) do
      others = name:find "%.bin$" and "; convert " .. name .. " with save_pretrained" or others
    end
    error(("%s: expected %s or %s, found neither%s"):format(folder, SINGLE, INDEX, others), 0)
  end
  local tensors, parts = {}, shards(folder, index)
  for _, path in ipairs(tables.keys(parts)) do
    if not files.stat(path) then
      error(("%s: names the file %s, which is missing"):format(index, path), 0)
    end
  end
  for _, path in ipairs(tables.keys(parts)) do
    add_shard(tensors, path, parts[path], index)
  end
  return tensors
end

return M
