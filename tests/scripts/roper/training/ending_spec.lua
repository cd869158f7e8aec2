-- Snapshots, early stopping, divergence, and the measurements in the metrics.

local core = require("roper.core")
local metrics = require("roper.training.metrics")
local models = require("tests.models")
local roper = require("roper")
local runs = require("tests.runs")
local scratch = require("tests.scratch")
local snapshots = require("roper.training.snapshots")
local stopping = require("roper.training.stopping")
local uv = require("luv")

local files, numbers, run = runs.files, runs.numbers, runs.train
local same_checkpoint, timeless = runs.same_checkpoint, runs.timeless

before_each(scratch.create)
after_each(scratch.remove)

-- Trains until step `last`, at which Ctrl-C comes, before its snapshot and checkpoint.
local function interrupted(options, last)
  local model, steps = models.small({ seed = 1, dropout = 0.1 }), 0
  local forward = model.forward
  function model.forward(...)
    steps = steps + 1
    local logits = forward(...)
    if steps == last + 1 then
      uv.kill(uv.os_getpid(), "sigint")
    end
    return logits
  end
  options.model = model
  core.interrupt_enable()
  local ok = core.interrupt_call(function() run(options) end, tostring)
  core.interrupt_disable()
  options.model, model.forward = nil, nil
  assert.is_false(ok)
end

-- The tensors of a file as tables.
local function weights(path)
  local all = {}
  for name, tensor in pairs((core.load_safetensors(path))) do
    all[name] = tensor:totable()
  end
  return all
end

