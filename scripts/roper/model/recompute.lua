--- Activation checkpointing (Chen et al. 2016): a part of a model keeps only its input, and the
--- backward pass recomputes the rest. The recomputation restores the random state, the fields of
--- modules and the precision of matrix products of the forward pass. It raises an error if a tensor
--- has been changed in place since.
local core = require "roper.core"
local format = require "roper.text.format"
local hooks = require "roper.attention.hooks"
local tables = require "roper.base.tables"
local scoped = require "roper.base.scoped"
local traverse = require "roper.model.traverse"

-- Growth of tensor memory, in bytes, that triggers a garbage collection.
local GROWTH <const> = 64 << 20

local after = 0 -- bytes of live tensors after the last check

-- Frees the activations inside a part, which are garbage after its forward pass. Without this call,
-- bindings/handle.c would start a collection only after tensor memory has grown by half.
local function collect()
  local live = core.memory().live
  if live > after + GROWTH then
    collectgarbage()
    live = core.memory().live
  end
  after = live
end

-- Returns copies of the fields of a module and of every table in it, and all tensors among them.
local function state_of(module)
  local fields, tensors = { [module] = tables.merged(module) }, {}
  traverse.walk(module, function(_, value)
    if format.is_tensor(value) then
      tensors[#tensors + 1] = value
    elseif type(value) == "table" then
      fields[value] = tables.merged(value)
    end
  end)
  return fields, tensors
end

-- Sets the fields of tables to the given ones; returns the previous fields.
local function set(fields)
  local before = {}
  for holder, values in pairs(fields) do
    before[holder] = tables.merged(holder)
    for name in pairs(before[holder]) do
      rawset(holder, name, values[name])
    end
    for name, value in pairs(values) do
      rawset(holder, name, value)
    end
  end
  return before
end

-- Calls f with the fields, random state, precision of matrix products and hooks of the forward
-- pass, then restores the current ones.
local function as_before(fields, drawn, precision, outputs, f)
  local now, changed = { core.random_state() }, set(fields)
  core.random_state(table.unpack(drawn))
  return scoped.finally(function()
    return hooks.scoped(hooks.current, outputs, function()
      return scoped.with_matmul_precision(precision, f)
    end)
  end, function()
    set(changed)
    core.random_state(table.unpack(now))
  end)
end

--- Returns f(x, ...) and recomputes its activations in the backward pass. Gradients flow to x and
--- to parameters. They are bit-identical to those without recomputation, even if fields of modules,
--- `training` or the precision of matrix products have changed since. If f is a plain function, the
--- values it reads besides its arguments must not change.
---
--- Errors: in backward, x, another argument or a tensor of the module was changed in place.
---@param f Module|function of tensors
---@param x tensor
---@param ... any further arguments of f; no gradient flows to them
---@return tensor y
return function(f, x, ...)
  if not core.is_recording() then
    return f(x, ...)
  end
  local given, drawn = table.pack(...), { core.random_state() }
  local precision, outputs, fields, tensors = core.matmul_precision(), hooks.outputs, {}, {}
  if type(f) == "table" then
    fields, tensors = state_of(f)
  end
  for i = 1, given.n do
    tensors[#tensors + 1] = format.is_tensor(given[i]) and given[i] or nil
  end
  local function again(input)
    return f(input, table.unpack(given, 1, given.n))
  end
  local function backward(dy, input)
    local leaf = input:detach():parameter()
    core.enable_grad(function()
      as_before(fields, drawn, precision, outputs, function() return again(leaf) end):backward(dy)
    end)
    collect()
    return leaf.grad, core.zeros {}
  end
  -- The parameters of f are not inputs of this node; an empty parameter makes the graph record it
  -- anyway. The detached tensors get no gradient; the graph checks that they do not change.
  local y = core.differentiable(again, backward)(x, core.zeros({}):parameter(),
    table.unpack(tables.map(tensors, function(tensor) return tensor:detach() end)))
  collect()
  return y
end
