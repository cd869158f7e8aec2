local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local generate = require("roper.model.generate")
local stored = require("roper.workbench.study.run.runs")
local models = require("tests.models")
local process = require("tests.process")
local roper = require("roper")
local run = require("roper.workbench.study.run")
local scratch = require("tests.scratch")
local sentencepiece = require("tests.sentencepiece")
local summary = require("roper.workbench.study.report.summary")
local reports = require("tests.reports")
local results = require("roper.workbench.study.report.results")
local uv = require("luv")
local validation = require("roper.training.validation")

local LICENSES <const> = "/usr/share/common-licenses"

local function config_of(fields)
  local given = { preset = "smoke", files = LICENSES }
  for name, value in pairs(fields or {}) do
    given[name] = value
  end
  return experiment.configure("language_model", given)
end

before_each(scratch.create)
after_each(scratch.remove)

describe("the experiment language_model", function()
  it("has a preset of the study's size and smaller presets", function()
    local paper = experiment.configure("language_model", { preset = "paper", files = "x" })
    assert.same({ "text", 32000, 1024, 12 }, { experiment.definition("language_model").task,
      paper.vocabulary, paper.d_model, paper.layers })
    for preset, expected in pairs({ paper = 217e6, small = 10e6, mini = 1e6 }) do
      local c = experiment.configure("language_model", { preset = preset, files = "x" })
      local d = c.d_model
      local count = 12 * c.layers * d * d + c.vocabulary * d * (c.tied_embeddings and 1 or 2)
      assert.near(expected, count, 0.06 * expected, preset)
    end
  end)

  it("requires a text that can be measured", function()
    local status, _, errors = process.run({ "./roper", "train", "language_model" })
    assert.equal(2, status)
    assert.truthy(errors:find("language_model needs the field files, a file of text, or a folder "
      .. "of them, or a list of these: set files=...\n", 1, true), errors)
    assert.error_matches(function()
      run.run(config_of({ files = scratch.path("none") }), { progress = false })
    end, "none")
    local folder = scratch.path("run")
    assert.error_matches(function()
      run.run(config_of({ validation = 0 }), { run = folder, progress = false })
    end, "a row of 33 tokens is longer than the validation text of 0 tokens")
    assert.is_nil(uv.fs_stat(folder .. "/checkpoint.safetensors"))
  end)

  it("measures rows two and four times as long", function()
    local changes, times = experiment.longer(config_of())
    assert.same({ { { length = 65 }, { length = 129 } }, { 2, 4 } }, { changes, times })
    assert.equal(129, experiment.reach(config_of({ position = "learned" })))
  end)
end)

