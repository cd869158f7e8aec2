local columns = require("roper.base.format.columns")
local process = require("tests.process")

describe("columns.align", function()
  it("lines up columns, the first to the left", function()
    assert.equal("  a    bbb\n  ccc  ± 1", columns.align({ { "a", "bbb" }, { "ccc", "± 1" } }))
    assert.equal("  a\n  b", columns.align({ { "a", "" }, { "b" } }))
  end)
end)

describe("columns.lines", function()
  -- In a process of its own: 2e6 blanks, looked through once from each of them, take hours.
  it("takes a cell of any length, in steps of about as many", function()
    local status, output = process.run({ "./roper", "-e", [[
      #require("roper.base.format.columns").align { { ("x"):rep(2000000), "1" }, { "y", "2" },
        { "z", "" } }]] })
    assert.same({ 0, "4000015\n" }, { status, output })
  end)
end)

describe("columns.wrap", function()
  it("breaks between words", function()
    assert.equal("one two\n   three", columns.wrap("one two  three", 3, 10))
    assert.equal("§§ §§\n §", columns.wrap("§§ §§ §", 1, 6))
    assert.equal("averylongword\nb", columns.wrap("averylongword b", 0, 5))
    assert.equal("", columns.wrap("", 4))
  end)
end)
