local equation = require("roper.position.equation")
local roper = require("roper")

local function formula(scheme)
  return roper.position.describe(scheme).formula
end

describe("position.equation", function()
  it("has relative rotations for partners, and absolute ones for single letters", function()
    for rotate, expected in pairs({
      [""] = "sᵢⱼ = qᵢ · kⱼ / √d",
      q = "sᵢⱼ = R_i qᵢ · kⱼ / √d",
      k = "sᵢⱼ = qᵢ · R_j kⱼ / √d",
      kq = "sᵢⱼ = qᵢ · R_{j−i} kⱼ / √d",
      v = "sᵢⱼ = qᵢ · kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_j vⱼ",
      o = "sᵢⱼ = qᵢ · kⱼ / √d\noᵢ = R_{−i} Σⱼ aᵢⱼ vⱼ",
      vo = "sᵢⱼ = qᵢ · kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ",
      kv = "sᵢⱼ = qᵢ · R_j kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_j vⱼ",
      qkvo = "sᵢⱼ = qᵢ · R_{j−i} kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ",
    }) do
      assert.equal(expected, equation.text({ rotate = rotate }))
    end
  end)

  it("has angles and coordinates by name", function()
    local options = { rotate = "qkv", at = { "Φ" }, before = "Φ_t = Σ α_s", after = "α trained" }
    assert.equal("Φ_t = Σ α_s\nsᵢⱼ = qᵢ · R_{Φⱼ−Φᵢ} kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{Φⱼ} vⱼ\nα trained",
      equation.text(options))
    assert.equal("sᵢⱼ = qᵢ · kⱼ / √d\noᵢ = R_{−rᵢ, −cᵢ} Σⱼ aᵢⱼ vⱼ",
      equation.text({ rotate = "o", at = { "r", "c" } }))
  end)

  it("rejects letters of other tensors", function()
    assert.error_matches(function() equation.text({ rotate = "qx" }) end,
      'expected letters of "qkvo", got "qx"')
    assert.error_matches(function() formula("axial{rotate=x}") end, 'letters of "qkvo", got "x"')
    assert.error_matches(function() formula({ type = "axial", rotate = 3 }) end,
      "option rotate: expected a string, got 3")
  end)
end)

describe("describe prints the equation of", function()
  it("a name with options, options in a table, and a scheme", function()
    local expected = "sᵢⱼ = qᵢ · R_{rⱼ−rᵢ, cⱼ−cᵢ} kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{rⱼ−rᵢ, cⱼ−cᵢ} vⱼ"
    assert.equal(expected, formula("axial{rotate=qkvo}"))
    assert.equal(expected, formula({ type = "axial", rotate = "qkvo" }))
    assert.equal("axial{rotate=qkvo}: half of the pairs are rotated by the row, half by the "
      .. "column\n"
      .. "  formula    sᵢⱼ = qᵢ · R_{rⱼ−rᵢ, cⱼ−cᵢ} kⱼ / √d\n"
      .. "             oᵢ = Σⱼ aᵢⱼ R_{rⱼ−rᵢ, cⱼ−cᵢ} vⱼ\n",
      tostring(roper.position.describe("axial{rotate=qkvo}")):match("^.*vⱼ\n"))
    local learned = roper.position.learned_frequencies({ dim = 4, rotate = "kv" })
    assert.equal("sᵢⱼ = qᵢ · R_j kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_j vⱼ\n"
      .. "R_p rotates pair t by p θ_t, θ trained", formula(learned))
    assert.equal(formula("roper"), formula(roper.position.roper({ dim = 4 })))
    assert.equal(formula("roper") .. "\n" .. formula("alibi"), formula("rope{rotate=qkvo}+alibi"))
  end)

  it("a magnitude, which is in the scores alone", function()
    assert.equal("sᵢⱼ = m² qᵢ · R_{j−i} kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ\nm = 1.5",
      formula("roper{magnitude=1.5}"))
    assert.equal("sᵢⱼ = m R_i qᵢ · kⱼ / √d", formula("yarn{rotate=q}"):match("[^\n]*$"))
    assert.equal("sᵢⱼ = qᵢ · kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ",
      formula("rope{rotate=vo,magnitude=1.5}"))
    assert.equal("sᵢⱼ = Σ_t ζ_t^((i−j)/8) qᵢ · R_{j−i} kⱼ / √d\noᵢ = Σⱼ aᵢⱼ R_{j−i} vⱼ",
      formula("xpos{rotate=qkvo,span=8}"))
    assert.matches("values and output are only rotated",
      roper.position.describe("xpos{rotate=qkvo}").words)
    assert.is_nil(roper.position.describe("xpos").words)
    -- the magnitude multiplies each rotated one of q and k
    local x = roper.ones({ 1, 4 })
    for rotate, expected in pairs({ qk = { 2, 2, 1 }, q = { 2, 1, 1 }, kvo = { 1, 2, 1 } }) do
      local rope = roper.position.rope({ dim = 4, magnitude = 2, rotate = rotate })
      for i, part in ipairs({ "q", "k", "v" }) do
        assert.equal(expected[i], rope:rotate(x, 0, part)[{ 1, 1 }]:item())
      end
    end
  end)

  it("options of the frequencies", function()
    assert.matches("for n > L", formula("ntk{trained_length=8}"))
    assert.matches("R_{pⱼ−pᵢ} kⱼ", formula("axial{coordinates=3}"))
    assert.equal("base' = base f^(r/(r−2))\nsᵢⱼ = qᵢ · R_{j−i} kⱼ / √d", formula("ntk"))
  end)

  it("single letters, which depend on the position of the token", function()
    for _, name in ipairs({ "rope", "learned_frequencies", "longrope", "axial" }) do
      assert.is_true(roper.position.describe({ type = name, rotate = "voqk" }).relative)
      assert.is_false(roper.position.describe({ type = name, rotate = "qv" }).relative)
      assert.is_false(roper.position.describe({ type = name, rotate = "qkv" }).relative)
      assert.is_true(roper.position.describe({ type = name, rotate = "" }).relative)
    end
    assert.is_false(roper.position.describe("rope{rotate=q}+alibi").relative)
  end)

  it("a function in the definition of a scheme of one's own", function()
    roper.position.register("quarter", { takes = { power = { "number", 2 } },
      formula = function(o) return ("sᵢⱼ = |i − j|^%d"):format(o.power) end })
    assert.equal("sᵢⱼ = |i − j|^2", formula("quarter"))
    assert.equal("sᵢⱼ = |i − j|^3", formula("quarter{power=3}"))
    assert.error_matches(function() roper.position.register("wrong", { formula = 3 }) end,
      "position: wrong: formula: expected a string or a function, got 3")
  end)
end)
