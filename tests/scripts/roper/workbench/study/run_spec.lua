local claims = require("roper.workbench.study.run.claim")
local core = require("roper.core")
local evaluation = require("roper.training.evaluation")
local experiment = require("roper.workbench.study.experiment")
local measurement = require("roper.workbench.study.run.measurement")
local metrics = require("roper.training.metrics")
local measures = require("roper.workbench.study.run.measures")
local models = require("tests.models")
local roper = require("roper")
local run = require("roper.workbench.study.run")
local runs = require("tests.runs")
local stored = require("roper.workbench.study.run.runs")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

describe("run.run", function()
  it("runs every smoke preset to its end", function()
    for _, name in ipairs(core.tasks.list()) do
      local config = experiment.configure(name, { preset = "smoke" })
      local result = run.run(config, { progress = false })
      assert.same(config, result.config)
      assert.equal(4, result.problems)
      assert.equal(4, #result.samples.sampled)
      assert.equal(4, #result.samples.greedy)
      assert.equal(result.task:floor(), result.floor)
      assert.equal((result.task:chance()), result.chance)
      assert.equal(result.chance and "(chance 0.500)",
        measures.line(result):match "%(chance [%d.]+%)")
      assert.is_true(result.solved >= 0 and result.solved <= 4)
      assert.is_true(result.accuracy >= 0 and result.accuracy <= 1)
      assert.is_true(result.loss > result.floor and result.loss < 10)
      assert.equal(result.model:count(), result.parameters)
      assert.same({ 10, 20 }, { result.metrics[1].step, result.metrics[2].step })
      for _, entry in ipairs(result.metrics) do
        assert.is_true(entry.accuracy >= 0 and entry.test_loss > 0 and entry.loss > 0)
      end
      assert.is_nil(result.accuracy_beyond)
      for _, entry in ipairs(result.longer) do
        assert.is_true(entry.accuracy_beyond >= 0 and entry.accuracy_beyond <= 1)
      end
    end
  end)

  it("stops early, keeps snapshots, and can be continued with more patience", function()
    local folder = scratch.path("run")
    local fields = { preset = "smoke", rate = 0, steps = 60, evaluate_every = 10, patience = 2,
      snapshots = "0,20" }
    local result = run.run(experiment.configure("copy", fields), { run = folder, progress = false })
    assert.same({ step = 30 }, result.stopped)
    assert.equal(30, result.metrics[#result.metrics].step)
    local stopped = stored.read(folder)
    assert.equal("finished", stopped.status)
    assert.truthy(stored.model(stopped, 20))
    assert.truthy(stored.model(stopped, "0"))
    assert.error_matches(function() stored.model(stopped, 10) end,
      "expected last, best or the step of a snapshot, got 10; there are 0, 20")
    fields.patience = 3
    result = run.run(experiment.configure("copy", fields), { run = folder, resume = true,
      progress = false })
    assert.same({ step = 40 }, result.stopped)
    local status, output = require("tests.process").run({ "./roper", "eval", folder,
      "--checkpoint", "20" })
    assert.equal(0, status, output)
  end)

  it("that diverges has a result that says so", function()
    local folder = scratch.path("run")
    local config = experiment.configure("copy", { preset = "smoke", divergence_threshold = 0.1 })
    local result = run.run(config, { run = folder, progress = false })
    assert.equal(1, result.diverged.step)
    local found = stored.read(folder)
    assert.equal("diverged", found.status)
    assert.matches("^the loss is %d.%d+ %(above 0.1%) at step 1$", found.failure)
    local status, _, errors = require("tests.process").run({ "./roper", "train", "--resume",
      folder })
    assert.equal(1, status)
    assert.truthy(errors:find(folder .. " diverged: the loss is", 1, true), errors)
  end)

  it("keeps all of a run in its folder", function()
    local folder = scratch.path("run")
    local config = experiment.configure("substring_index", { preset = "smoke", seed = 4 })
    local result = run.run(config, { run = folder, progress = false })
    local function decode(name)
      return core.json_decode(scratch.read(folder .. "/" .. name))
    end
    assert.same(config, decode("config.json").config)
    local kept = decode("result.json")
    assert.same(config, kept.config)
    for field, value in pairs(kept) do
      assert.equal(type(value) == "number" and result[field] or value, value, field)
    end
    assert.is_number(kept.loss)
    assert.same(result.samples, decode("samples.json"))
    assert.same(result.metrics, metrics.read(folder .. "/metrics.jsonl"))
    local tensors = roper.load_safetensors(folder .. "/checkpoint.safetensors")
    for _, entry in ipairs(result.model:named_parameters()) do
      assert.same(entry.tensor:totable(), tensors["model." .. entry.name]:totable())
    end
  end)

  it("does not change the run of another configuration", function()
    local folder = scratch.path("run")
    run.run(experiment.configure("addition", { preset = "smoke" }),
            { run = folder, progress = false })
    local before = {}
    for name, bytes in pairs(runs.files(folder)) do
      before[name] = not name:find("^lease") and bytes or nil
    end
    local other = experiment.configure("addition", { preset = "smoke", base = 5 })
    assert.error_matches(function()
      run.run(other, { run = folder, resume = true, progress = false })
    end, "/checkpoint.safetensors: has another configuration: base is 10000 in the file, 5")
    assert.error_matches(function()
      run.run(other, { run = folder, progress = false })
    end, "has a checkpoint; resume it")
    for name, bytes in pairs(before) do
      assert.equal(bytes, scratch.read(folder .. "/" .. name), name)
    end
  end)

  it("does not change the state of a run that it refuses to resume", function()
    local folder = scratch.path("run")
    local config = experiment.configure("addition", { preset = "smoke", checkpoint_every = 5 })
    local other = experiment.configure("addition", { preset = "smoke", base = 5 })
    local function stop(message)
      assert.error_matches(function()
        run.run(config, { run = folder, resume = true, progress = { finish = function() end,
          update = function(_, step)
            if step % 5 == 1 and step > 5 then
              error(message, 0)
            end
          end } })
      end, message)
    end
    local function refused()
      for options, message in pairs({ [{ resume = true }] = "has another configuration",
        [{ resume = false }] = "has a checkpoint; resume it" }) do
        options.run, options.progress = folder, false
        assert.error_matches(function() run.run(other, options) end, message)
      end
    end
    stop("interrupted")
    assert.equal("stopped", stored.read(folder).status)
    refused()
    assert.equal("stopped", stored.read(folder).status)
    stop("no luck")
    refused()
    local failed = stored.read(folder)
    assert.same({ "failed", "no luck" }, { failed.status, failed.failure })
    local held = claims.take(folder)
    assert.is_nil(held)
    claims.retry(folder)
    -- A worker of a sweep must not take a refused run again.
    assert.error_matches(function()
      run.run(other, { run = folder, claim = claims.take(folder), resume = true, progress = false })
    end, "has another configuration")
    assert.equal("failed", claims.read(folder).state)
  end)

  it("resumes with metrics that were not finite or are missing", function()
    local folder = scratch.path("run")
    local function config(steps)
      return experiment.configure("addition", { preset = "smoke", steps = steps,
        evaluate_every = 2 })
    end
    local answers = evaluation.answers
    evaluation.answers = function(...)
      local found = answers(...)
      found.loss, found.accuracy = 0 / 0, 0 / 0
      return found
    end
    local ok, message = pcall(run.run, config(4), { run = folder, progress = false })
    evaluation.answers = answers
    assert(ok, message)
    local result = run.run(config(6), { run = folder, resume = true, progress = false })
    assert.same({ 2, 4, 6 }, { result.metrics[1].step, result.metrics[2].step,
      result.metrics[3].step })
    assert.is_true(result.last_half > 0 and result.seconds > 0)
    assert(os.remove(folder .. "/metrics.jsonl"))
    result = run.run(config(6), { run = folder, resume = true, progress = false })
    assert.same({}, result.metrics)
    assert.is_true(result.last_half ~= result.last_half and result.seconds > 0)
  end)

  it("rounds operands of products if its field asks for it, also after resuming", function()
    local function train(steps, precision, folder)
      local before = core.matmul_precision()
      local result = run.run(experiment.configure("addition", { preset = "smoke", steps = steps,
        matmul_precision = precision }), { run = folder, resume = folder ~= nil, progress = false })
      assert.equal(before, core.matmul_precision())
      return models.values(result.model)
    end
    local folder = scratch.path("run")
    local rounded = train(6, "bfloat16")
    train(3, "bfloat16", folder)
    assert.error_matches(function() train(6, nil, folder) end, "has another configuration: "
      .. "matmul_precision is bfloat16 in the file, false in this run")
    assert.same(rounded, train(6, "bfloat16", folder))
    assert.same(rounded, train(6, "bfloat16"))
    local exact = train(6)
    assert.not_same(rounded, exact)
    core.matmul_precision("bfloat16")
    local ok, values = pcall(train, 6, "float32")
    core.matmul_precision("float32")
    assert.same({ true, exact }, { ok, values })
  end)

  it("is the same from the same seed", function()
    local function values_of(seed)
      local result = run.run(experiment.configure("addition", { preset = "smoke",
        seed = seed }), { progress = false })
      return models.values(result.model), result.samples
    end
    local values, samples = values_of(2)
    local again, same_samples = values_of(2)
    local other = values_of(3)
    assert.same(values, again)
    assert.same(samples, same_samples)
    assert.not_same(values, other)
  end)

  it("counts all problems as solved for a model that knows the answers", function()
    local generate = require("roper.model.generate")
    local sample = generate.generate
    generate.generate = function(_, questions, options)
      local texts = {}
      for i, question in ipairs(questions) do
        texts[i] = options.task:answer(question)
      end
      return texts
    end
    local ok, result = pcall(run.run, experiment.configure("substring_index",
      { preset = "smoke", problems = 128 }), { progress = false })
    generate.generate = sample
    assert(ok, result)
    assert.equal(128, result.solved)
  end)

  it("measures what the study does, and more", function()
    local config = experiment.configure("substring_prefix", { preset = "smoke" })
    local result = run.run(config, { progress = false })
    assert.is_true(result.solved_greedy >= 0 and result.solved_greedy <= 4)
    assert.is_true(result.loss_answers > result.test_floor_answers)
    assert.is_true(result.loss_questions > result.test_floor_questions)
    assert.is_true(result.loss > result.test_floor)
    assert.near(result.floor, result.test_floor, 0.05)
    assert.is_true(#result.by_distance > 10)
    assert.equal(3, #result.longer)
    assert.equal("length=121", result.longer[1].name)
    assert.equal(1.5, result.longer[1].times)
    assert.equal(result.metrics[2].loss, result.last_half)
  end)

  it("measures sequences in batches of the training's size", function()
    local answers, batches = evaluation.answers, {}
    finally(function() evaluation.answers = answers end)
    evaluation.answers = function(model, task, options)
      batches[options.batch] = true
      return answers(model, task, options)
    end
    run.run(experiment.configure("addition", { preset = "smoke", batch = 5 }), { progress = false })
    assert.same({ [5] = true }, batches)
  end)

  it("adds the seconds of the final measurement to those of training", function()
    local clock = require("roper.system.clock")
    local problems = require("roper.workbench.study.run.problems")
    local seconds, measure, now = clock.seconds, problems.measure, 0
    finally(function() clock.seconds, problems.measure = seconds, measure end)
    clock.seconds = function() return now end
    problems.measure = function(...)
      now = now + 50
      return measure(...)
    end
    local config = experiment.configure("copy", { preset = "smoke" })
    assert.equal(50, run.run(config, { progress = false }).seconds)
  end)

  it("measures the new model before training: it generates, or nothing is trained", function()
    local stdout = require("tests.stdout")
    local map -- trained, so that keys of earlier tokens depend on more than themselves
    pcall(roper.position.register, "reads_all", { takes = { d_model = "size" }, per_layer = true,
      init = function(self) self.map = roper.nn.Linear({ inputs = self.d_model, outputs = 1 }) end,
      bias = function(self, _, _, _, x) -- [batch, 1, 1, keys], if x is that of all keys
        map = self.map
        return self.map(x):transpose(2, 3):unsqueeze(2)
      end })
    local config = experiment.configure("copy", { preset = "smoke", position = "reads_all" })
    local said = stdout.capture_errors(function()
      assert.equal(20, run.run(config, { progress = false }).metrics[2].step)
    end)
    assert.equal("generate: the position scheme reads_all cannot use a cache: each token needs a "
      .. "full forward pass\n", said)
    assert.is_true(map ~= nil)

    local generate, folder, steps = require("roper.model.generate"), scratch.path("unmeasured"), 0
    local before = generate.generate
    finally(function() generate.generate = before end)
    generate.generate = function() error("no text", 0) end
    assert.error_matches(function()
      run.run(experiment.configure("copy", { preset = "smoke" }), { run = folder,
        progress = { update = function() steps = steps + 1 end, finish = function() end } })
    end, "^the new model cannot be measured; nothing was trained: no text$")
    assert.equal(0, steps)
    assert.is_nil(require("luv").fs_stat(folder .. "/config.json"))
  end)

  it("keeps the model with the smallest loss on test sequences", function()
    local folder = scratch.path("run")
    local planned, seen = { 5, 3, 2, 4, 2, 6 }, {}
    local answers = evaluation.answers
    evaluation.answers = function(model, task, options)
      local found = answers(model, task, options)
      if options.sequences == measurement.SEQUENCES then -- of an evaluation during training
        seen[#seen + 1] = models.values(model)
        found.loss = planned[#seen] or found.loss
      end
      return found
    end
    local ok, result = pcall(run.run, experiment.configure("addition", { preset = "smoke",
      steps = 60 }), { run = folder, progress = false })
    evaluation.answers = answers
    assert(ok, result)
    assert.equal(6, #result.metrics)
    assert.same(seen[3], models.values(roper.load(folder .. "/best.safetensors")))
    assert.not_same(seen[5], seen[3])
  end)

  it("is claimed by one process at a time, which releases it", function()
    local folder = scratch.path("run")
    local config = experiment.configure("addition", { preset = "smoke" })
    uv.fs_mkdir(folder, 493)
    local held = claims.take(folder)
    assert.has_error(function() run.run(config, { run = folder }) end,
      ("run: %s is in use by process %d on %s"):format(folder, uv.os_getpid(), uv.os_gethostname()))
    held:leave("released")
    assert.error_matches(function()
      run.run(config, { run = folder, progress = { update = function() error("oh no", 0) end,
                                                   finish = function() end } })
    end, "^oh no$")
    assert.same({ "failed", "oh no" }, { claims.read(folder).state, claims.read(folder).message })
    assert.error_matches(function()
      run.run(config, { run = folder, progress = { update = function() error("interrupted", 0) end,
                                                   finish = function() end } })
    end, "^interrupted$")
    assert.equal("free", claims.read(folder).state)
    run.run(config, { run = folder, resume = true, progress = false })
    assert.equal(4, claims.read(folder).number)
    assert.is_nil(runs.files(folder)["lease-0003.json"])
  end)

  it("writes nothing after another process has taken over", function()
    local folder = scratch.path("run")
    local config = experiment.configure("addition", { preset = "smoke" })
    assert.error_matches(function()
      run.run(config, { run = folder, progress = { finish = function() end,
        update = function(_, step)
          if step == 20 then
            scratch.write("run/lease-0002.json", "{}")
          end
        end } })
    end, "another worker has taken over")
    assert.is_nil(uv.fs_stat(folder .. "/result.json"))
    assert.equal(2, claims.read(folder).number)
  end)
end)

describe("run.claim_new", function()
  local config = experiment.configure("addition", { preset = "smoke" })

  local function claim(changes)
    local folder, held = run.claim_new(scratch.path("run"), tables.merged(config, changes))
    held:leave("released")
    return folder:match("[^/]+$")
  end

  -- Begins the content of run/.
  local function begin(about, ...)
    os.execute("rm -rf " .. scratch.path("run"))
    uv.fs_mkdir(scratch.path("run"), 493)
    scratch.write("run/config.json", core.json_encode(about))
    for _, name in ipairs({ ... }) do
      scratch.write("run/" .. name, "")
    end
  end

  it("takes the first folder that does not exist", function()
    local folder, held = run.claim_new(scratch.path("run"), config)
    assert.equal(scratch.path("run"), folder)
    assert.equal("running", claims.read(folder).state)
    scratch.write("run-2", "a file")
    uv.fs_mkdir(scratch.path("run-3"), 493)
    scratch.write("run-3/notes.txt", "of a user")
    assert.equal("run-4", claim())
    held:leave("released")
  end)

  it("takes that of a run which ended before its first checkpoint", function()
    assert.equal("run", claim())
    assert.equal("run", claim())
    begin({ config = tables.merged(config, { hash = "of the text" }) }, "metrics.jsonl",
      "best.safetensors", "snapshot-0.safetensors", "config.json.1-0123abcd.tmp")
    assert.equal("run", claim())
    assert.equal("run-2", claim({ rate = 1 }))
    for _, name in ipairs({ "checkpoint.safetensors", "result.json" }) do
      begin({ config = config }, name)
      assert.equal("run-2", claim())
    end
    begin({}, "metrics.jsonl")
    os.remove(scratch.path("run/config.json")) -- it was not written yet
    assert.equal("run", claim())
    for _, damaged in ipairs({ {}, { config = 3 } }) do
      begin(damaged)
      assert.equal("run-2", claim())
    end
  end)
end)

describe("run.steps_to", function()
  it("is the first step with the accuracy", function()
    local metrics_ = { { step = 1, accuracy = 0.5 }, { step = 2 }, { step = 3, accuracy = 0.9 },
      { step = 4, accuracy = 0.2 }, { step = 5, accuracy = 1 } }
    assert.equal(3, run.steps_to(metrics_, 0.9))
    assert.equal(1, run.steps_to(metrics_, 0.1))
    assert.equal(5, run.steps_to(metrics_, 0.95))
    assert.is_nil(run.steps_to(metrics_, 1.1))
    assert.is_nil(run.steps_to({}, 0.5))
  end)
end)
