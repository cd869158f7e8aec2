--- Runs a function with a changed setting and restores it, even after an error.
local core = require "roper.core"

local M = {}

--- Calls f, then `restore`, even if f raises an error.
---@param f function
---@param restore function
---@return any ... its results
function M.finally(f, restore)
  local _ <close> = setmetatable({}, { __close = function() restore() end })
  return f()
end

--- Calls f with a state of the random generator.
---@param seed integer
---@param counter integer
---@param f function
---@return any ... its results
function M.with_random_state(seed, counter, f)
  local seed_before, counter_before = core.random_state()
  core.random_state(seed, counter)
  return M.finally(f, function()
    core.random_state(seed_before, counter_before)
  end)
end

--- Calls f with the random generator set to a seed.
---@param seed integer
---@param f function
---@return any ... its results
function M.with_seed(seed, f)
  local before, counter = core.random_state()
  core.seed(seed)
  return M.finally(f, function()
    core.random_state(before, counter)
  end)
end

--- Calls f with a precision of matrix products.
---@param precision "float32"|"bfloat16"
---@param f function
---@return any ... its results
function M.with_matmul_precision(precision, f)
  local before = core.matmul_precision()
  core.matmul_precision(precision)
  return M.finally(f, function()
    core.matmul_precision(before)
  end)
end

--- Calls f with a model in evaluation mode: without dropout and gradients.
---@param model Module
---@param f function
---@return any ... its results
function M.without_training(model, f)
  local modules, states = model:named_modules(), {}
  for i, entry in ipairs(modules) do
    states[i] = entry.module.is_training
  end
  model:training(false)
  return M.finally(function()
    return core.no_grad(f)
  end, function()
    for i, entry in ipairs(modules) do
      entry.module.is_training = states[i]
    end
  end)
end

return M
