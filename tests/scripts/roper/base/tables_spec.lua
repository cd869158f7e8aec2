local tables = require("roper.base.tables")

describe("tables.keys", function()
  it("sorts the keys of tables and names each once", function()
    assert.same({ "a", "b", "c" }, tables.keys({ c = 1, a = false }, { b = 1, a = 2 }))
    assert.same({}, tables.keys({}))
  end)

  it("puts numbers before strings before the rest", function()
    assert.same({ -1, 2.5, 10, "10", "b", false, true },
      tables.keys({ b = 1, [true] = 1, [10] = 1 },
        { ["10"] = 1, [2.5] = 1, [false] = 1, [-1] = 1 }))
  end)
end)

describe("tables.set", function()
  it("returns a table with the entries of a list as keys", function()
    assert.same({ a = true, [2] = true }, tables.set({ "a", 2, "a" }))
  end)
end)

describe("tables.map", function()
  it("returns the results of a function for each entry, without nils", function()
    assert.same({ "1a", "2b" }, tables.map({ "a", "b" }, function(entry, i) return i .. entry end))
    assert.same({ 4, 16 }, tables.map({ 2, 3, 4 }, function(x)
      return x % 2 == 0 and x * x or nil
    end))
    assert.same({}, tables.map({}, error))
  end)
end)

describe("tables.joined", function()
  it("concatenates lists, and leaves them unchanged", function()
    local first = { 1, 2 }
    assert.same({ 1, 2, "a", 3 }, tables.joined(first, {}, { "a" }, { 3 }))
    assert.same({ 1, 2 }, first)
    assert.same({}, tables.joined())
  end)
end)

describe("tables.merged", function()
  it("overrides fields by those of later tables and leaves all tables unchanged", function()
    local first, second = { a = 1, b = 2 }, { b = 3, c = false }
    assert.same({ a = 1, b = 3, c = false }, tables.merged(first, nil, second))
    assert.same({ a = 1, b = 2 }, first)
    assert.same({ b = 3, c = false }, second)
  end)
end)

describe("tables.count and tables.text", function()
  it("cover all fields", function()
    local fields = { seed = 1, letters = 26 }
    assert.equal(2, tables.count(fields))
    assert.equal("letters=26 seed=1", tables.text(fields))
    assert.same({ 0, "" }, { tables.count({}), tables.text({}) })
  end)
end)
