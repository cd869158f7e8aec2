--- What a run will cost: parameters and memory from its shapes, time and what a position scheme
--- keeps from a few steps of a small model with the same parts.
local core = require "roper.core"
local experiment = require "roper.study.experiment"
local modules = require "roper.model.module"
local position = require "roper.position"
local schemes = require "roper.position.scheme"
local temporarily = require "roper.base.temporarily"

local M = {}

local QUESTIONS <const> = 64 -- that are looked at for a long one
local STEPS <const> = 3
-- The model that is timed: one layer, at most so wide, and so many tokens at a time.
local WIDTH <const>, TIME <const>, TOKENS <const> = 256, 256, 1024
local SHORT <const>, ROWS <const> = 64, 4 -- where it is looked at what a scheme keeps

local Holder = modules.class "Scheme" -- a module, so that all that is trained in it is found

-- The position schemes of a configuration, which layers take in turn.
local function listed(config)
  local chosen = experiment.scheme(config)
  return type(chosen) == "table" and chosen[1] and chosen or { chosen }
end

-- {how many, numbers of each}: the trained tensors of the position schemes of all layers; and
-- whether any is made of methods, as those are that keep more than a rotary table.
local function scheme_blocks(config)
  local list, blocks, has_methods = listed(config), {}, false
  for place, one in ipairs(list) do
    local ok, scheme = pcall(position.resolve, one, { dim = config.d_model // config.heads,
      heads = config.heads, d_model = config.d_model, length = experiment.reach(config) })
    scheme = ok and scheme or nil -- what can not be made trains nothing
    has_methods = has_methods or schemes.is_scheme(scheme)
    local layers = (config.layers - place) // #list + 1
    local times = schemes.is_scheme(scheme) and scheme.per_layer and layers or math.min(layers, 1)
    for _, tensor in ipairs(setmetatable({ position = scheme }, Holder):parameters()) do
      blocks[#blocks + 1] = { times, tensor:count() }
    end
  end
  return blocks, has_methods
end

-- What the footprint of a configuration goes by.
local function shapes_of(config)
  local task, longest, last = experiment.task(config), 0, 0
  for _ = 1, task:has_problems() and QUESTIONS or 0 do
    local question, answer = task:question()
    longest, last = math.max(longest, #question), math.max(last, #answer)
  end
  local blocks, has_methods = scheme_blocks(config)
  return { vocabulary = #task:vocabulary(), d_model = config.d_model,
    d_ff = config.d_ff or 4.0 * config.d_model, layers = config.layers, heads = config.heads,
    norm = config.norm, rms_norm = config.rms_norm, activation = config.activation,
    tied_embeddings = config.tied_embeddings, dropout = config.dropout,
    accumulate = config.accumulate, recompute = config.recompute, batch = config.batch,
    time = config.length - 1, problems = config.problems or 0, question = longest, answer = last,
    reach = experiment.reach(config), schemes = blocks,
    has_methods = has_methods, listed = listed(config) }
end

-- The multiplications of a forward pass over one sequence.
local function work(s)
  local d = s.d_model + 0.0 -- floats do not wrap
  return s.time * (s.layers * (4 * d * d + 2 * d * s.d_ff + s.time * d) + d * s.vocabulary)
end

-- The same shapes, small enough to be tried at once: a layer for each scheme, heads as wide.
local function small(s)
  local dim = math.min(s.d_model // s.heads, WIDTH)
  local heads = math.max(1, math.min(s.heads, WIDTH // dim))
  local probe = setmetatable({ layers = math.min(s.layers, #s.listed), heads = heads,
    d_model = heads * dim, time = math.min(s.time, TIME) }, { __index = s })
  probe.d_ff = math.tointeger(math.min(s.d_ff, 4 * probe.d_model))
  probe.batch = math.max(1, math.min(s.batch, TOKENS // probe.time))
  return probe
end

local function model_of(s, chosen)
  return require("roper.model").Transformer { vocabulary = s.vocabulary, d_model = s.d_model,
    layers = s.layers, heads = s.heads, d_ff = s.d_ff, norm = s.norm, activation = s.activation,
    rms_norm = s.rms_norm, recompute = s.recompute, dropout = s.dropout, position = chosen,
    length = 2 * s.time }
end

-- Seconds of a training step, the best of a few.
local function timed(s)
  local model = model_of(s, s.listed)
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

-- Bytes of tensors that are in use; what is collected holds on to others, which go next.
local function live()
  for _ = 1, 3 do
    collectgarbage()
  end
  return core.memory().live
end

-- Bytes that the graph of a loss keeps for the backward pass.
local function kept(s, chosen)
  local model, tokens = model_of(s, chosen), core.zeros({ s.batch, s.time + 1 }, "int32")
  local before = live()
  local loss = require("roper.training").loss(model, tokens)
  return live() - before, loss -- which lives until here
end

-- Most bytes that a forward pass alone takes where nothing is collected meanwhile.
local function taken(s, chosen)
  local model, tokens = model_of(s, chosen), core.zeros({ s.batch, s.time }, "int32")
  core.memory_trim()
  local before = core.memory().live
  core.no_grad(function() model(tokens) end)
  return core.memory().peak - before
end

-- What the position schemes of all layers take by such a measure, besides what layers do without
-- any: for each call and each sequence a quadratic in the time, through what is seen at two small
-- ones.
local function of_schemes(measure, s, time)
  if not s.has_methods then
    return 0
  end
  local probe = setmetatable({}, { __index = small(s) })
  local function more(rows, tokens)
    probe.batch, probe.time = rows, tokens
    return measure(probe, s.listed) - measure(probe, "none")
  end
  local function at(rows)
    local short, long = more(rows, SHORT), more(rows, 2 * SHORT)
    local square, line = (long - 2 * short) / (2 * SHORT ^ 2), (4 * short - long) / (2 * SHORT)
    return math.max(0, (square * time + line) * time)
  end
  more(1, SHORT) -- what is made once and for all
  local one = at(1)
  local each = math.max(0, at(ROWS) - one) / (ROWS - 1)
  return (one + each * (s.batch - 1)) * (s.heads / probe.heads) / probe.layers
end

--- Estimate what training a configuration takes on this machine, in less than a second whatever it
--- is. Nothing of its size is allocated but what position schemes train, and the random generator
--- is left as it was.
---@param config table from `experiment.configure`
---@return table parameters; bytes, of tensors that are needed at once, and most, with what waits to
---   be collected; seconds a step; evaluation, seconds each; total, seconds
function M.run(config)
  local shapes = shapes_of(config)
  local probe, rate = small(shapes)
  temporarily.with_seed(1, function()
    local s = shapes
    s.kept_by_schemes = of_schemes(kept, s, s.time) * (s.layers + 1) -- with one layer's gradients
    s.taken_by_schemes = of_schemes(taken, s, s.reach)
    rate = temporarily.with_matmul_precision(config.matmul_precision or "float32", function()
      return timed(probe) / (work(probe) * probe.batch)
    end)
  end)
  local cost = require("roper.study.experiment.footprint").of(shapes)
  cost.seconds = rate * work(shapes) * shapes.batch
  cost.evaluation = rate * work(shapes) * require("roper.study.run").SEQUENCES / 3 -- forward alone
  cost.total = cost.seconds * config.steps
    + cost.evaluation * (config.steps // config.evaluate_every)
  return cost
end

return M
