local provenance = require("roper.training.provenance")

-- This process, with changes.
local function own(changes)
  local record = provenance.here()
  for name, value in pairs(changes) do
    record[name] = value
  end
  return record
end

describe("provenance.of", function()
  it("reads the records", function()
    assert.same({ { commit = "abc", step = 0 }, { commit = "def", step = 5 } },
      provenance.of({ provenance = { { commit = "abc" }, { commit = "def", step = 5 } } }))
  end)

  it("skips damaged records", function()
    for _, about in ipairs({ {}, { provenance = 5 },
                             { provenance = { 5, "x" } } }) do
      assert.same({}, provenance.of(about))
    end
    assert.same({}, provenance.of(nil))
    assert.equal(0, provenance.of({ provenance = { { step = "x" } } })[1].step)
  end)
end)

describe("provenance.continue", function()
  it("adds a record if version or machine changed", function()
    assert.equal(1, #provenance.continue({}, 0))
    local first = own({ step = 0, started = "long ago" })
    assert.same({ first }, provenance.continue({ first }, 500))
    for name, value in pairs({ commit = "another", host = "another", threads = 64, gpu = "new" }) do
      local other = own({ step = 0, [name] = value })
      local list = provenance.continue({ other }, 500)
      assert.same({ 2, other, 500 }, { #list, list[1], list[2].step }, name)
    end
  end)

  it("records changes of the files that --load ran", function()
    local list, note = provenance.continue({ own({ step = 0, loaded = "near.lua 1234" }) }, 500)
    assert.equal(2, #list)
    assert.truthy(note:find("step 500 on with loaded nothing instead of near.lua 1234", 1, true))
  end)

  it("records changes of the number of ranks", function()
    local before = own({ step = 0 })
    assert.is_nil(select(2, provenance.continue({ before }, 5)))
    local list, note = provenance.continue({ before }, 5, 4)
    assert.same({ 2, 4 }, { #list, list[2].ranks })
    assert.truthy(note:find("step 5 on with ranks 4 instead of 1", 1, true))
    list, note = provenance.continue(list, 9)
    assert.equal(3, #list)
    assert.truthy(note:find("step 9 on with ranks 1 instead of 4", 1, true))
  end)

  it("drops records after the step that is resumed", function()
    local list = { own({ step = 0, host = "a" }), own({ step = 300, host = "b" }),
                   own({ step = 500, host = "c" }) }
    local found = provenance.continue(list, 500)
    assert.same({ 3, "b", 500 }, { #found, found[2].host, found[3].step })
    found = provenance.continue(list, 0)
    assert.same({ 1, 0 }, { #found, found[1].step })
  end)
end)

describe("provenance.text", function()
  it("is one value, or each with its first step", function()
    local list = { { commit = "abc", threads = 1, step = 0 },
                   { commit = "def", threads = 1, step = 7 }, { threads = 1, step = 9 } }
    assert.equal("abc then def from step 7 then - from step 9", provenance.text(list, "commit"))
    assert.equal("1", provenance.text(list, "threads"))
    assert.equal("-", provenance.text({}, "commit"))
  end)
end)
