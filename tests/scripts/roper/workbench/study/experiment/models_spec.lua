-- The field `model` of experiments: classes of users with options in braces.

local configuration = require("roper.workbench.study.experiment.configuration")
local experiment = require("roper.workbench.study.experiment")
local grid = require("roper.workbench.study.experiment.grid")
local models = require("roper.workbench.study.experiment.models")
local roper = require("roper")
local tables = require("roper.base.tables")

describe("the field model", function()
  local class

  before_each(function()
    class = roper.nn.class("Repeated")
    class.takes = { { "times", "size", 2, "how often the layer is applied" },
      { "ends", { "linear", "tied" }, "linear" }, { "lengths", "table?" } }
    function class:init(o)
      self.times, self.ends, self.lengths = o.times, o.ends, o.lengths
      self.embedding = roper.nn.Embedding({ count = o.vocabulary, features = o.d_model })
      self.logits = roper.nn.Linear({ inputs = o.d_model, outputs = o.vocabulary })
    end
    function class:forward(tokens)
      return self.logits(self.embedding(tokens) * self.times)
    end
  end)

  local function configure(model)
    return experiment.configure("copy", { preset = "smoke", model = model })
  end

  local function refused(model, message)
    assert.error_matches(function() configure(model) end, message, 1, true)
  end

  it("passes declared options, with their defaults, to the class", function()
    local function fields(model)
      local made = experiment.build(configure(model)).model
      return { made.times, made.ends, made.lengths }
    end
    assert.same({ 2, "linear" }, fields("Repeated"))
    assert.same({ 5, "tied", { 1, 2 } }, fields("Repeated{times=5,ends=tied,lengths={1,2}}"))
  end)

  it("stores a canonical text, which is part of the identity of a run", function()
    assert.equal("Repeated", configure("Repeated{times=2}").model)
    assert.equal("Repeated{ends=tied,times=3}", configure("Repeated{ times=3, ends='tied' }").model)
    local hashes = tables.map({ "Repeated", "Repeated{times=2}", "Repeated{times=3}" },
      function(model) return configuration.hash(configure(model)) end)
    assert.equal(hashes[1], hashes[2])
    assert.not_equal(hashes[1], hashes[3])
    assert.same(configure("Repeated{times=3}"), configure(configure("Repeated{times=3}").model))
  end)

  it("has several values in a sweep, whose runs have different names", function()
    local configs = grid.configure("copy", { { "preset", "smoke" }, { "model",
      grid.values("model", "Transformer,Repeated{times=3,ends=tied},Repeated") } })
    assert.same({ "Transformer", "Repeated{ends=tied,times=3}", "Repeated" },
      tables.map(configs, function(config) return config.model end))
    assert.same({ "model=Transformer", "model=Repeated{ends=tied,times=3}", "model=Repeated" },
      configuration.differences(configs, { "position", "seed" }))
    assert.is_true(configuration.is_valid(configs[2]))
  end)

  it("refuses options that the class does not declare", function()
    refused("Repeated{time=3}", 'field model: Repeated: unknown option time; did you mean "times"?')
    refused("Repeated{times=0}", "field model: Repeated: option times: expected a positive integer")
    refused("Repeated{ends=x}", "option ends: expected one of linear, tied")
    refused("Repeated{times=3", "field model: expected")
    refused("Repeated{times=3}+Repeated", "field model: expected one class, such as Own or Own{")
    refused("Repeeted{times=3}", 'expected one of Transformer')
    refused("Transformer{layers=3}", "Transformer takes no options; those of the Transformer are")
    class.takes = nil
    refused("Repeated{times=3}", "Repeated takes no options; to declare some: Repeated.takes = {")
    assert.equal("Repeated", configure("Repeated").model)
    refused(5, "field model: expected a string")
  end)

  it("refuses a class whose declaration is wrong", function()
    for message, takes in pairs({
      ["model Repeated: takes: row 1: expected a row {name, kind"] = { "times" },
      ["model Repeated: takes: row 1: expected a name"] = { { 3, "size" } },
      ["model Repeated: takes: row 1: expected a kind"] = { { "times", "sise" } },
      ["takes: d_model is a field of every experiment; rename"] = { { "d_model", "size" } },
    }) do
      class.takes = takes
      refused("Repeated", message)
    end
  end)

  it("knows the name of a class that is not defined, with options", function()
    assert.equal("Gone", models.missing({ model = "Gone{times=3}" }))
    assert.is_nil(models.missing({ model = "Repeated{times=3}" }))
    assert.is_nil(models.missing({}))
  end)
end)