describe("snapshots", function()
  it("are the weights after their steps, and load as models", function()
    local folder = scratch.path("run")
    run({ run = folder, steps = 6, snapshots = { 0, 3, 6 } })
    assert.same({ 0, 3, 6 }, snapshots.steps(folder))
    local _, short = run({ steps = 3 })
    local kept = roper.load(snapshots.path(folder, 3))
    for i, parameter in ipairs(short:parameters()) do
      assert.same(parameter:totable(), kept:parameters()[i]:totable())
    end
    assert.same(models.small({ seed = 1, dropout = 0.1 }).embedding.weight:totable(),
      roper.load(snapshots.path(folder, 0)).embedding.weight:totable())
  end)

  it("do not change the run", function()
    run({ run = scratch.path("a"), steps = 6, snapshots = { 2, 4 } })
    run({ run = scratch.path("b"), steps = 6 })
    assert.is_true(same_checkpoint(scratch.path("a"), scratch.path("b")))
    assert.same(timeless(scratch.path("a")), timeless(scratch.path("b")))
  end)

  it("are the same after Ctrl-C in the step before them, in theirs or after them", function()
    local whole = scratch.path("whole")
    run({ run = whole, steps = 8, snapshots = { 4, 6 }, checkpoint_every = 4 })
    for last = 3, 6 do
      local cut = scratch.path("cut" .. last)
      local options = { run = cut, steps = 8, snapshots = { 4, 6 }, checkpoint_every = 4 }
      interrupted(options, last)
      options.resume = true
      run(options)
      for _, step in ipairs({ 4, 6 }) do
        assert.same(weights(snapshots.path(whole, step)), weights(snapshots.path(cut, step)))
      end
      assert.is_true(same_checkpoint(whole, cut))
    end
  end)

  it("are written when a run resumes at their step", function()
    local folder, notes = scratch.path("run"), {}
    run({ run = folder, steps = 4 })
    run({ run = folder, steps = 5, resume = true, snapshots = { 2, 4 }, progress = {
      update = function() end, finish = function() end,
      note = function(_, text) notes[#notes + 1] = text end } })
    assert.same({ 4 }, snapshots.steps(folder))
    assert.truthy(table.concat(notes, "\n"):find("no snapshot of step 2", 1, true))
  end)

  it("of a run that starts again are put aside", function()
    local folder = scratch.path("run")
    run({ run = folder, steps = 4, snapshots = { 2 } })
    os.remove(folder .. "/checkpoint.safetensors")
    run({ run = folder, steps = 1, resume = true })
    assert.same({}, snapshots.steps(folder))
    assert.is_string(files(folder)["snapshot-2.safetensors.old"])
  end)

  it("must be a list of steps, and need a folder", function()
    for _, wrong in ipairs({ { -1 }, { 1.5 }, { "1" }, { a = 1 } }) do
      assert.error_matches(function() run({ run = scratch.path("x"), snapshots = wrong }) end,
        "train: snapshots: expected a list of non%-negative integers, got ")
    end
    assert.error_matches(function() run({ snapshots = { 1 } }) end, "snapshots need run, a folder")
  end)
end)

-- Trains with an evaluation that returns the numbers of a list, one for each evaluation.
local function evaluated(values, options)
  local all = { steps = 40, log_every = 2, evaluate_every = 2, monitor = "score", patience = 3,
    evaluate = function(_, step) return { score = values[step // 2] or 0 / 0 } end }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return run(all)
end

describe("early stopping", function()
  local VALUES <const> = { 5, 4, 4.5, 3, 3.5, 3.2, 3, 2, 1 }

  it("ends after evaluations without improvement", function()
    local found = evaluated(VALUES)
    assert.equal(14, found.step)
    assert.is_true(found.stopped)
    assert.is_nil(evaluated(VALUES, { steps = 12 }).stopped)
    assert.equal(26, evaluated(VALUES, { patience = 4 }).step)
  end)

  it("counts only changes above min_delta, and larger values with mode max", function()
    assert.equal(8, evaluated({ 5, 4.9, 4.8, 4.7, 4.6 }, { min_delta = 0.5 }).step)
    assert.equal(10, evaluated({ 1, 2, 1, 1, 1, 9 }, { mode = "max" }).step)
    assert.equal(8, evaluated({ 5, 0 / 0, 5, 0 / 0 }, {}).step)
  end)

  it("stops at the same step with the same bits after Ctrl-C", function()
    local whole = scratch.path("whole")
    evaluated(VALUES, { run = whole })
    for _, last in ipairs({ 5, 9, 12, 13 }) do
      local cut = scratch.path("cut" .. last)
      local all = { steps = 40, log_every = 2, evaluate_every = 2, monitor = "score", patience = 3,
        evaluate = function(_, step) return { score = VALUES[step // 2] } end, run = cut }
      interrupted(all, last)
      assert.equal(14, evaluated(VALUES, { run = cut, resume = true }).step)
      assert.is_true(same_checkpoint(whole, cut))
      assert.same(timeless(whole), timeless(cut))
    end
    local again = evaluated(VALUES, { run = whole, resume = true })
    assert.same({ 14, 0, true }, { again.step, #again.history, again.stopped })
    assert.equal(26, evaluated(VALUES, { run = whole, resume = true, patience = 4 }).step)
  end)

  it("does not count an additional evaluation at the last step", function()
    local state = stopping.new({ monitor = "x", mode = "min", patience = 1, min_delta = 0,
      evaluate_every = 10 })
    assert.is_false(state:update({ step = 10, x = 1 }))
    assert.is_false(state:update({ step = 15, x = 2 }))
    assert.is_true(state:update({ step = 20, x = 2 }))
  end)

  it("needs a number to watch", function()
    assert.error_matches(function() run({ patience = 2 }) end,
      "patience needs evaluate and monitor")
  end)
end)

-- Trains a model whose bias becomes NaN after step 5.
local function broken(options)
  local model = models.small({ dropout = 0.1 })
  local all = { model = model, checkpoint_every = 2, steps = 9, log_every = 2, progress = {
    update = function(_, step)
      if step == 5 then
        model.logits.bias:copy(roper.full({ 45 }, 0 / 0))
      end
    end,
    finish = function() end } }
  for name, value in pairs(options) do
    all[name] = value
  end
  return run(all)
end

describe("a run that diverges", function()
  it("ends without an error if asked, and says so in its result and metrics", function()
    local folder = scratch.path("run")
    local found = broken({ run = folder, on_divergence = "stop" })
    assert.equal(5, found.step)
    assert.equal(6, found.diverged.step)
    assert.matches("^the loss is %-?nan$", found.diverged.reason)
    local entries = metrics.read(folder .. "/metrics.jsonl")
    assert.same({ 2, 4, 6 }, numbers(entries, "step"))
    assert.is_true(entries[3].diverged)
    assert.equal(core.json_null, entries[3].loss)
    assert.equal(5, require("roper.model.checkpoint").training_step(
      folder .. "/checkpoint.safetensors"))
  end)

  it("also ends above divergence_threshold, without taking the step", function()
    local found, model = run({ divergence_threshold = 1, on_divergence = "stop" })
    assert.equal(0, found.step)
    assert.equal(1, found.diverged.step)
    assert.matches("^the loss is %d%.%d+ %(above 1%)$", found.diverged.reason)
    assert.same(models.small({ seed = 1, dropout = 0.1 }).embedding.weight:totable(),
      model.embedding.weight:totable())
    assert.error_matches(function() run({ divergence_threshold = 1 }) end,
      "train: the loss is %d%.%d+ %(above 1%) at step 1; try a smaller rate")
    assert.equal(10, run({ divergence_threshold = 100 }).step)
  end)

  it("resumes with another bound, with the bits of a run that never stopped", function()
    run({ run = scratch.path("whole"), steps = 7 })
    local folder = scratch.path("cut")
    local first = run({ steps = 1 }).loss
    run({ run = folder, steps = 7, on_divergence = "stop", divergence_threshold = first - 1e-6 })
    run({ run = folder, steps = 7, resume = true })
    assert.is_true(same_checkpoint(scratch.path("whole"), folder))
    assert.same(timeless(scratch.path("whole")), timeless(folder))
  end)
end)

describe("metrics", function()
  it("contain the gradient norm, the rate with its schedule, tokens a second and memory", function()
    local options = { steps = 4, log_every = 1, optimizer = roper.optim.Adam({ rate = 0.5,
      schedule = roper.optim.schedule.cosine(2, 4) }) }
    local history = run(options).history
    assert.same({ 0.25, 0.5, 0.25, 0 }, numbers(history, "rate"))
    for _, entry in ipairs(history) do
      assert.is_true(entry.gradient_norm > 0)
      assert.is_true(entry.tokens_per_second > 0)
      assert.is_true(entry.memory > 0 and math.type(entry.memory) == "integer")
    end
    local clipped = run({ steps = 4, log_every = 1, optimizer = roper.optim.Adam({ rate = 0.5,
      clip = 1e9, schedule = roper.optim.schedule.cosine(2, 4) }) }).history
    assert.same(numbers(history, "gradient_norm"), numbers(clipped, "gradient_norm"))
  end)

  it("keep numbers of evaluate that have their names", function()
    local entry = run({ steps = 2, evaluate_every = 2, evaluate = function()
      return { rate = 7, memory = 8 }
    end }).history[1]
    assert.same({ 7, 8 }, { entry.rate, entry.memory })
  end)
end)
