--- The operations of a training step, each timed separately and multiplied by its number of calls
--- in a step. Bookkeeping between them and cold caches are not included. Options: shape.
local core = require "roper.core"
local position = require "roper.position"
local shapes = require "tests.bench.shapes"
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

local function leaf(...)
  return core.randn({ ... }):parameter()
end

-- Removes the gradients of the tensors in a list.
local function forget(inputs)
  for _, input in ipairs(inputs) do
    if type(input) == "userdata" and input:is_parameter() then
      input.grad = nil
    end
  end
end

local steps -- how many are timed together

-- Measures compute(...) and its backward pass, which a step runs `count` times. A call returns the
-- seconds per step, forward and backward.
local function operation(count, compute, ...)
  local inputs = { ... }
  local gradient = core.randn(compute(...):shape())
  return function()
    local forward, backward = 0, 0
    collectgarbage()
    for _ = 1, steps do
      local seconds, y = stopwatch(compute, table.unpack(inputs))
      forward, backward = forward + seconds, backward + stopwatch(y.backward, y, gradient)
      forget(inputs)
    end
    return count * forward / steps, count * backward / steps
  end
end

-- The linear layers: operations that differentiate by their inputs, and by weights and biases.
local function linear(shape)
  local d, f, layers = shape.d_model, shape.d_ff, shape.layers
  local to_input, to_weight = {}, {}
  for i, kind in ipairs { { 4 * layers, d, d }, { layers, d, f }, { layers, f, d } } do
    local count, from, to = table.unpack(kind)
    local x = core.randn { shape.batch, shape.length, from }
    local weight, bias = core.randn { to, from }, core.randn { to }
    to_input[i] = operation(count, core.linear, x:detach():parameter(), weight, bias)
    to_weight[i] = operation(count, core.linear, x, weight:detach():parameter(),
      bias:detach():parameter())
  end
  return to_input, to_weight
end

-- The work of a layer between its projections: splitting heads, attention, merging heads.
local function attention(shape)
  local batch, time, d, heads = shape.batch, shape.length, shape.d_model, shape.heads
  local scheme = position.resolve("roper", d // heads)
  local function split(x)
    return x:view({ batch, time, heads, d // heads }):transpose(2, 3)
  end
  return operation(shape.layers, function(query, key, value)
    local o = core.attention(split(query), split(key), split(value),
      { position = scheme, causal = true })
    return o:transpose(2, 3):view({ batch, time, d })
  end, leaf(batch, time, d), leaf(batch, time, d), leaf(batch, time, d))
end

-- The time that ReLU adds to its linear layer.
local function activation(shape)
  local x = leaf(shape.batch, shape.length, shape.d_model)
  local weight, bias = leaf(shape.d_ff, shape.d_model), leaf(shape.d_ff)
  local without = operation(shape.layers, core.linear, x, weight, bias)
  local with = operation(shape.layers, core.linear, x, weight, bias, "relu")
  return function()
    local forward1, backward1 = without()
    local forward2, backward2 = with()
    return forward2 - forward1, backward2 - backward1
  end
end

-- The operations around the products, by name.
local function others(shape)
  local batch, time, d = shape.batch, shape.length, shape.d_model
  local layers, vocabulary = shape.layers, shape.vocabulary
  local tokens = training.tokens(shape)
  local inputs, targets = tokens:narrow(2, 1, time), tokens:narrow(2, 2, time)
  return {
    norm = operation(2 * layers + (shape.norm == "pre" and 1 or 0), core.layer_norm,
      leaf(batch, time, d), leaf(d), leaf(d)),
    activation = activation(shape),
    -- The gradients of both paths are added, as in a residual connection.
    residual = operation(2 * layers, function(x)
      return x + x
    end, leaf(batch, time, d)),
    loss = operation(1, function(x, weight, bias)
      return core.cross_entropy(core.linear(x, weight, bias), targets)
    end, leaf(batch, time, d), leaf(vocabulary, d), leaf(vocabulary)),
    embedding = operation(1, core.embedding, leaf(vocabulary, d), inputs),
  }
end

-- A call of Adam on all parameters returns its seconds.
local function adam(shape)
  local run = training.new(shapes.with(shape, { batch = 1 }), "roper")
  run:differentiate()
  return function()
    local seconds = 0
    for _ = 1, steps do
      seconds = seconds + stopwatch(run.optimizer.step, run.optimizer, run.parameters)
    end
    return seconds / steps
  end
end

local function sum(operations)
  local forward, backward = 0, 0
  for _, run in ipairs(operations) do
    local f, b = run()
    forward, backward = forward + f, backward + b
  end
  return forward, backward
end

return function(options)
  local shape = options.shape
  local flops = shapes.forward_flops(shape)
  steps = shape.steps or 1
  local optimize = adam(shape)
  local to_input, to_weight = linear(shape)
  local attend, other = attention(shape), others(shape)
  return {
    --- The parts of one step: name, seconds, and flops if matrix products dominate.
    all = function()
      local forward1, input = sum(to_input)
      local forward2, weight = sum(to_weight)
      local attention_forward, attention_backward = attend()
      local parts = {
        { name = "linear forward", seconds = (forward1 + forward2) / 2, flops = flops.linear },
        { name = "linear dX", seconds = input, flops = flops.linear },
        { name = "linear dW", seconds = weight, flops = flops.linear },
        { name = "attention forward", seconds = attention_forward, flops = flops.attention },
        { name = "attention backward", seconds = attention_backward,
          flops = 2 * flops.attention },
      }
      for _, name in ipairs { "norm", "activation", "residual", "loss", "embedding" } do
        local forward, backward = other[name]()
        parts[#parts + 1] = { name = name, seconds = forward + backward }
      end
      parts[#parts + 1] = { name = "optimizer", seconds = optimize() }
      return parts
    end,
  }
end
