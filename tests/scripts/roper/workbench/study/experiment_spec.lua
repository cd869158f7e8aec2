local core = require("roper.core")
local experiment = require("roper.workbench.study.experiment")
local evaluation = require("roper.training.evaluation")
local models = require("tests.models")
local roper = require("roper")
local scratch = require("tests.scratch")
local tables = require("roper.base.tables")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

local POSITIONS = table.concat(roper.position.list(), ", ")
local FILES <const> = require("tests.positions").names("scripts/experiments", ".lua")
local NAMES <const> = tables.map(FILES, function(name) -- those with problems
  return name ~= "language_model" and name or nil
end)
local ALL <const> = tables.keys(tables.set(FILES), tables.set(core.tasks.list()))

describe("experiment.list", function()
  it("finds the files of scripts/experiments, and the tasks with problems", function()
    assert.same(ALL, experiment.list())
  end)

  it("finds them from another working directory", function()
    local before = uv.cwd()
    local source = debug.getinfo(experiment.list, "S").source
    if source:sub(2, 2) == "/" then
      uv.chdir("/")
    end
    local names = experiment.list()
    uv.chdir(before)
    assert.same(ALL, names)
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
      'no experiment "adition"; did you mean "addition"? There are ' .. table.concat(ALL, ", "))
    assert.error_matches(function() experiment.definition("../roper/nn") end, "no experiment")
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

  it("takes switches as text", function()
    for text, expected in pairs({ ["true"] = true, ["false"] = false }) do
      local config = experiment.configure("addition", { coupled = text })
      assert.equal(expected, config.coupled)
      assert.equal(expected, experiment.task(config):options().coupled)
    end
  end)

  it("has fields for the options of published models, which are not set by default", function()
    local given = { preset = "smoke", kv_heads = "1", attention_bias = "qkv", norm_epsilon = "1e-3",
      feed_forward_bias = "none", logits_bias = "none", embedding_scale = "1",
      parallel_residual = "true", activation = "gelu_tanh" }
    local model = experiment.build(experiment.configure("copy", given)).model
    assert.equal(1, model.layers[1].attention.kv_heads)
    assert.equal(1e-3, model.norm.epsilon)
    assert.is_nil(model.logits.bias)
    assert.is_true(model.layers[1].parallel_residual)
    local plain = experiment.configure("copy", { preset = "smoke" })
    for name in pairs(given) do
      assert.is_true(name == "preset" or name == "activation" or plain[name] == false, name)
    end
  end)

  it("makes itself again", function()
    for _, name in ipairs(NAMES) do
      for _, preset in ipairs({ "paper", "mini", "smoke" }) do
        local config = experiment.configure(name, { preset = preset, rotate = "vo" })
        local given = core.json_decode(core.json_encode(config))
        given.experiment = nil
        assert.same(config, experiment.configure(name, given))
      end
    end
  end)

  it("refuses values of another kind", function()
    for _, case in ipairs({
      { "steps", "a positive integer", { "x", "1.5", 0, -1, "", true, {}, "1e999", "nan" } },
      { "problems", "a positive integer", { 0 } },
      { "seed", "an integer", { 1.5, "x" } },
      { "max_digits", "an integer from 1 to 18", { 1.5, "x", 0, 19 } },
      { "length", "an integer from 2 to 1048576", { 1 } },
      { "dropout", "a number of at least 0 and below 1", { 1, -1, "x" } },
      { "fraction", "a number from 0 to 1", { 1.5, -1 } },
      { "rotate", "letters of qkvo, each at most once", { "x", "qq", 5, true } },
      { "rate", "a finite non-negative number", { "x", -1, 0 / 0, math.huge, "inf", "1e999" } },
      { "clip", "a finite non-negative number", { -1 } },
      { "position", "one of " .. POSITIONS, { 5, true } },
      { "norm", "one of pre, post, reordered, sandwich", { "both" } },
      { "coupled", "true or false", { 1, "1", "", "yes", {} } },
    }) do
      local field, expected, wrong = table.unpack(case)
      local shown = require("roper.options.rows").shown
      for _, value in ipairs(wrong) do
        assert.has_error(function() experiment.configure("addition", { [field] = value }) end,
          ("field %s: expected %s, got %s"):format(field, expected, shown(value)))
      end
    end
  end)

  it("refuses heads that do not divide the features", function()
    assert.has_error(function() experiment.configure("addition", { heads = 3 }) end,
                     "field d_model: 128 is not divisible by heads, 3")
  end)

  it("suggests the nearest of several values", function()
    assert.has_error(function() experiment.configure("addition", { position = "ropr" }) end,
      ('field position: expected one of %s, got "ropr"; did you mean "rope"?'):format(POSITIONS))
  end)

  it("refuses unknown presets and fields, and suggests the nearest", function()
    assert.has_error(function() experiment.configure("addition", { preset = "papper" }) end,
      'addition has no preset "papper"; did you mean "paper"? It has mini, paper, smoke')
    assert.error_matches(function() experiment.configure("addition", { laers = 3 }) end,
      'addition has no field "laers"; did you mean "layers"%? '
        .. "To list all fields: %./roper train addition %-%-dry%-run$")
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
    local sizes = { addition = { 18.9e6, 20e6 }, substring_index = { 18.9e6, 20e6 },
      substring_prefix = { 0.59e6, 0.61e6 } }
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
        if preset == "paper" and sizes[name] then
          local low, high = table.unpack(sizes[name])
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

  it("hands on what models of today are made of", function()
    local parts = experiment.build(experiment.configure("addition", { preset = "smoke",
      rms_norm = "true", activation = "swiglu", tied_embeddings = true, recompute = true,
      decay = 0.1, cosine = 0.25, warmup = 2, steps = 20 }))
    local model, options = parts.model, parts.optimizer.options
    assert.equal(model.embedding.weight, model.logits.weight)
    assert.is_nil(model.norm.bias)
    assert.is_not_nil(model.layers[1].feed_forward.gate)
    assert.is_true(model.recompute)
    assert.same({ 0.1, "matrices" }, { options.decay, options.decay_on })
    assert.same({ 0.5, 1, 0.25 }, { options.schedule(1), options.schedule(2),
      options.schedule(20) })
    assert.near(0.625, options.schedule(11), 1e-12)
    assert.error_matches(function()
      experiment.configure("addition", { batch = 12, accumulate = 5 })
    end, "field batch: 12 is not divisible by accumulate, 5")
  end)

  it("refuses a configuration of other loaded files", function()
    local config = experiment.configure("addition")
    assert.is_nil(config.loaded)
    config.loaded = "near.lua 0123456789abcdef"
    assert.has_error(function() experiment.check(config) end, "experiment: this configuration was "
      .. "made with near.lua 0123456789abcdef; loaded now: none")
    config.experiment = nil
    assert.is_nil(experiment.configure("addition", config).loaded)
    assert.error_matches(function() experiment.configure("addition", { loaded = "x" }) end,
      'addition has no field "loaded"')
  end)

  it("makes a mutant that rotates values twice", function()
    local config = experiment.configure("addition", { preset = "smoke", position = "twice" })
    local parts = experiment.build(config)
    config.position = "roper"
    local right = experiment.build(config)
    assert.same(models.values(right.model), models.values(parts.model))
    local tokens = parts.task:batch(2)
    assert.is_true(models.difference(parts.model(tokens), right.model(tokens)) > 1e-3)
    -- By hand, for the first layer: o_i = R_{-i} sum_j a_ij R_j R_j v_j.
    local layer = parts.model.layers[1].attention
    local x = roper.randn({ 1, 7, 32 })
    local q, k, v = layer:split(layer.query(x)), layer:split(layer.key(x)),
      layer:split(layer.value(x))
    local scheme = right.model.layers[1].attention.position
    for _, positions in ipairs({ false, roper.tensor({ { 4, 9, 9, 0, 1, 30, 2.5 } }) }) do
      local places = positions or nil
      local a = roper.attention_weights(q, k, { position = scheme, causal = true,
        positions = places })
      local o = a:matmul(scheme:rotate(scheme:rotate(v, places), places))
      o = scheme:unrotate(o, places)
      o = layer.output(o:transpose(2, 3):contiguous():view({ 1, 7, 32 }))
      assert.is_true(models.difference(o, layer(x, nil, places)) < 1e-5)
    end
  end)

  it("gives a mutant the positions of its task", function()
    local parts = experiment.build(experiment.configure("addition", { preset = "smoke",
      position = "twice", coupled = true }))
    local model, tokens = parts.model, parts.task:batch(2):narrow(2, 1, 30)
    local positions = parts.task:positions(tokens)
    local whole = model(tokens, nil, positions)
    assert.is_true(models.difference(whole, model(tokens)) > 1e-3)
    local cache = model:training(false):cache({ batch = 2, length = 30 })
    for _, range in ipairs({ { 1, 11 }, { 12, 18 }, { 30, 1 } }) do
      local logits = model(tokens:narrow(2, range[1], range[2]), cache,
        positions:narrow(2, range[1], range[2]))
      assert.is_true(models.difference(whole:narrow(2, range[1], range[2]), logits) < 1e-4)
    end
  end)

  it("makes a mutant that samples as it trains, and is loaded with its mistake", function()
    local parts = experiment.build(experiment.configure("addition", { preset = "smoke",
      position = "twice" }))
    local tokens = parts.task:batch(2):narrow(2, 1, 30)
    parts.model:training(false)
    local whole = parts.model(tokens)
    local cache = parts.model:cache({ batch = 2, length = 30 })
    parts.model(tokens:narrow(2, 1, 11), cache)
    for place = 12, 30 do
      local logits = parts.model(tokens:narrow(2, place, 1), cache)
      assert.is_true(models.difference(whole:narrow(2, place, 1), logits) < 1e-4)
    end
    local path = scratch.path("mutant.safetensors")
    parts.model:save(path)
    assert.equal(0, models.difference(whole, roper.load(path):training(false)(tokens)))
  end)
end)

describe("experiment.longer", function()
  it("names longer problems that the task takes", function()
    for _, name in ipairs(NAMES) do
      for _, preset in ipairs({ "paper", "mini", "smoke" }) do
        local config = experiment.configure(name, { preset = preset })
        local list, times = experiment.longer(config)
        assert.equal(3, #list)
        assert.same(experiment.definition(name).times or { 1.5, 2, 4 }, times)
        local trained = experiment.build(config).task
        for _, changes in ipairs(list) do
          local longer = evaluation.fresh(trained, 5, changes)
          assert.same(trained:vocabulary(), longer:vocabulary())
        end
      end
    end
    assert.same({ { { max_digits = 18 } }, { 1.5 } },
      { experiment.longer(experiment.configure("addition", { max_digits = 17 })) })
    assert.same({}, (experiment.longer(experiment.configure("addition", { max_digits = 18 }))))
  end)

  it("asks for 1.5, 2 and 4 times what was learned", function()
    assert.same({ { pairs = 9, length = 97 }, { pairs = 12, length = 130 },
      { pairs = 24, length = 260 } },
      (experiment.longer(experiment.configure("recall", { preset = "comparison" }))))
  end)

  it("asks for a needle 2, 4 and 8 times as far, at no distance of training", function()
    local config = experiment.configure("needle", { preset = "smoke" })
    assert.same({ 3, 8, 33 }, { config.distance, config.spread, config.length })
    local list = experiment.longer(config)
    assert.same({ { distance = 14, length = 66 }, { distance = 36, length = 132 },
      { distance = 80, length = 264 } }, list)
    for _, changes in ipairs(list) do
      local task = evaluation.fresh(experiment.build(config).task, 1, changes)
      local _, sources = task:explain((task:batch(40)))
      for _, row in ipairs(sources:totable()) do
        for at, source in ipairs(row) do
          local distance = at - 1 - source
          assert.is_true(source < 0 or distance >= changes.distance
            and distance <= changes.distance + 8 and distance > 11)
        end
      end
    end
  end)

  it("takes other multiples from the field times, without those beyond an option", function()
    local function longer(name, times)
      return { experiment.longer(experiment.configure(name, { preset = "comparison",
        times = times })) }
    end
    assert.same({ { { pairs = 12, length = 130 }, { pairs = 48, length = 520 } }, { 2, 8 } },
      longer("recall", "8,2"))
    assert.same({ 1.5, 2 }, longer("recall", { 2, 1.5, 100 })[2])
    assert.same({ 2, 3 }, longer("substring_prefix", { 3, 2 })[2])
    assert.same({ { { length = 42 } }, { 1.3 } }, longer("state_tracking", { 1.3, 1e300 }))
    for _, name in ipairs(NAMES) do
      local config = experiment.configure(name, { preset = "smoke", times = "1.3,1e300" })
      for _, changes in ipairs((experiment.longer(config))) do
        for option, value in pairs(changes) do
          assert.equal("integer", math.type(value), name .. " " .. option)
        end
      end
    end
  end)
end)
