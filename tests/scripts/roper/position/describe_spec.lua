local roper = require("roper")

describe("position.describe", function()
  it("describes every scheme, and all of them in a table", function()
    local all = roper.position.describe()
    for i, name in ipairs(roper.position.list()) do
      assert.equal(name, all[i].name)
      assert.truthy(tostring(all):find("%f[%w_]" .. name .. " +[ra]%a+e  "), name)
      local text = tostring(roper.position.describe(name))
      assert.equal(name, text:match("^[^:\n]+"))
      assert.truthy(text:find("\n  cache      ", 1, true), text)
    end
  end)

  it("says what is wrong with a scheme on purpose", function()
    assert.equal("values are rotated twice", roper.position.describe("twice").mistake)
    local text = tostring(roper.position.describe("twice+alibi"))
    assert.truthy(text:find("\n  mistake    values are rotated twice\n", 1, true), text)
    assert.truthy(tostring(roper.position.describe()):find("twice (a mistake)", 1, true))
    assert.is_nil(roper.position.describe("roper").mistake)
  end)

  it("has formula, source and summary for schemes of the library", function()
    for _, name in ipairs(require("tests.positions").schemes()) do
      local told = roper.position.describe(name)
      for _, field in ipairs({ "summary", "formula", "source" }) do
        assert.is_string(told[field], name .. " " .. field)
      end
    end
  end)

  it("describes a custom scheme", function()
    roper.position.register("described", {
      summary = "a slope that is trained", relative = true, takes = { heads = "size" },
      init = function(self) self.slope = roper.ones({ self.heads, 1 }):parameter() end,
      describe = function(self) return ("made for %d heads"):format(self.heads) end,
    })
    assert.equal("described: a slope that is trained\n  positions  relative\n"
      .. "  trains     slope [2, 1]\n"
      .. "  cache      keys and values unchanged; positions are applied in each pass\n"
      .. "             made for 2 heads", tostring(roper.position.describe("described")))
  end)

  it("describes a custom scheme whose option rotate means something else", function()
    for i, default in ipairs({ true, 3, "left" }) do
      local name = "turned_" .. i
      roper.position.register(name, { relative = true,
        takes = { rotate = { type(default), default } } })
      assert.is_true(roper.position.describe(name).relative)
      assert.is_true(roper.position.describe("rope+" .. name).relative)
    end
  end)

  it("describes what a cache stores", function()
    for name, words in pairs({ rope = "rotated keys, values unchanged",
      roper = "rotated keys and values", none = "keys and values unchanged",
      sinusoidal = "keys and values unchanged, computed from embeddings with positions",
      t5 = "keys and values unchanged; positions are applied in each pass",
      fox = "keys and values; for each token also gates",
      ["alibi+fox"] = "keys and values; for each token also gates",
      path = "keys and values; for each token also inputs, directions, factors",
      ["path{gate=true}"] = "keys and values; for each token also inputs, directions, factors, "
        .. "gates",
      grape_m = "keys and values; for each token also step",
      ["grape_m{context=false}"] = "keys and values unchanged; positions are applied in each pass",
    }) do
      assert.equal(words, roper.position.describe(name).cache)
    end
  end)

  it("describes a partial rotation, and joined schemes", function()
    assert.is_true(roper.position.describe("roper").relative)
    assert.is_false(roper.position.describe({ type = "rope", rotate = "qv" }).relative)
    local joined = roper.position.describe("rope+described")
    assert.equal("slope [2, 1]", joined.trains)
    assert.equal("rope+described", joined.name)
    assert.is_true(joined.relative)
    assert.error_matches(function() roper.position.describe("rop") end, 'did you mean "rope"')
  end)
end)