describe("a run on text", function()
  it("is tested on rows whose length is no multiple of that in training", function()
    local config = config_of({ times = "1.3", steps = 1, evaluate_every = 1 })
    local result = run.run(config, { run = scratch.path("run"), progress = false })
    assert.same({ "length=42", 1.3 }, { result.longer[1].name, result.longer[1].times })
  end)

  it("measures the loss and its relatives", function()
    local folder = scratch.path("run")
    local result = run.run(config_of(), { run = folder, progress = false })
    assert.is_true(result.loss > 0 and result.loss < 6)
    assert.near(math.exp(result.loss), result.perplexity, 1e-9)
    assert.near(result.loss / math.log(2), result.bits_per_byte, 0.01 * result.bits_per_byte)
    assert.equal(16 * 32, result.tokens)
    local sum, last = 0, 0
    for _, entry in ipairs(result.by_position) do
      assert.equal(last + 1, entry.first)
      sum, last = sum + entry.loss * (entry.last - entry.first + 1), entry.last
    end
    assert.equal(32, last)
    assert.near(result.loss, sum / 32, 1e-9)
    assert.same({ "length=65", 2, "length=129", 4 }, { result.longer[1].name,
      result.longer[1].times, result.longer[2].name, result.longer[2].times })
    assert.same({ nil, nil, nil }, { result.solved, result.accuracy, result.steps_to_90 })
    for i, entry in ipairs(result.metrics) do
      assert.equal(10 * i, entry.step)
      assert.is_true(entry.validation_loss > 0 and #entry.sample > 8)
      assert.is_nil(entry.accuracy)
    end
    assert.equal(3, #result.samples.written)
    local read = stored.read(folder)
    assert.equal("finished", read.status)
    assert.same(result.loss, read.result.loss)
    assert.same(result.samples, read.samples)
    assert.equal("finished", stored.read(folder, config_of()).status)
    assert.truthy(uv.fs_stat(folder .. "/best.safetensors"))
  end)

  it("resumes bit for bit", function()
    local whole = run.run(config_of(), { progress = false })
    local folder = scratch.path("run")
    assert.error_matches(function()
      run.run(config_of(), { run = folder, progress = { finish = function() end,
        update = function(_, step)
          if step == 13 then
            error("interrupted", 0)
          end
        end } })
    end, "interrupted")
    local resumed = run.run(config_of(), { run = folder, resume = true, progress = false })
    assert.same(models.values(whole.model), models.values(resumed.model))
    assert.same(whole.samples, resumed.samples)
    assert.equal(whole.loss, resumed.loss)
  end)

  it("refuses to resume with another text", function()
    local path = scratch.write("text", ("One paragraph of words.\n\n"):rep(40))
    local fields = { files = path, documents = "paragraphs", steps = 10, length = 9 }
    local folder = scratch.path("run")
    run.run(config_of(fields), { run = folder, progress = false })
    scratch.write("text", ("Another paragraph here.\n\n"):rep(40))
    fields.steps = 20
    assert.error_matches(function()
      run.run(config_of(fields), { run = folder, resume = true, progress = false })
    end, "has another configuration: hash is %x+ in the file, %x+")
  end)

  it("keeps its tokenizer; its model needs neither the text nor the cache", function()
    if sentencepiece.missing then
      return pending(sentencepiece.missing)
    end
    local folder = scratch.path("run")
    local result = run.run(config_of({ tokenizer = "sentencepiece", vocabulary = 272,
      files = scratch.write("text", ("A paragraph of words.\n\n"):rep(40)), length = 9,
      documents = "paragraphs" }), { run = folder, progress = false })
    local expected = roper.generate(result.model, { "A par" }, { task = result.task, seed = 1 })
    os.execute(("cd '%s' && rm -r cache text"):format(scratch.path("")))
    local model, task = stored.model(stored.read(folder))
    assert.same(expected, roper.generate(model, { "A par" }, { task = task, seed = 1 }))
    local path = task:model()
    scratch.write(path:sub(#scratch.path("") + 1), scratch.read(path) .. "\n")
    assert.error_matches(function() stored.model(stored.read(folder)) end,
      "text: .*/run/tokenizer%-%x+%.model is damaged: its content does not match its name")
    os.remove(path)
    assert.error_matches(function() stored.model(stored.read(folder)) end,
      "text: expected a tokenizer in .*/run, found no tokenizer%-%*%.model")
  end)

  it("never has the logits of all tokens at once", function()
    local parts = experiment.build(config_of())
    local expected, task, count = 0, parts.task, 0
    for tokens in task:validation({ batch = 4, limit = 8 }) do
      local last = tokens:size(2) - 1
      expected = expected + core.cross_entropy(parts.model(tokens:narrow(2, 1, last)),
        tokens:narrow(2, 2, last)):item() * 4
      count = count + 4
    end
    local class = getmetatable(parts.model)
    local forward = class.forward
    finally(function() class.forward = forward end)
    class.forward = function() error("all logits") end
    assert.error_matches(function() parts.model(task:batch(1)) end, "all logits")
    local found = validation.measure(parts.model, task, { batch = 4, sequences = 8 })
    assert.near(expected / count, found.loss, 1e-5)
  end)

  it("stores generated text as valid text, whatever its bytes", function()
    local sample = generate.generate
    finally(function() generate.generate = sample end)
    generate.generate = function() return { "a\xFF\0b\27[2J\0" } end
    local result = run.run(config_of(), { run = scratch.path("run"), progress = false })
    assert.equal("a\\xFF\n\nb\\x1B[2J", result.samples.written[1].text)
  end)
end)

describe("a sweep on text", function()
  it("shows what it has, and nothing about problems", function()
    local folder = scratch.path("sweep")
    local status, output, errors = process.run({ "./roper", "sweep", "language_model",
      "preset=smoke", "files=" .. LICENSES, "position=rope,roper", "seed=1,2", "--jobs", "1",
      "--folder", folder })
    assert.equal(0, status, errors)
    assert.matches("rope%-1%-%x+: loss [%d.]+, perplexity [%d.]+, [%d.]+ bits per byte, ", errors)
    assert.matches("\n? *method +runs +loss +perplexity +bits per byte\n", output)
    assert.matches("\nLoss by length\n +times the length +1 +2 +4\n", output)
    status, output = process.run({ "./roper", "report", folder })
    assert.equal(0, status)
    local page = scratch.read(folder .. "/report.html")
    for _, shown in ipairs({ "Validation loss", "Loss by position", "Loss by length",
      "Bits per byte", "Copyrigh" }) do
      assert.truthy(page:find(shown, 1, true), shown)
    end
    for _, absent in ipairs({ "90 %", "floor", "correct of", "Accuracy", "accuracy", "greedy",
      "attention map" }) do
      assert.is_nil(page:find("[>“ ]" .. absent), absent)
      assert.is_nil(output:find(absent, 1, true), absent)
    end
    status, output, errors = process.run({ "./roper", "report", folder, "--head", "1" })
    assert.equal(1, status, output)
    assert.truthy(errors:find("layer, head and problem need runs on problems", 1, true))
  end)

  it("has its own columns before any run has finished", function()
    local trial = { method = "rope", seed = 1, run = { status = "waiting", config = config_of(),
      provenance = {}, metrics = {} } }
    local sweep = { methods = { "rope" }, trials = { trial } }
    assert.same({ { "method", "runs", "loss", "perplexity", "bits per byte" },
      { "rope", "0 of 1", "–", "–", "–" } },
      reports.rows(results({ sweep = sweep, summary = summary.of(sweep) }), "study"))
  end)
end)
