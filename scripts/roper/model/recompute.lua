--- Activation checkpointing (Chen et al. 2016): a part of a model keeps its input alone, and the
--- backward pass computes again what is inside, with the same draws.
local core = require "roper.core"
local temporarily = require "roper.base.temporarily"

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

--- f(x, ...), whose activations are computed again in the backward pass. Gradients flow to x and to
--- parameters, and have the same bits as without it.
---@param f function|Module of tensors
---@param x tensor
---@param ... any what f takes besides; no gradient flows to it
---@return tensor y
return function(f, x, ...)
  if not core.is_recording() then
    return f(x, ...)
  end
  local given, drawn = table.pack(...), { core.random_state() }
  local function again(input)
    return f(input, table.unpack(given, 1, given.n))
  end
  local function backward(dy, input)
    local now = { core.random_state() }
    local leaf = input:detach():parameter()
    core.random_state(table.unpack(drawn))
    temporarily.finally(function()
      core.enable_grad(function()
        again(leaf):backward(dy)
      end)
    end, function()
      core.random_state(table.unpack(now))
    end)
    collect()
    return leaf.grad, core.zeros {}
  end
  -- The parameters of f are no inputs: a parameter of no use makes the graph go through here.
  local y = core.differentiable(again, backward)(x, core.zeros({}):parameter())
  collect()
  return y
end
