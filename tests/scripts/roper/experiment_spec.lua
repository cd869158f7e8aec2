local experiment = require("roper.experiment")
local metrics = require("roper.metrics")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

local NAMES <const> = { "addition", "substring_index", "substring_prefix" }

describe("experiment.list", function()
  it("finds the files of scripts/experiments", function()
    assert.same(NAMES, experiment.list())
  end)

  it("finds them from another working directory", function()
    local before = uv.cwd()
    local source = debug.getinfo(experiment.list, "S").source
    if source:sub(2, 2) == "/" then
      uv.chdir("/")
    end
    local names = experiment.list()
    uv.chdir(before)
    assert.same(NAMES, names)
  end)
end)

describe("experiment.definition", function()
  it("has a summary, a task and the presets of the study", function()
    for _, name in ipairs(NAMES) do
      local definition = experiment.definition(name)
      assert.equal("string", type(definition.summary))
      assert.equal(name, definition.task)
      for _, preset in ipairs({ "paper", "mini", "smoke" }) do
        assert.equal("table", type(definition.presets[preset]))
      end
    end
  end)

  it("refuses other names, and suggests the nearest", function()
    assert.has_error(function() experiment.definition("adition") end,
      'no experiment "adition"; did you mean "addition"?; there are ' .. table.concat(NAMES, ", "))
    assert.error_matches(function() experiment.definition("../roper/nn") end, "no experiment")
    assert.error_matches(function() experiment.definition(nil) end, 'no experiment "nil"')
  end)
end)

describe("experiment.configure", function()
  it("is what the study did, for preset paper", function()
    for name, expected in pairs({
      addition = { d_model = 512, layers = 6, heads = 8, norm = "post", length = 641, batch = 32,
        steps = 5000, rate = 2.5e-4, dropout = 0, clip = 0, warmup = 0, max_digits = 8,
        problems = 128 },
      substring_index = { d_model = 512, layers = 6, heads = 8, norm = "post", length = 641,
        batch = 32, steps = 5000, rate = 2.5e-4, dropout = 0, letters = 13, problems = 128 },
      substring_prefix = { d_model = 128, layers = 3, heads = 4, norm = "pre", length = 513,
        batch = 16, steps = 65000, rate = 2.5e-4, dropout = 0, alphabet = 4 },
    }) do
      local config = experiment.configure(name, { preset = "paper" })
      for field, value in pairs(expected) do
        assert.equal(value, config[field], name .. " " .. field)
      end
      assert.equal(name, config.experiment)
      assert.equal("paper", config.preset)
    end
  end)

  it("takes mini by default, and every field that is given", function()
    assert.same(experiment.configure("addition", { preset = "mini" }),
                experiment.configure("addition"))
    local config = experiment.configure("addition", { position = "rope", steps = 7, seed = -3,
      rotate = "kv", max_digits = 3, rate = 1 })
    assert.same({ "rope", 7, -3, "kv", 3, 1 }, { config.position, config.steps, config.seed,
      config.rotate, config.max_digits, config.rate })
  end)

  it("takes numbers as text, whole ones as integers", function()
    local config = experiment.configure("addition", { steps = "7", rate = "1e-3", base = "500.5",
      dropout = "0.10", batch = "8.0", seed = "-2", max_digits = "0x3" })
    assert.same({ 7, 1e-3, 500.5, 0.1, 8, -2, 3 }, { config.steps, config.rate, config.base,
      config.dropout, config.batch, config.seed, config.max_digits })
    assert.equal("integer", math.type(config.batch))
  end)

  it("makes itself again", function()
    for _, name in ipairs(NAMES) do
      for _, preset in ipairs({ "paper", "mini", "smoke" }) do
        local config = experiment.configure(name, { preset = preset, rotate = "vo" })
        local given = roper.json_decode(roper.json_encode(config))
        given.experiment = nil
        assert.same(config, experiment.configure(name, given))
      end
    end
  end)

  it("refuses values of another kind", function()
    for _, case in ipairs({
      { "steps", "a whole number from 1 on", { "x", "1.5", 0, -1, "", true, {}, "1e999", "nan" } },
      { "problems", "a whole number from 1 on", { 0 } },
      { "seed", "a whole number", { 1.5, "x" } },
      { "max_digits", "a whole number", { 1.5, "x" } },
      { "rate", "a finite number from 0 on", { "x", -1, 0 / 0, math.huge, "inf", "1e999" } },
      { "clip", "a finite number from 0 on", { -1 } },
      { "position", "a string", { 5, true } },
    }) do
      local field, expected, wrong = table.unpack(case)
      for _, value in ipairs(wrong) do
        assert.has_error(function() experiment.configure("addition", { [field] = value }) end,
          ("field %s: expected %s, got %s"):format(field, expected, tostring(value)))
      end
    end
  end)

  it("refuses unknown presets and fields, and suggests the nearest", function()
    assert.has_error(function() experiment.configure("addition", { preset = "papper" }) end,
      'addition has no preset "papper"; did you mean "paper"?; it has mini, paper, smoke')
    assert.error_matches(function() experiment.configure("addition", { laers = 3 }) end,
      'addition has no field "laers"; did you mean "layers"%?; it has preset, position, rotate')
    assert.error_matches(function() experiment.configure("addition", { letters = 3 }) end,
                         'addition has no field "letters"')
    assert.error_matches(function() experiment.configure("addition", { experiment = "x" }) end,
                         'addition has no field "experiment"')
  end)
end)

