--- Activation checkpointing (Chen et al. 2016): a part of a model keeps its input alone, and the
--- backward pass computes the rest again from what the forward pass saw: the same draws, fields of
--- modules and precision of products. Tensors that were changed in place since are refused.
local core = require "roper.core"
local format = require "roper.base.format"
local tables = require "roper.base.tables"
local scoped = require "roper.base.scoped"
local traverse = require "roper.model.traverse"

-- Bytes of tensors that nobody needs any more, at least, before they are looked for.
local LEAST <const> = 64 << 20

local after = 0 -- bytes that lived after the last look

-- What is inside a part is for the collector, which must not wait until memory has grown by half.
local function collect()
  local live = core.memory().live
  if live > after + LEAST then
    collectgarbage()
    live = core.memory().live
  end
  after = live
end

-- The fields of a module and of every table below it, and all tensors among them.
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

-- Set the fields of tables to those they had; returns what they were.
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

-- Call f with fields of tables, the generator and the precision of products as they were.
local function as_before(fields, drawn, precision, f)
  local now, changed = { core.random_state() }, set(fields)
  core.random_state(table.unpack(drawn))
  return scoped.finally(function()
    return scoped.with_matmul_precision(precision, f)
  end, function()
    set(changed)
    core.random_state(table.unpack(now))
  end)
end

--- f(x, ...), whose activations are computed again in the backward pass. Gradients flow to x and to
--- parameters, and have the same bits as without it, also if fields of modules, `training` or the
--- precision of products changed since. What a plain function reads besides its arguments must not
--- change.
---
--- Errors: in backward, if x, another argument or a tensor of the module was changed in place.
---@param f Module|function of tensors
---@param x tensor
---@param ... any what f takes besides; no gradient flows to it
---@return tensor y
return function(f, x, ...)
  if not core.is_recording() then
    return f(x, ...)
  end
  local given, drawn = table.pack(...), { core.random_state() }
  local precision, fields, tensors = core.matmul_precision(), {}, {}
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
      as_before(fields, drawn, precision, function() return again(leaf) end):backward(dy)
    end)
    collect()
    return leaf.grad, core.zeros {}
  end
  -- The parameters of f are no inputs: a parameter of no use makes the graph go through here.
  -- Inputs outside the graph are checked for changes by the graph, and get no gradient.
  local y = core.differentiable(again, backward)(x, core.zeros({}):parameter(),
    table.unpack(tables.map(tensors, function(tensor) return tensor:detach() end)))
  collect()
  return y
end
