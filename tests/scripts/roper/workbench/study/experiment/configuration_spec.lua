local configuration = require("roper.workbench.study.experiment.configuration")
local experiment = require("roper.workbench.study.experiment")

describe("configuration.hash", function()
  it("is that of configurations without a later field if the field has its default", function()
    local config = experiment.configure("addition", { matmul_precision = "float32" })
    local id = configuration.hash(config)
    assert.equal(id, configuration.hash(experiment.configure("addition")))
    config.matmul_precision = nil
    assert.equal(id, configuration.hash(config))
    assert.not_equal(id,
      configuration.hash(experiment.configure("addition", { matmul_precision = "bfloat16" })))
  end)

  it("is the FNV-1a hash of the fields that are set", function()
    -- By a line of Python over the bytes of {"a": 1, "b": "x"}.
    assert.equal("9c5b8ebe1a8a6a03", configuration.hash({ b = "x", a = 1, c = false }))
  end)

  it("depends on every field and on nothing else", function()
    local config = experiment.configure("addition", { seed = 1 })
    local id = configuration.hash(config)
    assert.equal(id, configuration.hash(experiment.configure("addition",
      { seed = "1" })))
    local seen = { [id] = true }
    for name, value in pairs(config) do
      config[name] = value == false and "qk" or value == "x" and "y" or "x"
      local other = configuration.hash(config)
      assert.is_nil(seen[other], name)
      seen[other] = true
      config[name] = value
    end
    assert.equal(id, configuration.hash(config))
  end)

  it("ignores a switch that is off", function()
    local function hash(fields)
      return configuration.hash(experiment.configure("addition", fields))
    end
    local config = experiment.configure("addition")
    local id = configuration.hash(config)
    assert.is_false(config.coupled)
    for name, value in pairs(config) do
      config[name] = value or nil
    end
    assert.equal(id, configuration.hash(config))
    assert.equal(id, hash({ coupled = "false" }))
    assert.not_equal(id, hash({ coupled = "true" }))
    assert.equal(hash({ coupled = true }), hash({ coupled = "true" }))
  end)
end)

describe("configuration.differences", function()
  local function of(...)
    return configuration.differences({ ... }, { "position", "seed" })
  end

  it("is empty for configurations that the shown fields tell apart", function()
    assert.same({ "", "", "" }, of({ position = "rope", seed = 1, rate = 1 },
      { position = "rope", seed = 2, rate = 2 }, { position = "roper", seed = 1, rate = 3 }))
    assert.same({ "", "" }, of({ position = "rope", rate = 1 }, { position = "rope", rate = 1 }))
    assert.same({}, of())
  end)

  it("has the fields in which similar configurations differ", function()
    assert.same({ "rate=0.001", "rate=0.01", "" }, of({ position = "rope", rate = 0.001 },
      { position = "rope", rate = 0.01 }, { position = "alibi", rate = 0.1 }))
    assert.same({ "clip=1 rate=1", "clip=1 rate=2", "clip=2 rate=1" }, of({ clip = 1, rate = 1 },
      { clip = 1, rate = 2 }, { clip = 2, rate = 1 }))
    assert.same({ "cosine=0.1", "cosine=-", "cosine={...}" }, of({ cosine = 0.1 },
      { cosine = false }, { cosine = {} }))
  end)

  it("has the fewest and shortest ones that suffice, and files last", function()
    assert.same({ "rate=1", "rate=2" }, of({ rate = 1, evaluate_every = 2, loaded = "a 1" },
      { rate = 2, evaluate_every = 3, loaded = "a 2" }))
    assert.same({ "loaded=a 1", "loaded=a 2" }, of({ rate = 1, loaded = "a 1" },
      { rate = 1, loaded = "a 2" }))
  end)
end)

describe("configuration.labels", function()
  it("adds what tells trials apart to their names", function()
    local function trial(name, rate)
      return { name = name, config = { position = "rope", seed = 1, rate = rate } }
    end
    assert.same({ "rope-1-a rate=1", "rope-1-b rate=2" },
      configuration.labels({ trial("rope-1-a", 1), trial("rope-1-b", 2) }))
    assert.same({ "rope-1-a" }, configuration.labels({ trial("rope-1-a", 1) }))
  end)
end)