describe("experiment.describe", function()
  it("tells every field and preset, always the same", function()
    for _, name in ipairs(NAMES) do
      local text = experiment.describe(name)
      assert.equal(text, experiment.describe(name))
      assert.equal(name .. ": " .. experiment.definition(name).summary, text:match("^[^\n]+"))
      for field in pairs(experiment.configure(name)) do
        if field ~= "experiment" and field ~= "preset" then
          assert.truthy(text:find("\n  " .. field .. " ", 1, true), field)
        end
      end
      assert.truthy(text:find("\n  mini .*\n  paper .*\n  smoke "))
    end
  end)
end)

describe("experiment.build", function()
  it("builds every preset, of the size of the study", function()
    for _, name in ipairs(NAMES) do
      for _, preset in ipairs({ "paper", "mini", "smoke" }) do
        local config = experiment.configure(name, { preset = preset })
        local parts = experiment.build(config)
        local vocabulary, d = #parts.task:vocabulary(), config.d_model
        local d_ff = config.d_ff or 4 * d
        assert.equal(config.layers * (4 * d * d + 2 * d * d_ff + 9 * d + d_ff)
          + 2 * vocabulary * d + vocabulary + (config.norm == "pre" and 2 * d or 0),
          parts.model:count())
        assert.equal(config.length, parts.task:length())
        assert.equal(config.rate, parts.optimizer.options.rate)
        if preset == "paper" then
          local low, high = 18.9e6, 20e6
          if name == "substring_prefix" then
            low, high = 0.59e6, 0.61e6
          end
          assert.is_true(parts.model:count() >= low and parts.model:count() <= high)
        end
      end
    end
  end)

  it("starts both schemes from the same parameters and the same problems", function()
    local function build(position, seed)
      return experiment.build(experiment.configure("addition", { preset = "smoke", seed = seed,
        position = position }))
    end
    local rope, roper_, other = build("rope", 3), build("roper", 3), build("rope", 4)
    assert.same(models.values(rope.model), models.values(roper_.model))
    assert.same(rope.task:batch(2):totable(), roper_.task:batch(2):totable())
    assert.not_same(models.values(rope.model), models.values(other.model))
    assert.not_same(rope.task:batch(2):totable(), other.task:batch(2):totable())
  end)

  it("hands every field on", function()
    local parts = experiment.build(experiment.configure("substring_index", { preset = "smoke",
      position = "rope", rotate = "vo", pairing = "interleaved", base = 77, fraction = 0.5,
      value_fraction = 0.25, norm = "post", activation = "gelu", dropout = 0.25, rate = 0.5,
      warmup = 4, clip = 2, letters = 5 }))
    assert.same({ dim = 16, rotate = "vo", pairing = "interleaved", base = 77, fraction = 0.5,
      value_fraction = 0.25 }, parts.model.layers[1].attention.position:options())
    assert.equal(0.25, parts.model.layers[1].dropout)
    assert.equal("gelu", parts.model.layers[1].feed_forward.activation)
    assert.is_nil(parts.model.norm)
    local options = parts.optimizer.options
    assert.same({ 0.5, 2, 0.25, 1 }, { options.rate, options.clip, options.schedule(1),
      options.schedule(9) })
    assert.equal(5, parts.task:options().letters)
    assert.is_nil(experiment.build(experiment.configure("addition", { preset = "smoke",
      position = "none" })).model.layers[1].attention.position)
  end)

  it("refuses what its parts refuse", function()
    for message, fields in pairs({
      ["expected one of none, rope, roper, got rop"] = { position = "rop" },
      ["option max_digits: expected a whole number from 1 to"] = { max_digits = 0 },
      ["option dropout: expected a number from 0 to below 1, got 1"] = { dropout = 1 },
      ["option norm: expected one of pre, post, got both"] = { norm = "both" },
      ["3 heads do not divide d_model 128"] = { heads = 3 },
    }) do
      local ok, got = pcall(experiment.build, experiment.configure("addition", fields))
      assert.is_false(ok)
      assert.truthy(got:find(message, 1, true), got)
    end
  end)
end)

