--- Predicts the parameters, memory and time of a run: measures small versions of its model and
--- extrapolates to its sizes.
local clock = require "roper.system.clock"
local core = require "roper.core"
local experiment = require "roper.workbench.study.experiment"
local scoped = require "roper.base.scoped"
local tables = require "roper.base.tables"
local training = require "roper.training"

local M = {}

-- Maximum sizes of a measured model and batch.
local WIDTH <const>, VOCABULARY <const>, TIME <const>, TOKENS <const> = 512, 8192, 512, 8192
local WEIGHTS <const> = 1 << 21 -- layers times squared width
local WORK <const> = 1 << 28 -- layers times squared width times tokens
local SCORES <const> = 1 << 22 -- heads times rows times squared length
local CALLS <const>, ENOUGH <const> = 3, 0.3 -- timed calls, or fewer after so many seconds
local LOGITS <const> = 1 << 23 -- in memory at once by default
local QUESTIONS <const> = 64 -- problems drawn to find the longest question and answer

-- Evaluates at x the polynomial of the lowest degree through all points (Lagrange).
local function polynomial(nodes, values, x)
  local sum = 0
  for i, value in ipairs(values) do
    for j, node in ipairs(nodes) do
      value = j == i and value or value * (x - node) / (nodes[i] - node)
    end
    sum = sum + value
  end
  return sum
end

-- Evaluates at x the line through two points. The slope and the value at 0 are kept from being
-- negative, which could only be noise.
local function line(nodes, values, x)
  local slope = (values[2] - values[1]) / (nodes[2] - nodes[1])
  slope = math.max(0, math.min(slope, values[2] / nodes[2]))
  return values[2] + slope * (x - nodes[2])
end

-- Evaluates at x the parabola a x + b x² through two points, with a and b at least 0. If the values
-- grow like x except for the rounding of blocks in the memory pool (an eighth), b is 0.
local function parabola(nodes, values, x)
  local first, last = values[1] / nodes[1], values[2] / nodes[2]
  return x * (last < 9 / 8 * first and last or line(nodes, { first, last }, x))
end

-- Creates an axis: a size that is measured itself, or, if it is above `limit`, extrapolated by
-- `law` from measurements at the smaller sizes `nodes`.
local function axis(name, size, limit, law, nodes)
  return { name = name, size = size + 0.0, law = law, nodes = size <= limit and { size } or nodes }
end

-- Returns the results of measure(nodes), extrapolated to the sizes of all axes. A result that is
-- measured only at the first node of an axis is taken as proportional to the size.
local function extrapolated(axes, measure, nodes, i)
  local one = axes[i or 1]
  if not one then
    return measure(nodes)
  end
  local found = tables.map(one.nodes, function(node)
    local these = tables.merged(nodes or {}, { [one.name] = node })
    return extrapolated(axes, measure, these, (i or 1) + 1)
  end)
  if not found[2] then
    return found[1]
  end
  local result = {}
  for name, value in pairs(found[1]) do
    local values = tables.map(found, function(results) return results[name] end)
    result[name] = values[2] and one.law(one.nodes, values, one.size)
      or value * one.size / one.nodes[1]
  end
  return result
end

-- Returns the axis of layers. If a list of schemes repeats over the layers, the measured models
-- contain each of them.
local function layers_axis(config, law)
  local scheme = experiment.scheme(config)
  local period = type(scheme) == "table" and #scheme > 0 and #scheme or 1
  local first = period + config.layers % period
  return axis("layers", config.layers, first + period, law, { first, first + period })
end

-- Returns the number of heads of queries that share a head of keys and values.
local function group_of(config)
  return config.kv_heads and config.heads % config.kv_heads == 0 and config.heads // config.kv_heads
    or 1
end

