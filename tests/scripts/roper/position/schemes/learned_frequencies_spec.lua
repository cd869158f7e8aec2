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

  it("rotate far positions as exactly as near ones", function()
    local q = roper.randn({ 1, 1, 4, 8 })
    local learned = roper.position.learned_frequencies({ dim = 8, base = 16 })
    local near = roper.attention_weights(q, q, { position = learned })
    local far = roper.attention_weights(q, q, { position = learned, offset = 131072 })
    arrays.close(near, far, 1e-5)
  end)

  it("have a gradient, for each head on request", function()
    local q, k = roper.randn({ 2, 3, 4, 4 }, "float64"), roper.randn({ 2, 3, 4, 4 }, "float64")
    local learned = roper.position.learned_frequencies({ dim = 4, heads = 3, per_head = true,
      rotate = "qkvo" })
    assert.same({ 3, 2 }, learned.theta:shape())
    assert.is_true(roper.gradcheck(function(theta)
      learned.theta = theta
      return (roper.attention(q, k, k, { position = learned, offset = 7.5 }))
    end, { roper.rand({ 3, 2 }, "float64") }))
  end)

  -- The gradient of the frequencies in a dtype, from the same numbers.
  local function gradient(dtype, rotate, offset)
    roper.seed(2)
    local function draw()
      return roper.randn({ 2, 2, 60, 8 }, "float64"):to(dtype)
    end
    local learned = roper.position.learned_frequencies({ dim = 8, rotate = rotate })
    learned.theta = learned.theta:detach():to(dtype):parameter()
    local o = roper.attention(draw(), draw(), draw(), { position = learned, causal = true,
      offset = offset })
    o:backward(draw())
    return learned.theta.grad:to("float64")
  end

  it("have a gradient as precise at far positions as at near ones", function()
    for _, rotate in ipairs({ "qk", "qkvo" }) do
      local exact = gradient("float64", rotate, 0)
      for _, offset in ipairs({ 0, 4000, -131072 }) do
        for dtype, tolerance in pairs({ float32 = 2e-6, float64 = 1e-13 }) do
          local off = (gradient(dtype, rotate, offset) - exact):norm() / exact:norm()
          assert(off:item() < tolerance, ("%s, %s, %d: %g"):format(rotate, dtype, offset,
            off:item()))
        end
      end
    end
  end)

  it("have the gradient of positions if only one of a pair is rotated", function()
    local q, k = roper.randn({ 2, 1, 3, 4 }, "float64"), roper.randn({ 2, 1, 3, 4 }, "float64")
    local rows = roper.tensor({ { 5, 6, 9 }, { -2, 3, 7.5 } }, "float64")
    for _, rotate in ipairs({ "q", "k", "v", "o", "qv", "qkv", "qko", "kvo", "vo", "qkvo" }) do
      local learned = roper.position.learned_frequencies({ dim = 4, rotate = rotate })
      for _, how in ipairs({ { offset = 3 }, { positions = rows },
        { query_positions = rows, key_positions = { -1, 4, 2 } } }) do
        how.position = learned
        assert.is_true(roper.gradcheck(function(theta)
          learned.theta = theta
          return (roper.attention(q, k, k, how))
        end, { roper.rand({ 2 }, "float64") }), rotate)
      end
    end
  end)

  it("reject positions of several coordinates, and a missing number of heads", function()
    local q = roper.zeros({ 1, 1, 2, 4 })
    assert.error_matches(function()
      roper.attention(q, q, q, { position = "learned_frequencies",
        positions = roper.zeros({ 1, 2, 2 }) })
    end, "learned_frequencies: expected one number per position, got several coordinates")
    assert.error_matches(function()
      roper.position.learned_frequencies({ dim = 4, per_head = true })
    end, "learned_frequencies: option heads: expected a number with per_head, got nil")
  end)
end)
