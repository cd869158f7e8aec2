local arrays = require("tests.arrays")
local roper = require("roper")

describe("learned_frequencies", function()
  before_each(function() roper.seed(1) end)

  it("are those of RoPE and RoPER at the start", function()
    local q = roper.randn({ 2, 3, 5, 8 })
    for rotate, name in pairs({ qk = "rope", qkvo = "roper" }) do
      for _, per_head in ipairs({ false, true }) do
        local o = roper.attention(q, q, q, { causal = true, offset = 5,
          position = { type = "learned_frequencies", rotate = rotate, per_head = per_head } })
        arrays.close(roper.attention(q, q, q, { causal = true, offset = 5, position = name }), o,
          1e-5)
      end
    end
  end)

  it("turn far positions as exactly as near ones", function()
    local q = roper.randn({ 1, 1, 4, 8 })
    local learned = roper.position.learned_frequencies({ dim = 8, base = 16 })
    local near = roper.attention_weights(q, q, { position = learned })
    local far = roper.attention_weights(q, q, { position = learned, offset = 131072 })
    arrays.close(near, far, 1e-5)
  end)

  it("have a gradient, for each head where asked", function()
    local q, k = roper.randn({ 2, 3, 4, 4 }, "float64"), roper.randn({ 2, 3, 4, 4 }, "float64")
    local learned = roper.position.learned_frequencies({ dim = 4, heads = 3, per_head = true,
      rotate = "qkvo" })
    assert.same({ 3, 2 }, learned.theta:shape())
    assert.is_true(roper.gradcheck(function(theta)
      learned.theta = theta
      return (roper.attention(q, k, k, { position = learned, offset = 7.5 }))
    end, { roper.rand({ 3, 2 }, "float64") }))
  end)

  it("refuse positions of several coordinates, and heads that are not told", function()
    local q = roper.zeros({ 1, 1, 2, 4 })
    assert.error_matches(function()
      roper.attention(q, q, q, { position = "learned_frequencies",
        positions = roper.zeros({ 1, 2, 2 }) })
    end, "learned_frequencies: expected positions of one number each, got several coordinates")
    assert.error_matches(function()
      roper.position.learned_frequencies({ dim = 4, per_head = true })
    end, "learned_frequencies: expected heads, with frequencies for each")
  end)
end)