-- Creates the model and optimizer of a configuration with other sizes. If groups do not divide the
-- heads, none are shared.
local function parts_of(config, sizes)
  local group = group_of(config)
  local changes = { layers = sizes.layers, heads = sizes.heads, d_model = sizes.heads * sizes.dim,
    d_ff = sizes.d_ff or nil,
    kv_heads = config.kv_heads and sizes.heads // (sizes.heads % group == 0 and group or 1) or nil }
  local vocabulary = { vocabulary = function() return sizes.vocabulary end }
  return experiment.build(tables.merged(config, changes), vocabulary, sizes.reach)
end

-- Returns the exact number of parameters, a polynomial in the sizes, computed from tiny models.
local function count(config, sizes)
  local group = group_of(config)
  local axes = { layers_axis(config, polynomial),
    axis("heads", sizes.heads, 256 // math.min(sizes.dim, 256), polynomial,
      { group, 2 * group, 3 * group }),
    axis("dim", sizes.dim, 256, polynomial, { 32, 64, 96 }),
    axis("d_ff", sizes.d_ff or 0, 256, polynomial, { 64, 128 }),
    axis("vocabulary", sizes.vocabulary, 256, polynomial, { 64, 128 }),
    axis("reach", sizes.reach, 256, polynomial, { 64, 128 }) }
  return extrapolated(axes, function(nodes)
    nodes.d_ff = nodes.d_ff > 0 and nodes.d_ff or nil
    return { parameters = parts_of(config, nodes).model:count() }
  end).parameters
end

-- Returns the bytes of tensors in use. Frees unused memory first, because new tensors would reuse
-- blocks of up to twice their size.
local function live()
  for _ = 1, 3 do
    collectgarbage() -- tensors can hold others, which the next collection frees
  end
  core.memory_trim()
  return core.memory().live
end

-- Returns the maximum number of bytes that f needs beyond those in use. Garbage is collected after
-- each allocation and is not counted.
local function peak_of(f)
  local before, blocks = live(), nil
  debug.sethook(function()
    local now = core.memory().blocks
    if now ~= blocks then
      collectgarbage()
      blocks = core.memory().blocks
    end
  end, "c")
  scoped.finally(f, function() debug.sethook() end)
  return core.memory().peak - before
end

-- Returns the seconds of the fastest of several calls.
local function seconds_of(f)
  local best, spent, calls = math.huge, 0, 0
  repeat
    local started = clock.seconds()
    f()
    local seconds = clock.seconds() - started
    best, spent, calls = math.min(best, seconds), spent + seconds, calls + 1
  until calls == CALLS or calls > 1 and spent > ENOUGH
  return best
end

-- Creates a model and measures what does not depend on the batch: bytes of its parameters and
-- moments, bytes of its gradients, seconds of an update.
local function new_model(config, sizes)
  local before = live()
  local parts = parts_of(config, sizes)
  local model, parameters = parts.model, parts.model:parameters()
  training.loss(model, core.zeros({ 1, 2 }, "int32")):backward()
  local update = seconds_of(function() parts.optimizer:step(parameters) end)
  local with_gradients = live()
  model:zero_gradients()
  local state = live()
  return { model = model, optimizer = parts.optimizer, -- holds the moments
    costs = { update = update, state = state - before, gradients = with_gradients - state } }
end

-- Returns the loss of a model. `slice` rows of logits are in memory at once if the model has a
-- method `loss`, as Transformer does.
local function loss_of(model, tokens, slice)
  return training.loss(model, tokens, nil, model.loss and { rows = slice } or nil)
end

-- Measures a training step of a model without the update: the maximum number of bytes that the
-- forward and the backward pass need, and its seconds if `is_timed`.
local function measure_step(model, nodes, slice, is_timed)
  local tokens = core.zeros({ nodes.rows, nodes.time + 1 }, "int32")
  local function step()
    training.loss(model, tokens):backward()
  end
  local seconds = is_timed and seconds_of(step) or step()
  local before, loss = live(), nil
  local forward = peak_of(function() loss = loss_of(model, tokens, slice) end)
  local kept = live() - before
  local bytes = math.max(forward, kept + peak_of(function() loss:backward() end))
  model:zero_gradients()
  return { seconds = seconds, bytes = bytes }
end

-- Measures the bytes of a forward pass without gradients: of a prompt with a cache for `answer`
-- more tokens, or of the loss if `answer` is nil.
local function measure_forward(model, nodes, slice, answer)
  return scoped.without_training(model, function()
    return { bytes = peak_of(function()
      if not answer then
        local tokens = core.zeros({ nodes.rows, nodes.time + 1 }, "int32")
        return loss_of(model, tokens, slice)
      end
      return model(core.zeros({ nodes.rows, nodes.time }, "int32"),
        model.cache and model:cache { batch = nodes.rows, length = nodes.time + answer })
    end) }
  end)
end

-- Returns the lengths of the longest question and of the longest answer among some problems.
local function longest_problem(task)
  local longest, last = 0, 0
  for _ = 1, task:has_problems() and QUESTIONS or 0 do
    local question, answer = task:question()
    longest = math.max(longest, task:encode(question):count())
    last = math.max(last, task:encode(answer):count())
  end
  return longest, last
end

-- Estimates the costs of a model of the given sizes with the layers, rows and tokens of a run.
-- Returns those of the model alone, those of a part of a batch, and the bytes of the largest
-- forward pass without gradients.
local function measured(config, task, sizes)
  local width, rows, time = sizes.heads * sizes.dim, config.batch // (config.accumulate or 1),
    config.length - 1
  -- Smaller sizes have the same share of the logits in memory at once.
  local share = math.min(1, math.max(LOGITS // sizes.vocabulary, 64) / (rows * time))
  local models = {}
  local function model_at(nodes)
    local key = nodes.layers .. ":" .. nodes.vocabulary
    models[key] = models[key] or new_model(config, tables.merged(sizes, nodes))
    return models[key]
  end
  local axes = { layers_axis(config, line), axis("vocabulary", sizes.vocabulary, VOCABULARY, line,
    { VOCABULARY // 2, VOCABULARY }) }
  local function over(longest, most, measure)
    local layers, t = axes[1].nodes[#axes[1].nodes], math.min(longest, TIME)
    local tokens = math.min(TOKENS, WORK // (layers * width ^ 2), SCORES // (sizes.heads * t))
    local half = math.max(1, tokens // (2 * t) | 0)
    local all = { axes[1], axes[2], axis("time", longest, TIME, parabola, { TIME // 4, TIME }),
      axis("rows", most, 2 * half, line, { half, 2 * half }) }
    return extrapolated(all, function(nodes)
      local slice = math.max(1, math.ceil(share * nodes.rows * nodes.time))
      return measure(model_at(nodes).model, nodes, slice, nodes.rows == all[4].nodes[1])
    end)
  end
  local of_model = extrapolated(axes, function(nodes) return model_at(nodes).costs end)
  local of_step = over(time, rows, measure_step)
  local changes = experiment.longer(config)
  local longest = tables.merged(config, changes[#changes])
  local question, answer = longest_problem(experiment.task(longest))
  local asked = question > 0 and over(question, config.problems, function(model, nodes)
    return measure_forward(model, nodes, nil, answer)
  end).bytes or 0
  axes[1] = axis("layers", axes[1].nodes[1], math.huge) -- without gradients, layers do not add up
  local test_rows = task:has_problems() and config.batch
    or math.max(1, config.batch * config.length // longest.length)
  local test = over(longest.length - 1, test_rows, function(model, nodes, slice)
    return measure_forward(model, nodes, slice)
  end).bytes
  return of_model, of_step, math.max(asked, test)
end

-- Returns smaller sizes, with heads of the same width if possible, for models with `layers` layers,
-- and how many times as wide the given sizes are.
local function narrowed(sizes, layers)
  local width = WIDTH
  while width ^ 2 * layers > WEIGHTS and width > 16 do
    width = width // 2
  end
  local dim = math.min(sizes.dim, width)
  local heads = math.min(sizes.heads, width // dim)
  local ratio = math.max(sizes.heads * sizes.dim / (heads * dim), (sizes.d_ff or 0) / (4 * width))
  return tables.merged(sizes, { dim = dim, heads = heads, reach = math.min(sizes.reach, TIME),
    d_ff = sizes.d_ff and math.max(1, sizes.d_ff // ratio | 0) }), ratio
end

local function estimated(config)
  local task, parts = experiment.task(config), config.accumulate or 1
  local sizes = { heads = config.heads, dim = config.d_model // config.heads,
    d_ff = config.d_ff or nil, vocabulary = #task:vocabulary(),
    reach = experiment.reach(config) }
  local layers = layers_axis(config).nodes
  local small, ratio = narrowed(sizes, layers[#layers])
  local model, step, forward = measured(config, task, small)
  local parameters, of_small = count(config, sizes), count(config, small)
  -- The bytes of the model grow like its parameters; the seconds grow like its parameters without
  -- the rows that longer tables of positions add.
  local growth = parameters / of_small
  local work = count(config, tables.merged(sizes, { reach = small.reach })) / of_small
  local gradients, activations = model.gradients * growth, step.bytes * ratio
  local bytes = model.state * growth + math.max(gradients + forward * ratio,
    activations + (parts > 1 and gradients or 0))
  local seconds = parts * step.seconds * work + model.update * growth
  local evaluation = step.seconds * work / (config.batch // parts) / 3 -- forward alone
    * require("roper.workbench.study.run").SEQUENCES
  return { parameters = parameters, seconds = seconds, evaluation = evaluation,
    total = seconds * config.steps + evaluation * (config.steps // config.evaluate_every),
    bytes = bytes, most = bytes + math.max(bytes / 2, 64 << 20) } -- see bindings/handle.c
end

--- Estimates the memory and time of training a configuration on this machine. It measures the model
--- with one layer and with two, or as many as a list of position schemes needs, with at most 512
--- features and 8,192 tokens. The random state is restored.
---@param config table from `experiment.configure`
---@return table cost parameters; bytes: of tensors that are needed at once; most: bytes, including
---   tensors that are garbage but not collected yet; seconds: of a step; evaluation: seconds of
---   each evaluation; total: seconds of the run
function M.run(config)
  return scoped.with_seed(1, function()
    return scoped.with_matmul_precision(config.matmul_precision or "float32", function()
      return estimated(config)
    end)
  end)
end

return M
