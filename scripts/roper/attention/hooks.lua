--- Hooks on the forward pass of modules; off by default.
local core = require "roper.core"
local format = require "roper.text.format"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"

local M = {}

---@class Watcher
---@field call fun(module: Module, ...): any runs the forward pass of a module
---@field attention? fun(call: AttentionCall) called after each attention

--- A call of attention, as watchers see it.
---@class AttentionCall
---@field q tensor [batch, heads, queries, d]
---@field k tensor [batch, heads, keys, d]
---@field options AttentionOptions?
---@field weights tensor [batch, heads, queries, keys]
---@field scores fun(): tensor computes the scores before the softmax

M.current = nil ---@type Watcher?

M.outputs = nil ---@type table<Module, function[]>? the hooks on outputs, by module

--- Calls f with a watcher and hooks on outputs in place of the current ones.
---@param watcher Watcher?
---@param outputs table<Module, function[]>?
---@param f function
---@return any ... its results
function M.scoped(watcher, outputs, f)
  local watcher_before, outputs_before = M.current, M.outputs
  M.current, M.outputs = watcher, outputs
  return scoped.finally(f, function()
    M.current, M.outputs = watcher_before, outputs_before
  end)
end

--- Calls f with a watcher.
---@param watcher Watcher
---@param f function
---@return any ... its results
function M.watched(watcher, f)
  return M.scoped(watcher, M.outputs, f)
end

-- Raises an error unless a replacement has the type and shape of the output.
local function check(module, value, output)
  local function kind(x)
    return format.is_tensor(x) and format.summary(x) or type(x)
  end
  if kind(value) ~= kind(output) then
    error(("hook of %s: expected %s or nil, got %s"):format(getmetatable(module).name,
      kind(output), kind(value)), 0)
  end
  return value
end

-- Replaces the first of the results of a module.
local function replaced(module, given, output, ...)
  for _, hook in ipairs(M.outputs[module]) do
    local value = M.scoped(nil, nil, function()
      return (hook(output, module, table.unpack(given, 1, given.n)))
    end)
    output = value == nil and output or check(module, value, output)
  end
  return output, ...
end

--- Does any of these modules have a hook on its output?
---@param ... Module
---@return boolean
function M.of(...)
  for i = 1, select("#", ...) do
    if M.outputs and M.outputs[select(i, ...)] then
      return true
    end
  end
  return false
end

--- Runs the forward pass of a module, then the hooks on its output.
---@param module Module
---@param ... any its arguments
---@return any ... its results
function M.forward(module, ...)
  local outputs = M.outputs
  if not outputs or not outputs[module] then
    return module:forward(...)
  end
  return replaced(module, table.pack(...), module:forward(...))
end

--- Does a watcher want attention weights?
---@return boolean
function M.wants_weights()
  return M.current ~= nil and M.current.attention ~= nil
end

--- Calls an attention function, then the watcher: once, even if the function calls another
--- attention function.
---@param attention function
---@param scores fun(q: tensor, k: tensor, options: AttentionOptions?): tensor
---@param q tensor
---@param k tensor
---@param v tensor
---@param options AttentionOptions?
---@return tensor output
---@return tensor weights
function M.attention(attention, scores, q, k, v, options)
  local watcher = M.current
  -- For the scores, the attention is repeated: with the same state of the generator, and not seen
  -- by the watcher.
  local seed, counter = core.random_state()
  local o, weights = M.watched({ call = watcher.call }, function()
    return attention(q, k, v, tables.merged(options, { weights = true }))
  end)
  watcher.attention { q = q, k = k, options = options, weights = weights, scores = function()
    return M.scoped(nil, M.outputs, function()
      return scoped.with_random_state(seed, counter, function()
        return scores(q, k, options)
      end)
    end)
  end }
  return o, weights
end

return M
