--- Doing something for a while: afterwards things are as they were, also after an error.
local core = require "roper.core"

local M = {}

--- Call f, and then `restore`, whatever happens.
---@param f function
---@param restore function
---@return any result the first of f
function M.finally(f, restore)
  local ok, result = pcall(f)
  restore()
  if not ok then
    error(result, 0)
  end
  return result
end

--- Call f with the generator at a seed.
---@param seed integer
---@param f function
---@return any result its first
function M.with_seed(seed, f)
  local before, counter = core.random_state()
  core.seed(seed)
  return M.finally(f, function()
    core.random_state(before, counter)
  end)
end

--- Call f while a model is used and not trained: without dropout and gradients.
---@param model Module
---@param f function
---@return any result its first
function M.without_training(model, f)
  local was_training = model.is_training
  model:training(false)
  return M.finally(function()
    return core.no_grad(f)
  end, function()
    model:training(was_training)
  end)
end

return M
