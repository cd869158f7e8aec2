local configuration = require("roper.workbench.study.configuration")

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
