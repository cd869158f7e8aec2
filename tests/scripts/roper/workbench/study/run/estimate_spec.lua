local core = require("roper.core")
local estimate = require("roper.workbench.study.run.estimate")
local experiment = require("roper.workbench.study.experiment")
local process = require("tests.process")
local roper = require("roper")
local scratch = require("tests.scratch")

-- Prints the estimate over the most that a run of each configuration takes if garbage is collected
-- after each allocation.
local PEAKS <const> = [[
  local core, experiment = require "roper.core", require "roper.workbench.study.experiment"
  local evaluation = require "roper.training.evaluation"
  core.threads(1)
  for _, fields in ipairs(CONFIGURATIONS) do
    local config = experiment.configure("addition", fields)
    local cost = require("roper.workbench.study.run.estimate").run(config, SECONDS)
    collectgarbage()
    collectgarbage()
    core.memory_trim()
    local blocks = 0
    debug.sethook(function()
      if core.memory().blocks ~= blocks then
        collectgarbage()
        blocks = core.memory().blocks
      end
    end, "c")
    local parts = experiment.build(config)
    require("roper.training").train { model = parts.model, task = parts.task,
      optimizer = parts.optimizer, steps = 2, batch = config.batch,
      accumulate = config.accumulate or nil, progress = false }
    local changes = experiment.longer(config)
    local longest = evaluation.fresh(parts.task, 1, changes[#changes])
    evaluation.answers(parts.model, longest, { sequences = config.batch, batch = config.batch })
    if config.problems > 1 then
      evaluation.solve(parts.model, longest, { problems = config.problems })
    end
    debug.sethook()
    io.write(cost.bytes / core.memory().peak, "\n")
  end
]]

describe("estimate.run", function()
  local threads

  -- One thread: others would only wait for each other on small models.
  setup(function()
    scratch.create()
    threads = core.threads()
    core.threads(1)
  end)

  teardown(function()
    scratch.remove()
    core.threads(threads)
  end)

  it("counts parameters and times, and leaves the generator", function()
    roper.seed(3)
    local before = { roper.random_state() }
    for _, fields in ipairs({ {}, { norm = "post" }, { d_ff = 24, layers = 3 },
      { rms_norm = true, activation = "swiglu", tied_embeddings = true } }) do
      fields.preset = "smoke"
      local config = experiment.configure("addition", fields)
      roper.random_state(table.unpack(before))
      local cost = estimate.run(config)
      assert.same(before, { roper.random_state() })
      assert.equal(experiment.build(config).model:count(), cost.parameters)
      assert.is_true(cost.seconds > 0 and cost.evaluation > 0)
      assert.near(1, (cost.seconds * 20 + cost.evaluation * 2) / cost.total, 1e-9)
    end
  end)

  it("extrapolates the time of a batch from one row and as many as take the given time", function()
    local clock, training, now = require("roper.system.clock"), require("roper.training"), 0
    local seconds, train = clock.seconds, training.train
    finally(function() clock.seconds, training.train = seconds, train end)
    clock.seconds = function() return now end
    training.train = function(o) now = now + 3 + o.batch end
    local function cost(accumulate)
      return estimate.run(experiment.configure("addition", { preset = "smoke", batch = 32,
        steps = 10, accumulate = accumulate }), 20)
    end
    local whole, parts = cost(), cost(4)
    assert.same({ 5, 35.0, 350.0 }, { whole.rows, whole.seconds, whole.total })
    assert.same({ 8, 35.0 }, { parts.rows, parts.seconds })
  end)

  it("counts the memory of one part of a batch", function()
    local function cost(batch, accumulate)
      return estimate.run(experiment.configure("addition", { preset = "smoke", d_model = 64,
        layers = 4, problems = 1, batch = batch, accumulate = accumulate }), math.huge)
    end
    local part, parts, whole = cost(8), cost(32, 4), cost(32)
    -- A float32 gradient of each parameter is kept between the parts.
    assert.near(4 * part.parameters, parts.bytes - part.bytes, part.parameters)
    assert.is_true(parts.bytes < 0.5 * whole.bytes)
  end)

  it("extrapolates the memory of a batch from two rows", function()
    for _, fields in ipairs({ { batch = 6, problems = 1 }, { batch = 1, problems = 20 } }) do
      -- With fewer features, the memory of threads and tiles, which grows in steps, is a third of
      -- all, and where the steps are depends on the kernels.
      fields.preset, fields.d_model = "smoke", 256
      local config = experiment.configure("addition", fields)
      local few, all = estimate.run(config, 0), estimate.run(config, math.huge)
      assert.same({ math.min(2, config.batch), config.batch }, { few.rows, all.rows })
      -- The pool rounds blocks up by at most an eighth, in both measurements.
      assert.near(1, few.bytes / all.bytes, 0.25, roper.format.value(fields))
    end
  end)

  it("measures models of text, also on longer rows", function()
    local path = scratch.write("text.txt", ("a paragraph of some text\n\n"):rep(400))
    local config = experiment.configure("language_model", { preset = "smoke", files = path,
      documents = "paragraphs", validation = 0.5, batch = 4 })
    local cost = estimate.run(config)
    assert.equal(experiment.build(config).model:count(), cost.parameters)
    assert.is_true(cost.bytes > 3 * 4 * cost.parameters)
    assert.is_true(cost.evaluation > 0)
  end)

  it("calculates the memory that a run takes #long", function()
    local configurations = {
      { d_model = 64, layers = 2, batch = 8, length = 90, norm = "post", dropout = 0.1 },
      { d_model = 48, layers = 3, batch = 10, length = 90, rms_norm = true, activation = "swiglu",
        tied_embeddings = true, position = "none:shaw:rope" },
      { d_model = 64, layers = 4, batch = 12, length = 90, recompute = true },
      { d_model = 64, layers = 3, batch = 16, length = 90, accumulate = 4, activation = "gelu" },
      { d_model = 192, layers = 2, batch = 1, length = 60 },
      { d_model = 32, layers = 2, batch = 4, length = 120, position = "cope" },
      { d_model = 32, layers = 1, batch = 1, length = 30, max_digits = 1,
        problems = 60 }, -- these take most
    }
    for _, fields in ipairs(configurations) do
      fields.preset, fields.problems = "smoke", fields.problems or 1
    end
    local script = scratch.write("peaks.lua", ("local SECONDS, CONFIGURATIONS = math.huge, %s\n%s")
      :format(roper.format.value(configurations), PEAKS))
    local status, output, errors = process.run({ "./roper", script })
    assert.equal(0, status, errors)
    local i = 0
    for ratio in output:gmatch("%S+") do
      i = i + 1
      assert(ratio + 0.0 > 0.9 and ratio + 0.0 < 1.1, ("configuration %d: %s of the peak"):format(
        i, ratio))
    end
    assert.equal(#configurations, i)
  end)

  it("takes no memory of the size of the run", function()
    finally(function() roper.memory_limit(0) end)
    collectgarbage()
    roper.memory_limit(core.memory().live + (256 << 20))
    local config = experiment.configure("addition", { preset = "smoke", batch = 1000000 })
    assert.is_true(estimate.run(config).bytes > 100e9)
    config = experiment.configure("addition", { preset = "smoke", d_model = 1 << 40, heads = 1 })
    assert.error_matches(function() estimate.run(config) end, "out of memory: asked for %d+ bytes")
  end)

  it("refuses a configuration that cannot run", function()
    local config = experiment.configure("addition", { preset = "smoke", kv_heads = 3 })
    assert.error_matches(function() estimate.run(config) end,
      "^MultiHeadAttention: expected heads divisible by kv_heads")
  end)

  it("is printed by a dry run, and whether the machine has the memory", function()
    local function dry_run(...)
      local status, output, errors = process.run({ "./roper", "train", "addition", "--dry-run",
        "preset=smoke", ... })
      assert.equal(0, status, errors)
      return (output:gsub("[MG]iB", "\1iB"))
    end
    local cost = "\n14068 parameters;\nabout %d+ \1iB of tensors, %d+ \1iB with those not yet "
      .. "garbage%-collected;\nabout [%w ]+ a step with %d+ threads?, %S+ for 20 steps\n"
    assert.matches(cost .. "$", dry_run())
    assert.matches(cost .. "Measured with %d+ of the 1000000000 sequences of a batch.\n"
      .. "This machine has %d+ \1iB for tensors: too little.\n$", dry_run("batch=1000000000"))
    assert.matches("\nThis machine has %d+ \1iB for tensors: too little for the model and two "
      .. "sequences.\n$", dry_run("d_model=" .. (1 << 40)))
  end)
end)
