--- What a run will cost: parameters and memory from its shapes, time and what a position scheme
--- keeps from a small model.
local experiment = require "roper.workbench.study.experiment"
local modules = require "roper.model.module"
local position = require "roper.position"
local probe = require "roper.workbench.study.experiment.probe"
local schemes = require "roper.position.scheme"
local scoped = require "roper.base.scoped"

local M = {}

local QUESTIONS <const> = 64 -- that are looked at for a long one

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

--- Estimate what training a configuration takes on this machine, in less than a second whatever it
--- is. Nothing of its size is allocated but what position schemes train, and the random generator
--- is left as it was.
---@param config table from `experiment.configure`
---@return table parameters; bytes, of tensors that are needed at once, and most, with what waits to
---   be collected; seconds a step; evaluation, seconds each; total, seconds
function M.run(config)
  local shapes, rate = shapes_of(config), nil
  scoped.with_seed(1, function()
    shapes.kept_by_schemes = probe.kept_by_schemes(shapes)
    shapes.taken_by_schemes = probe.taken_by_schemes(shapes)
    rate = probe.rate(shapes, config.matmul_precision or "float32")
  end)
  local cost = require("roper.workbench.study.experiment.footprint").of(shapes)
  local seconds = rate * probe.work(shapes) -- of a sequence
  cost.seconds = seconds * shapes.batch
  cost.evaluation = seconds * require("roper.workbench.study.run").SEQUENCES / 3 -- forward alone
  cost.total = cost.seconds * config.steps
    + cost.evaluation * (config.steps // config.evaluate_every)
  return cost
end

return M
