local suggest = require("roper.base.suggest")

describe("suggest", function()
  it("names up to three of many names, and where all are listed", function()
    local names, where = { "beta1", "beta2", "base", "beta3", "beta4" }, "to list all: x"
    assert.equal('; did you mean "base"? To list all: x', suggest.nearest_of_many("bsae", names,
      where))
    assert.equal('; did you mean "beta1", "beta2" or "beta3"? To list all: x',
      suggest.nearest_of_many("beta", names, where))
    assert.equal('; did you mean "beta1" or "beta2"? To list all: x',
      suggest.nearest_of_many("beta", { "beta2", "x", "beta1" }, where))
    assert.equal("; to list all: x", suggest.nearest_of_many("zzzz", names, where))
    assert.equal(5, #names)
  end)

  describe("nearest", function()
    it("finds a name with one letter inserted, deleted, replaced or swapped", function()
      local names = { "rope", "roper", "shaw", "learned" }
      assert.equal("shaw", suggest.nearest("shawn", names))
      assert.equal("shaw", suggest.nearest("sha", names))
      assert.equal("shaw", suggest.nearest("shew", names))
      assert.equal("shaw", suggest.nearest("hsaw", names))
    end)

    it("prefers fewer edits, then the same start, then the alphabet", function()
      assert.equal("matmul", suggest.nearest("matmull", { "matul", "matmul" }))
      assert.equal("rope", suggest.nearest("rop", { "rep", "rope", "top" }))
      assert.equal("line", suggest.nearest("lin", { "line", "len" }))
      assert.equal("bar", suggest.nearest("bat", { "bay", "bar" }))
    end)

    it("ignores case", function()
      assert.equal("Linear", suggest.nearest("linear", { "Linear", "LayerNorm" }))
    end)

    it("returns nil if no name is near", function()
      assert.is_nil(suggest.nearest("x", { "matmul" }))
      assert.is_nil(suggest.nearest("abcdef", { "abcxyz" }))
      assert.is_nil(suggest.nearest("rope", {}))
    end)

    it("counts no edits between a name and a text of any length", function()
      local long, names = ("x"):rep(100000), { "addition", "copy", "recall" }
      debug.sethook(function() error("more than 100,000 steps", 0) end, "", 100000)
      local ok, found = pcall(suggest.nearest, long, names)
      local also_ok, other = pcall(suggest.nearest, "copy", { long })
      debug.sethook()
      assert.same({ true, true }, { ok, also_ok }, found)
      assert.same({ nil, nil }, { found, other })
    end)

    it("allows one edit for every three letters", function()
      assert.equal("substring_index", suggest.nearest("substrng_idnex", { "substring_index" }))
    end)
  end)

  describe("hint", function()
    it("is a question, or empty", function()
      assert.equal('; did you mean "rope"?', suggest.hint("rop", { "rope" }))
      assert.equal("", suggest.hint("matmul", { "rope" }))
    end)

    it("can end with a list of all names", function()
      local names = { "rope", "none" }
      assert.equal('; did you mean "rope"? It takes rope, none',
                   suggest.hint("rop", names, "it takes"))
      assert.equal("; it takes rope, none", suggest.hint("matmul", names, "it takes"))
    end)
  end)
end)
