local experiment = require("roper.workbench.study.experiment")
local definitions = require("roper.workbench.study.experiment.definitions")
local fields = require("roper.workbench.study.experiment.fields")
local measures = require("roper.workbench.study.run.measures")
local needs = require("roper.workbench.study.experiment.needs")
local configuration = require("roper.workbench.study.experiment.configuration")
local grid = require("roper.workbench.study.experiment.grid")
local process = require("tests.process")
local roper = require("roper")
local tables = require("roper.base.tables")

local function echo(changes)
  return tables.merged({ vocabulary = { "a", "b", ">" },
    options = { { "letters", { smallest = 1, largest = 50 }, 3, "in a problem" },
      { "upper", "boolean", true, "an option that is true by default" },
      { "length", { smallest = 2, largest = 200 }, 12, "tokens in a row" } },
    generate = function(options, random)
      local text = ""
      for _ = 1, options.letters do
        text = text .. random:choice({ "a", "b" })
      end
      return text .. ">", text
    end }, changes)
end

describe("definitions.find", function()
  it("does not take an error of reading for a missing experiment", function()
    local run = dofile
    finally(function() rawset(_G, "dofile", run) end)
    rawset(_G, "dofile", function() error("cannot read", 0) end)
    for _, f in ipairs({ experiment.has_problems, needs.missing }) do
      assert.has_error(function() f({ experiment = "copy" }) end, "cannot read")
    end
    assert.has_error(function() measures.main({ "copy" }) end, "cannot read")
  end)
end)

local function refuses(name, definition, expected)
  local ok, message = pcall(function() roper.experiment.register(name, definition) end)
  assert.is_false(ok)
  assert.truthy(message:find("definitions_spec.lua", 1, true), message)
  assert.truthy(message:find(expected, 1, true), message)
end

describe("a registered task", function()
  roper.tasks.register("echo_spec", echo({ longer = { "letters", "length" }, summary = "repeat" }))

  it("is an experiment of its name, with presets", function()
    assert.is_true(tables.set(experiment.list()).echo_spec)
    local config = experiment.configure("echo_spec", { letters = "4" })
    assert.same({ 4, 12, 1000, "Transformer", "true" }, { config.letters, config.length,
      config.steps, config.model, config.upper })
    assert.equal(20, experiment.configure("echo_spec", { preset = "smoke" }).steps)
    assert.truthy(experiment.describe("echo_spec"):find("^echo_spec: repeat\n"))
    local task = experiment.task(config)
    assert.equal("echo_spec", task:name())
    assert.same({ { letters = 6, length = 18 }, { letters = 8, length = 24 },
      { letters = 16, length = 48 } }, (experiment.longer(config)))
    assert.equal(48, experiment.reach(config))
    assert.error_matches(function() experiment.configure("echo_spec", { letters = 51 }) end,
      "field letters: expected an integer from 1 to 50, got 51")
    assert.error_matches(function() experiment.definition("echo_spek") end,
      'did you mean "echo_spec"')
    assert.is_true(experiment.has_problems({ experiment = "echo_spek" }))
  end)

  it("takes the field times only if it defines longer", function()
    roper.tasks.register("short_spec", echo())
    assert.is_false(experiment.configure("short_spec").times)
    assert.has_error(function() experiment.configure("short_spec", { times = "2,4" }) end,
      "field times: expected an experiment that defines `longer`, the options of its task to "
      .. "multiply; short_spec defines none")
  end)

  it("keeps a boolean option that is true by default", function()
    for given, expected in pairs({ [false] = false, ["false"] = false, ["true"] = true,
                                   [true] = true }) do
      local config = experiment.configure("echo_spec", { upper = given })
      assert.equal(expected, experiment.task(config):options().upper)
      local again = tables.merged(config)
      again.experiment = nil
      assert.same(config, experiment.configure("echo_spec", again))
    end
    assert.not_equal(configuration.hash(experiment.configure("echo_spec", { upper = false })),
      configuration.hash(experiment.configure("echo_spec")))
  end)

  it("cannot have an option with the name of a common field", function()
    roper.tasks.register("rate_spec", echo({ options = { { "letters", "size", 2 },
      { "rate", "amount", 1 } } }))
    assert.error_matches(function() experiment.configure("rate_spec") end,
      "task rate_spec: its option rate is a field of every experiment; rename the option")
  end)

  it("is checked before training: longer problems must be longer", function()
    roper.tasks.register("fixed_spec", echo({ longer = { "length" } }))
    local config = experiment.configure("fixed_spec", { preset = "smoke" })
    assert.error_matches(function() require("roper.workbench.study.run").run(config) end,
      "problem: expected a problem that fixed_spec.* could not pose, found none")
    roper.tasks.register("wild_spec", echo({ longer = function() return { letter = 9 } end }))
    assert.error_matches(function()
      experiment.longer(experiment.configure("wild_spec", { preset = "smoke" }))
    end, "experiment wild_spec: longer: expected numbers for options of the task, got letter = 9")
    roper.tasks.register("other_spec", echo({ longer = function() return 4 end }))
    assert.error_matches(function()
      experiment.longer(experiment.configure("other_spec", { preset = "smoke" }))
    end, "experiment other_spec: longer: expected a table of options of the task, got 4")
  end)
end)