describe("experiment.run", function()
  it("runs every smoke preset to its end", function()
    for _, name in ipairs(NAMES) do
      local config = experiment.configure(name, { preset = "smoke" })
      local result = experiment.run(config, { progress = false })
      assert.same(config, result.config)
      assert.equal(4, result.problems)
      assert.equal(4, #result.samples)
      assert.equal(result.task:floor(), result.floor)
      assert.is_true(result.solved >= 0 and result.solved <= 4)
      assert.is_true(result.accuracy >= 0 and result.accuracy <= 1)
      assert.is_true(result.loss > result.floor and result.loss < 10)
      assert.equal(result.model:count(), result.parameters)
      assert.same({ 10, 20 }, { result.history[1].step, result.history[2].step })
      for _, entry in ipairs(result.history) do
        assert.is_true(entry.accuracy >= 0 and entry.test_loss > 0 and entry.loss > 0)
      end
    end
  end)

  it("keeps all of a run in its folder", function()
    local folder = scratch.path("run")
    local config = experiment.configure("substring_index", { preset = "smoke", seed = 4 })
    local result = experiment.run(config, { run = folder, progress = false })
    local function decode(name)
      return roper.json_decode(scratch.read(folder .. "/" .. name))
    end
    assert.same(config, decode("config.json").config)
    local kept = decode("result.json")
    assert.same(config, kept.config)
    for _, field in ipairs({ "solved", "problems", "accuracy", "loss", "floor", "seconds",
                             "parameters", "steps_to_90" }) do
      assert.equal(result[field], kept[field])
    end
    assert.same(result.samples, decode("samples.json"))
    assert.same(result.history, metrics.read(folder .. "/metrics.jsonl"))
    local tensors = roper.load(folder .. "/checkpoint.safetensors")
    for _, entry in ipairs(result.model:named_parameters()) do
      assert.same(entry.tensor:totable(), tensors["model." .. entry.name]:totable())
    end
  end)

  it("leaves the run of another configuration as it was", function()
    local folder = scratch.path("run")
    experiment.run(experiment.configure("addition", { preset = "smoke" }),
                   { run = folder, progress = false })
    local before = {}
    for name in uv.fs_scandir_next, uv.fs_scandir(folder) do
      before[name] = scratch.read(folder .. "/" .. name)
    end
    local other = experiment.configure("addition", { preset = "smoke", base = 5 })
    assert.error_matches(function()
      experiment.run(other, { run = folder, resume = true, progress = false })
    end, "/checkpoint.safetensors: belongs to another configuration: base is 10000 there and 5")
    assert.error_matches(function()
      experiment.run(other, { run = folder, progress = false })
    end, "has a checkpoint; resume it")
    for name, bytes in pairs(before) do
      assert.equal(bytes, scratch.read(folder .. "/" .. name), name)
    end
  end)

  it("is the same from the same seed", function()
    local function run(seed)
      local result = experiment.run(experiment.configure("addition", { preset = "smoke",
        seed = seed }), { progress = false })
      return models.values(result.model), result.samples
    end
    local values, samples = run(2)
    local again, same_samples = run(2)
    local other = run(3)
    assert.same(values, again)
    assert.same(samples, same_samples)
    assert.not_same(values, other)
  end)

  it("counts all problems as solved for one who knows the answers", function()
    local generate = require("roper.generate")
    local sample = generate.generate
    generate.generate = function(_, questions, options)
      local texts = {}
      for i, question in ipairs(questions) do
        texts[i] = options.task:answer(question)
      end
      return texts
    end
    local ok, result = pcall(experiment.run, experiment.configure("substring_index",
      { preset = "smoke", problems = 128 }), { progress = false })
    generate.generate = sample
    assert(ok, result)
    assert.equal(128, result.solved)
  end)
end)

describe("experiment.steps_to", function()
  it("is the first step that was good enough", function()
    local history = { { step = 1, accuracy = 0.5 }, { step = 2 }, { step = 3, accuracy = 0.9 },
      { step = 4, accuracy = 0.2 }, { step = 5, accuracy = 1 } }
    assert.equal(3, experiment.steps_to(history, 0.9))
    assert.equal(1, experiment.steps_to(history, 0.1))
    assert.equal(5, experiment.steps_to(history, 0.95))
    assert.is_nil(experiment.steps_to(history, 1.1))
    assert.is_nil(experiment.steps_to({}, 0.5))
  end)
end)
