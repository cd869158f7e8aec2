local arrays = require("tests.arrays")
local roper = require("roper")

describe("yarn", function()
  before_each(function() roper.seed(1) end)

  it("multiplies scores by its magnitude, and keeps values and output", function()
    local q = roper.randn({ 2, 2, 6, 8 }, "float64")
    local yarn = roper.position.yarn({ dim = 8, factor = 4, trained_length = 64,
      rotate = "qkvo" })
    local plain = roper.rotary({ dim = 8, frequencies = yarn:thetas(), rotate = "qkvo" })
    local m = 0.1 * math.log(4) + 1
    arrays.close(roper.attention(q, q, q, { position = plain, scale = m ^ 2 / 8 ^ 0.5 }),
      roper.attention(q, q, q, { position = yarn }), 1e-14)
    assert.equal(1.0, roper.position.yarn({ dim = 8, factor = 4, magnitude = 1 }):options()
      .magnitude or 1.0)
  end)

  it("keeps fast pairs, slows slow ones, and blends those between", function()
    local rope = roper.position.rope({ dim = 64 }):thetas()
    local yarn = roper.position.yarn({ dim = 64, factor = 4, trained_length = 4096 })
    local ratio = (rope / yarn:thetas()):totable()
    -- c(32) = 10.4 and c(1) = 22.5
    for t = 0, 31 do
      local expected = t <= 10 and 1 or t >= 23 and 4 or 1 / (1 - (t - 10) / 13 * 0.75)
      assert.is_true(math.abs(ratio[t + 1] - expected) < 1e-12, t)
    end
    arrays.close(rope, roper.position.yarn({ dim = 64, factor = 1 }):thetas(), 1e-16)
  end)

  it("has the ramp of the released code, or that of the paper", function()
    local function theta(ramp)
      return roper.position.yarn({ dim = 128, factor = 8, trained_length = 4096, ramp = ramp })
        :thetas()
    end
    local expected = roper.load("tests/fixtures/yarn.npy")
    arrays.close(expected[1], theta("pairs"), 1e-15)
    arrays.close(expected[2], theta("turns"), 1e-15)
    arrays.close(theta(), theta("pairs"), 0)
    assert.near(0.002595, theta("pairs")[37]:item(), 5e-7)
    assert.near(0.001126, theta("turns")[37]:item(), 5e-7)
  end)

  it("prints which ramp it has", function()
    assert.equal("ramp: linear in the index of the pair, as in the released code and Hugging Face",
      roper.position.describe("yarn").words)
    assert.equal("ramp: linear in the number of rotations, as in the paper",
      roper.position.describe({ type = "yarn", ramp = "turns" }).words)
  end)

  it("rejects options without a logarithm", function()
    local function refused(message, options)
      options.dim = 8
      assert.error_matches(function() roper.position.yarn(options) end, message)
    end
    refused("yarn: option base: expected a number above 1, got 1", { base = 1 })
    refused("yarn: option fast: expected a finite positive number, got 0", { fast = 0 })
    refused("yarn: expected fast above slow, got 1 and 1", { fast = 1, ramp = "turns" })
    refused("yarn: option factor: expected a finite number of at least 1", { factor = 0.9 })
    refused("magnitude: expected a positive finite number, got 0", { magnitude = 0 })
  end)
end)
