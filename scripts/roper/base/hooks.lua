--- Hooks on the forward pass; off by default.
local tables = require "roper.base.tables"
local scoped = require "roper.base.scoped"

local M = {}

---@class Watcher
---@field call fun(module: Module, ...): any runs the forward pass of a module
---@field weights? fun(weights: tensor) called with the weights of each attention

M.current = nil ---@type Watcher?

--- Calls f with the hooks of a watcher.
---@param watcher Watcher
---@param f function
---@return any ... its results
function M.watched(watcher, f)
  local before = M.current
  M.current = watcher
  return scoped.finally(f, function()
    M.current = before
  end)
end

--- Is there a hook for attention weights?
---@return boolean
function M.wants_weights()
  return M.current ~= nil and M.current.weights ~= nil
end

--- Calls an attention function, and the hook with its weights: once, even if the function calls
--- another attention function.
---@param attention function
---@param q tensor
---@param k tensor
---@param v tensor
---@param options AttentionOptions?
---@return tensor output
---@return tensor weights
function M.attention(attention, q, k, v, options)
  local watcher = M.current
  local o, weights = M.watched({ call = watcher.call }, function()
    return attention(q, k, v, tables.merged(options, { weights = true }))
  end)
  watcher.weights(weights)
  return o, weights
end

return M
