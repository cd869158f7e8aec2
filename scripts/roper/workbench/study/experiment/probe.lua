--- A small model with the parts of a large one, tried: how long a step takes, and what its position
--- schemes keep.
local core = require "roper.core"
local scoped = require "roper.base.scoped"

local M = {}

local STEPS <const> = 3
-- The model that is timed: at most so wide, and so many tokens at a time.
local WIDTH <const>, TIME <const>, TOKENS <const> = 256, 256, 1024
local SHORT <const>, ROWS <const> = 64, 4 -- where it is looked at what a scheme keeps

--- The multiplications of a forward pass over one sequence.
---@param s table shapes, as `footprint.of` takes them
---@return number work
function M.work(s)
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

--- How fast this machine trains such a model, on a small one.
---@param s table shapes, as `footprint.of` takes them, with listed: position schemes, which layers
---   take in turn
---@param precision "float32"|"bfloat16" of matrix products
---@return number seconds of a step for each multiplication of the forward pass
function M.rate(s, precision)
  local probe = small(s)
  return scoped.with_matmul_precision(precision, function()
    return timed(probe) / (M.work(probe) * probe.batch)
  end)
end

--- Bytes that position schemes keep for the backward pass.
---@param s table shapes, with listed, and has_methods: is one made of methods?
---@return number bytes of all layers, with one layer's gradients
function M.kept_by_schemes(s)
  return of_schemes(kept, s, s.time) * (s.layers + 1)
end

--- Bytes that position schemes take in a forward pass over the longest sequences.
---@param s table shapes, with listed and has_methods
---@return number bytes
function M.taken_by_schemes(s)
  return of_schemes(taken, s, s.reach)
end

return M
