local info = require("roper.base.info")
local stints = require("roper.training.provenance")

-- This process, with changes.
local function own(changes)
  local stint = info.record()
  for name, value in pairs(changes) do
    stint[name] = value
  end
  return stint
end

describe("stints.of", function()
  it("takes the one stint that older files tell of", function()
    assert.same({ { commit = "abc", step = 0 } }, stints.of({ info = { commit = "abc" } }))
    assert.same({ { commit = "abc", step = 0 }, { commit = "def", step = 5 } },
      stints.of({ stints = { { commit = "abc" }, { commit = "def", step = 5 } } }))
  end)

  it("makes the best of what is damaged", function()
    for _, about in ipairs({ {}, { stints = 5 }, { info = "x" }, { stints = { 5, "x" } } }) do
      assert.same({}, stints.of(about))
    end
    assert.same({}, stints.of(nil))
    assert.equal(0, stints.of({ stints = { { step = "x" } } })[1].step)
  end)
end)

describe("stints.continue", function()
  it("adds one where version or machine changed", function()
    assert.equal(1, #stints.continue({}, 0))
    local first = own({ step = 0, started = "long ago" })
    assert.same({ first }, stints.continue({ first }, 500))
    for name, value in pairs({ commit = "another", host = "another", threads = 64, gpu = "new" }) do
      local other = own({ step = 0, [name] = value })
      local list = stints.continue({ other }, 500)
      assert.same({ 2, other, 500 }, { #list, list[1], list[2].step }, name)
    end
  end)

  it("forgets what was done past the step that it goes on from", function()
    local list = { own({ step = 0, host = "a" }), own({ step = 300, host = "b" }),
                   own({ step = 500, host = "c" }) }
    local found = stints.continue(list, 500)
    assert.same({ 3, "b", 500 }, { #found, found[2].host, found[3].step })
    found = stints.continue(list, 0)
    assert.same({ 1, 0 }, { #found, found[1].step })
  end)
end)

describe("stints.text", function()
  it("is one value, or each from its step on", function()
    local list = { { commit = "abc", threads = 1, step = 0 },
                   { commit = "def", threads = 1, step = 7 }, { threads = 1, step = 9 } }
    assert.equal("abc then def from step 7 then - from step 9", stints.text(list, "commit"))
    assert.equal("1", stints.text(list, "threads"))
    assert.equal("-", stints.text({}, "commit"))
  end)
end)
