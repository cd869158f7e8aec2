--- What a run will cost: parameters and memory from its shapes, time from a few steps of a small
--- model with the same parts.
local core = require "roper.core"
local experiment = require "roper.study.experiment"
local modules = require "roper.model.module"
local position = require "roper.position"
local schemes = require "roper.position.scheme"

local M = {}

local QUESTIONS <const> = 64 -- that are looked at for a long one
local STEPS <const> = 3
-- The model that is timed: one layer, at most so wide, and so many tokens at a time.
local WIDTH <const>, TIME <const>, TOKENS <const> = 256, 256, 1024

local Holder = modules.class "Scheme" -- a module, so that all that is trained in it is found

-- {how many, numbers of each}: the trained tensors of the position schemes of all layers.
local function scheme_blocks(config)
  local chosen, blocks = experiment.scheme(config), {}
  local list = type(chosen) == "table" and chosen[1] and chosen or { chosen }
  for place, one in ipairs(list) do
    local ok, scheme = pcall(position.resolve, one, { dim = config.d_model // config.heads,
      heads = config.heads, d_model = config.d_model, length = experiment.reach(config) })
    scheme = ok and scheme or nil -- what can not be made trains nothing
    local layers = (config.layers - place) // #list + 1
    local times = schemes.is_scheme(scheme) and scheme.per_layer and layers or math.min(layers, 1)
    for _, tensor in ipairs(setmetatable({ position = scheme }, Holder):parameters()) do
      blocks[#blocks + 1] = { times, tensor:count() }
    end
  end
  return blocks
end

-- What the footprint of a configuration goes by.
local function shapes_of(config)
  local task, longest, last = experiment.task(config), 0, 0
  for _ = 1, QUESTIONS do
    local question, answer = task:question()
    longest, last = math.max(longest, #question), math.max(last, #answer)
  end
  return { vocabulary = #task:vocabulary(), d_model = config.d_model,
    d_ff = config.d_ff or 4.0 * config.d_model, layers = config.layers, heads = config.heads,
    norm = config.norm, activation = config.activation, dropout = config.dropout,
    batch = config.batch, time = config.length - 1, problems = config.problems, question = longest,
    answer = last, schemes = scheme_blocks(config) }
end

-- The multiplications of a forward pass over one sequence.
local function work(s)
  local d = s.d_model + 0.0 -- floats do not wrap
  return s.time * (s.layers * (4 * d * d + 2 * d * s.d_ff + s.time * d) + d * s.vocabulary)
end

-- The same shapes, small enough to be timed at once.
local function small(s)
  local probe = setmetatable({ layers = 1, d_model = math.min(s.d_model, WIDTH),
    time = math.min(s.time, TIME) }, { __index = s })
  probe.heads = probe.d_model % s.heads == 0 and s.heads or 1
  probe.d_ff = math.tointeger(math.min(s.d_ff, 4 * probe.d_model))
  probe.batch = math.max(1, math.min(s.batch, TOKENS // probe.time))
  return probe
end

-- Seconds of a training step, the best of a few.
local function timed(s)
  local model = require("roper.model").Transformer { vocabulary = s.vocabulary, d_model = s.d_model,
    layers = s.layers, heads = s.heads, d_ff = s.d_ff, norm = s.norm, activation = s.activation,
    dropout = s.dropout, position = "none" }
  local optimizer, parameters = require("roper.training.optim").Adam(), model:parameters()
  local tokens = core.zeros({ s.batch, s.time + 1 }, "int32")
  local clock, best = require("luv").hrtime, math.huge
  for _ = 1, STEPS do
    local started = clock()
    local loss = require("roper.training").loss(model, tokens)
    model:zero_gradients()
    loss:backward()
    optimizer:step(parameters)
    best = math.min(best, (clock() - started) * 1e-9)
  end
  return best
end

--- Estimate what training a configuration takes on this machine, in less than a second whatever it
--- is. Nothing of its size is allocated but what position schemes train, and the random generator
--- is left as it was.
---@param config table from `experiment.configure`
---@return table parameters; bytes, of tensors that are needed at once, and most, with what waits to
---   be collected; seconds a step; evaluation, seconds each; total, seconds
function M.run(config)
  local shapes = shapes_of(config)
  local probe = small(shapes)
  local rate = require("roper.base.temporarily").with_seed(1, function()
    return timed(probe) / (work(probe) * probe.batch)
  end)
  local cost = require("roper.study.experiment.footprint").of(shapes)
  cost.seconds = rate * work(shapes) * shapes.batch
  cost.evaluation = rate * work(shapes) * require("roper.study.run").SEQUENCES / 3 -- forward alone
  cost.total = cost.seconds * config.steps
    + cost.evaluation * (config.steps // config.evaluate_every)
  return cost
end

return M
