local core = require("roper.core")
local estimate = require("roper.workbench.study.experiment.estimate")
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
    local cost = require("roper.workbench.study.experiment.estimate").run(config)
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

  it("counts a batch in parts: the memory of one, the time of all", function()
    local clock = require("roper.system.clock")
    local seconds, now = clock.seconds, 0
    finally(function() clock.seconds = seconds end)
    clock.seconds = function()
      now = now + 1
      return now
    end -- a part of a step takes a second, and so does an update
    local function cost(batch, accumulate)
      return estimate.run(experiment.configure("addition", { preset = "smoke", d_model = 64,
        layers = 4, problems = 1, batch = batch, accumulate = accumulate }))
    end
    local part, parts, whole = cost(8), cost(32, 4), cost(32)
    assert.near(2, part.seconds, 1e-9)
    assert.near(5, parts.seconds, 1e-9)
    assert.near(2, whole.seconds, 1e-9)
    assert.near(part.evaluation, parts.evaluation, 1e-9)
    -- A float32 gradient of each parameter is kept between the parts.
    assert.near(4 * part.parameters, parts.bytes - part.bytes, part.parameters)
    assert.is_true(parts.bytes < 0.5 * whole.bytes)
  end)

  it("counts the parameters of models that are larger than those it builds", function()
    for _, position in ipairs({ "shaw:learned+t5", "kerple+learned_frequencies" }) do
      local config = experiment.configure("copy", { preset = "smoke", d_model = 288, heads = 9,
        layers = 6, d_ff = 300, length = 80, batch = 1, problems = 1, activation = "swiglu",
        position = position })
      assert.equal(experiment.build(config).model:count(), estimate.run(config).parameters)
    end
    local shared = experiment.configure("copy", { preset = "smoke", d_model = 384, heads = 12,
      kv_heads = 4, layers = 6, batch = 1, problems = 1 })
    assert.equal(experiment.build(shared).model:count(), estimate.run(shared).parameters)
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
    local script = scratch.write("peaks.lua", "local CONFIGURATIONS = "
      .. roper.format.value(configurations) .. "\n" .. PEAKS)
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

  it("extrapolates to longer sequences what schemes keep of every pair of tokens", function()
    local script = scratch.write("schemes.lua", [[
      require("roper.core").threads(1)
      local experiment = require "roper.workbench.study.experiment"
      local estimate = require "roper.workbench.study.experiment.estimate"
      for _, case in ipairs { { "rope", 513 }, { "alibi", 513 }, { "cope", 513 },
        { "cope", 1025 } } do
        io.write(estimate.run(experiment.configure("copy", {
          position = case[1], length = case[2], preset = "smoke", problems = 1, heads = 1,
          batch = 2 })).bytes, "\n")
      end
    ]]) -- in a process of its own: what is in use is counted, which takes long where much is
    local status, output, errors = process.run({ "./roper", script })
    assert.equal(0, status, errors)
    local rope, alibi, cope, long = output:match("^(%S+)\n(%S+)\n(%S+)\n(%S+)\n$")
    local scores = 2 * 512.0 ^ 2 * 4
    assert.is_true(alibi + 0.0 < 1.2 * rope)
    assert.is_true(cope + 0.0 > rope + 4 * scores)
    assert.is_true(long + 0.0 > 3 * cope)
  end)

  it("takes no memory of the size of the run", function()
    finally(function() roper.memory_limit(0) end)
    collectgarbage()
    roper.memory_limit(core.memory().live + (256 << 20))
    local config = experiment.configure("addition", { preset = "smoke", batch = 1000000 })
    assert.is_true(estimate.run(config).bytes > 100e9)
    config = experiment.configure("addition", { preset = "smoke", d_model = 1 << 40, heads = 1,
      layers = 1000 })
    assert.is_true(estimate.run(config).bytes > 4 * 12 * 1000 * 2.0 ^ 80)
  end)

  it("is told by a dry run, and whether the machine has the memory", function()
    local status, output = process.run({ "./roper", "train", "addition", "--dry-run" })
    assert.equal(0, status)
    assert.matches("\n600212 parameters;\nabout 1%d%d MiB of tensors, %d+ MiB with those not "
      .. "yet garbage%-collected;\nabout [%w ]+ a step with %d+ threads, %w+ for 2000 steps\n",
      output)
    status, output = process.run({ "./roper", "train", "addition", "--dry-run",
      "preset=smoke", "batch=1000000000" })
    assert.equal(0, status)
    assert.matches("\nThis machine has %d+ %ciB for tensors: too little.\n$", (output:gsub("[MG]iB",
      "\1iB")))
  end)
end)
