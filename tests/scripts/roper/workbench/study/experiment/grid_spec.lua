local grid = require("roper.workbench.study.experiment.grid")

describe("grid.values", function()
  it("reads lists and ranges", function()
    assert.same({ "rope", "roper" }, grid.values("position", "rope,roper"))
    assert.same({ 1, 2, 3 }, grid.values("seed", "1..3"))
    assert.same({ -1, 0, "7", 9 }, grid.values("seed", "-1..0,7,9..9"))
    assert.same({ "1e-3" }, grid.values("rate", "1e-3"))
  end)

  it("refuses other texts", function()
    for _, text in ipairs({ "", ",", "1,", "1,,2" }) do
      assert.has_error(function() grid.values("seed", text) end,
        ('field seed: expected values with commas between them, got "%s"'):format(text))
    end
    for _, text in ipairs({ "3..1", "1..99999999999999999999" }) do
      assert.has_error(function() grid.values("seed", text) end,
        "field seed: expected a range from a smaller to a larger integer, got " .. text)
    end
    for _, text in ipairs({ "1..100001", "-9223372036854775808..9223372036854775807" }) do
      assert.has_error(function() grid.values("seed", text) end,
        "field seed: expected at most 100000 values, got " .. text)
    end
    assert.equal(100000, #grid.values("seed", "1..100000"))
  end)
end)

describe("grid.product", function()
  it("has every combination, seed by seed", function()
    assert.same({
      { seed = 1, position = "rope", layers = 1 }, { seed = 1, position = "rope", layers = 2 },
      { seed = 1, position = "roper", layers = 1 }, { seed = 1, position = "roper", layers = 2 },
      { seed = 2, position = "rope", layers = 1 }, { seed = 2, position = "rope", layers = 2 },
      { seed = 2, position = "roper", layers = 1 }, { seed = 2, position = "roper", layers = 2 },
    }, grid.product({ { "position", { "rope", "roper" } }, { "layers", { 1, 2 } },
                      { "seed", { 1, 2 } } }))
    assert.same({ {} }, grid.product({}))
    assert.same({ { rate = 0.5 } }, grid.product({ { "rate", 0.5 } }))
  end)
end)