describe("experiment.register", function()
  it("takes what a file in scripts/experiments returns", function()
    local folder = "scripts/experiments/"
    for i, name in ipairs({ "addition", "copy", "language_model", "substring_prefix" }) do
      local definition = dofile(folder .. name .. ".lua")
      roper.experiment.register("file_spec" .. i, definition)
      assert.same(tables.keys(definition.presets),
        tables.keys(experiment.definition("file_spec" .. i).presets))
      assert.equal(definition.measure, experiment.definition("file_spec" .. i).measure)
    end
  end)

  it("makes a name like any other", function()
    roper.experiment.register("own_spec", { task = "echo_spec", measure = "loss",
      presets = { mini = { letters = 2, steps = 5, upper = false } }, longer = { "letters" },
      times = { 3 } })
    local config = experiment.configure("own_spec", { seed = 4 })
    assert.same({ 2, 5, "false", 12 }, { config.letters, config.steps, config.upper,
      config.length })
    assert.same({ { letters = 6 } }, (experiment.longer(config)))
    assert.equal("loss", measures.main({ "own_spec" }).name)
    assert.equal(1, #grid.configure("own_spec", { { "position", { "rope" } } }))
  end)

  it("may compare methods by any measure, also by one that has no curve", function()
    for _, name in ipairs(definitions.MEASURES) do
      roper.experiment.register("curve_" .. name, { task = "echo_spec", measure = name })
      local main = measures.main({ "curve_" .. name })
      assert.equal(name, main.name)
      local shown = measures.with_curves(main)
      assert.equal(main.curve or shown[1].curve, shown[1].curve)
      for _, measure in ipairs(shown) do
        assert.truthy(measure.curve, name)
      end
    end
  end)

  it("refuses names that exist, and other definitions", function()
    refuses("copy", { task = "copy" }, "copy is a built-in experiment; choose another name")
    refuses("a-b", { task = "copy" }, 'letters, digits and _, got "a-b"')
    refuses("x", nil, "experiment x (")
    refuses("x", {}, "option task: expected a string, got nil")
    refuses("x", { task = "coppy" }, 'task: expected one of addition, copy,')
    refuses("x", { task = "coppy" }, 'did you mean "copy"')
    refuses("x", { task = "copy", preset = {} }, 'unknown option preset; did you mean "presets"')
    refuses("x", { task = "copy", measure = "los" }, 'did you mean "loss"')
    refuses("x", { task = "copy", presets = { small = {} } },
      "presets: expected a preset mini, the default, got small")
    refuses("x", { task = "copy", presets = { mini = { step = 5 } } },
      'preset mini: no field "step"; did you mean "steps"')
    refuses("x", { task = "copy", presets = { mini = { steps = 0 } } },
      "preset mini: field steps: expected a positive integer, got 0")
    refuses("x", { task = "copy", presets = { mini = 3 } }, "expected tables of fields by name")
    refuses("x", { task = "copy", longer = { "letter" } },
      'longer: "letter" is not an option of the task with a number; did you mean "letters"')
    refuses("x", { task = "copy", longer = 3 }, "longer: expected a list of options or a function")
    refuses("x", { task = "copy", longer = { "letters" }, times = { 0 } },
      "times: expected positive numbers, got 0")
    refuses("x", { task = "copy", times = { 2 } },
      "times: has an effect only with longer, the options of the task to multiply")
    refuses("x", { task = "copy", model = "Nobody" }, "model: expected one of Transformer")
    assert.is_nil(tables.set(experiment.list()).x)
    load("local r = ... r.experiment.register('twice_spec', { task = 'copy' })", "@o.lua")(roper)
    refuses("twice_spec", { task = "copy" }, "is already registered, by o.lua; choose another name")
  end)

  it("knows the names of all measures at the length in training", function()
    assert.same(definitions.MEASURES, tables.map(measures.ALL, function(one)
      return not one.is_beyond and one.name or nil
    end))
  end)
end)

describe("needs.require", function()
  local function needed(changes)
    return needs.missing(tables.merged(experiment.configure("echo_spec"), changes))
  end

  it("names what is not registered", function()
    assert.is_nil(needed())
    assert.equal("the experiment none_spec", needed({ experiment = "none_spec" }))
    assert.equal("the position scheme flat", needed({ position = "rope:flat" }))
    assert.equal("the model class Nobody", needed({ model = "Nobody" }))
    assert.error_matches(function()
      needs.require("a run", { experiment = "none_spec", position = "rope" })
    end, "a run: needs the experiment none_spec: register it first, in a file for %-%-load")
  end)
end)

describe("the field model", function()
  local function define(changes)
    local Own = roper.nn.class("FieldSpec")
    function Own:init(o)
      self.given = setmetatable({ o }, { __name = "options" })
      self.embedding = roper.nn.Embedding({ count = o.vocabulary, features = o.d_model })
      self.logits = roper.nn.Linear({ inputs = o.d_model, outputs = o.vocabulary })
    end
    function Own:forward(tokens) return self.logits(self.embedding(tokens)) end
    for name, f in pairs(changes or {}) do
      Own[name] = f
    end
    return Own
  end

  it("builds a model of a class of one's own", function()
    define()
    local config = experiment.configure("echo_spec", { model = "FieldSpec", d_model = 8,
      heads = 2, rms_norm = true })
    local model = experiment.build(config).model
    assert.equal("FieldSpec", getmetatable(model).name)
    local o = model.given[1]
    assert.same({ 3, 8, 2, true, 48, "roper" }, { o.vocabulary, o.d_model, o.heads, o.rms_norm,
      o.length, o.position })
    assert.equal(model:count(), require("roper.workbench.study.run.estimate").run(
      tables.merged(config, { batch = 2, steps = 2, problems = 2 })).parameters)
    local seed, counter = roper.random_state()
    roper.nn.Transformer({ vocabulary = 3, d_model = 8, heads = 2 })
    experiment.build(config)
    assert.same({ seed, counter }, { roper.random_state() })
  end)

  it("is the default of an experiment", function()
    local class = define()
    for _, model in ipairs({ class, "FieldSpec" }) do
      roper.experiment.register("model_spec", { task = "echo_spec", model = model })
      local config = experiment.configure("model_spec")
      assert.equal("FieldSpec", config.model)
      assert.equal("FieldSpec", getmetatable(experiment.build(config).model).name)
      config = experiment.configure("model_spec", { model = "Transformer" })
      assert.equal("Transformer", config.model)
      config.experiment = nil
      assert.equal("Transformer", experiment.configure("model_spec", config).model)
    end
    for _, field in ipairs(fields.of("copy")) do
      assert.is_true(field[1] ~= "model" or tables.set(fields.choices(field)).FieldSpec)
    end
  end)

  it("refuses a class with the name of roper's own model", function()
    local status, _, errors = process.run({ "./roper", "-e", [[
      roper.nn.class "Transformer"
      roper.experiment.build(roper.experiment.configure("copy", {preset = "smoke"}))]] })
    assert.equal(1, status)
    assert.matches("model Transformer: a class of your own has the name of roper's; give it "
      .. "another name", errors)
  end)

  it("refuses a registered task with the name of a built-in experiment", function()
    local status, _, errors = process.run({ "./roper", "-e", [[
      roper.tasks.register("language_model", {vocabulary = {"a", ">"},
        generate = function() return ">", "a" end})
      roper.experiment.configure("language_model", {files = "README.md"})]] })
    assert.equal(1, status)
    assert.matches("the registered task language_model has the name of a built%-in experiment",
      errors)
  end)

  it("refuses a negative epsilon of norms as a field", function()
    assert.error_matches(function()
      experiment.configure("copy", { norm_epsilon = "-1" })
    end, "field norm_epsilon: expected a finite non%-negative number")
  end)

  it("refuses classes that are not models, before training", function()
    local function refuse_model(changes, expected)
      define(changes)
      assert.error_matches(function()
        experiment.build(experiment.configure("echo_spec", { model = "FieldSpec" }))
      end, expected)
    end
    refuse_model({ forward = function(self, tokens) return self.embedding(tokens) end },
      "model FieldSpec: expected logits of 3 tokens, the vocabulary of the task, got 64")
    refuse_model({ forward = function() return 3 end }, "expected logits %[1, 2, vocabulary%]")
    refuse_model({ init = function() end }, "model FieldSpec: expected parameters to train")
    assert.error_matches(function() experiment.configure("copy", { model = "Fieldspec" }) end,
      'field model: expected one of Transformer, .*got "Fieldspec"; did you mean "FieldSpec"')
  end)
end)
