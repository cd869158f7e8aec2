--- The parameters of a model as tensors by name, as in a file.
local arguments = require "roper.options.arguments"
local hooks = require "roper.model.hooks"

local M = {}

--- Adds the parameters of a model to tensors by name, detached and contiguous.
---
--- Errors: hooks are active in the model.
---@param model Module
---@param prefix string before each name
---@param tensors table<string, tensor>
---@return table<string, tensor> tensors
function M.collect(model, prefix, tensors)
  hooks.refuse(model, "save")
  for _, entry in ipairs(model:named_parameters()) do
    tensors[prefix .. entry.name] = entry.tensor:detach():contiguous()
  end
  return tensors
end

--- Describes a tensor by its shape, and by its dtype if it differs from that of `other`.
---@param tensor tensor
---@param other? tensor
---@return string
function M.kind(tensor, other)
  local shape = "[" .. table.concat(tensor:shape(), ", ") .. "]"
  return other and tensor:dtype() ~= other:dtype() and tensor:dtype() .. " " .. shape or shape
end

--- Raises an error if a tensor of the model (`here`) and the one of the same name in the file
--- (`there`) differ in shape or dtype, or if one of them is missing.
---@param path string for messages
---@param name string
---@param here? tensor
---@param there? tensor
function M.compare(path, name, here, there)
  local expected = here and M.kind(here, there) or "missing"
  local got = there and M.kind(there, here) or "missing"
  if expected ~= got then
    error(("%s: belongs to another model: %s is %s in this model, %s in the file"):format(path,
      name, expected, got), 0)
  end
end

--- Raises an error unless the tensors are exactly the parameters of a model.
---@param path string for messages
---@param model Module
---@param prefix string before each name in the file
---@param tensors table<string, tensor> by name
function M.check(path, model, prefix, tensors)
  local known, others = {}, {}
  for _, entry in ipairs(model:named_parameters()) do
    M.compare(path, entry.name, entry.tensor, tensors[prefix .. entry.name])
    known[prefix .. entry.name] = true
  end
  for name in pairs(tensors) do
    others[#others + 1] = name:sub(1, #prefix) == prefix and not known[name] and name or nil
  end
  table.sort(others)
  if others[1] then
    M.compare(path, others[1]:sub(#prefix + 1), nil, tensors[others[1]])
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
  for name, tensor in pairs(tensors) do
    arguments.check("checkpoint.load_state", "tensors: " .. tostring(name), "tensor", tensor)
  end
  M.check(path, model, prefix, tensors)
  for _, entry in ipairs(model:named_parameters()) do
    entry.tensor:copy(tensors[prefix .. entry.name])
  end
end

return M
