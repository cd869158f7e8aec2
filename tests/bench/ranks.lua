-- [mpirun -n N] ./roper tests/bench/ranks.lua [--tiny]: times a training step whose batch N
-- processes share, with and without the sums of gradients, and the sums alone. Run it without
-- mpirun for comparison.
package.path = package.path .. ";" .. arg[0]:match "^(.-)tests/bench/[^/]*$" .. "?.lua"

local core = require "roper.core"
local loss_of = require("roper.training").loss
local shapes = require "tests.bench.shapes"
local statistics = require "tests.bench.statistics"
local stopwatch = require "tests.bench.stopwatch"
local training = require "tests.bench.training"

local TINY <const> = arg[1] == "--tiny"
local ROUNDS <const> = TINY and 2 or 20
-- A shape with more parameters and less work.
local WIDE <const> = { d_model = 256, d_ff = 1024, layers = 6, length = 128, batch = 8,
  vocabulary = 8000 }
local ranks = require("roper").ranks()
local size = ranks and ranks.size or 1

local function say(...)
  if not ranks or ranks.rank == 0 then
    print(string.format(...))
  end
end

-- A model, and a step on this rank's rows of a batch, with or without sums.
local function shared(shape)
  local run = training.new(shape, "roper")
  local tokens = run.tokens:narrow(1, 1, shape.batch // size)
  local share = core.full({}, 1 / size)
  return run.model, function(is_summed)
    run.model:zero_gradients()
    local loss = loss_of(run.model, tokens)
    if is_summed and ranks then
      ranks:backward(loss, share, run.parameters)
    else
      loss:backward(share)
    end
    run.optimizer:step(run.parameters)
  end
end

-- A sum of gradients of a given number of bytes.
local function sum_alone(bytes)
  local w = core.zeros { bytes // 4 }:parameter()
  local sum = core.gradient_sum({ w }, bytes)
  local none = core.zeros {}
  local parameter = core.zeros {}:parameter()
  return function()
    sum:backward(parameter * none)
  end
end

-- The median seconds of functions that run in turn.
local function time(...)
  local cases = {}
  for i, f in ipairs { ... } do
    cases[i] = function()
      return (stopwatch(f))
    end
  end
  local medians = {}
  for i, times in ipairs(statistics.interleave(cases, ROUNDS)) do
    medians[i] = statistics.median(times)
  end
  return table.unpack(medians)
end

local function measure(name, shape)
  local model, step = shared(shape)
  local whole, bare = time(function() step(true) end, function() step(false) end)
  say("%s: %s; gradients of %.1f MB", name, shapes.describe(shape), 4e-6 * model:count())
  say("  a step %.1f ms, %.0f tokens a second; without sums %.1f ms", whole * 1e3,
    shape.batch * shape.length / whole, bare * 1e3)
end

say("ranks: %d, threads of each: %d", size, core.threads())
local small = shapes.get("small", TINY)
measure("small", small)
measure("wide", TINY and small or shapes.with(small, WIDE))
if ranks then
  local latency = time(function() core.ranks_combine("sum", 0) end)
  say("a sum of 8 bytes: %.1f us", latency * 1e6)
  for _, bytes in ipairs(TINY and { 4096 } or { 1 << 20, 16 << 20 }) do
    say("a sum of %.1f MB: %.2f ms", bytes / 1e6, time(sum_alone(bytes)) * 1e3)
  end
end
