local arrays = require("tests.arrays")
local roper = require("roper")

describe("accumulated", function()
  before_each(function() roper.seed(1) end)

  for _, angles in ipairs({ "learned", "random" }) do
    for _, rotate in ipairs({ "qk", "qkvo", "kv" }) do
      it(("passes the battery with %s angles for %s"):format(angles, rotate), function()
        local findings = roper.position.check({ type = "accumulated", rotate = rotate,
          angles = angles })
        assert.is_true(findings.ok, tostring(findings))
      end)
    end
  end

  it("is initially almost RoPE or RoPER", function()
    local q, x = roper.randn({ 2, 3, 6, 8 }), roper.randn({ 2, 6, 24 }) / 10
    for rotate, name in pairs({ qk = "rope", qkvo = "roper" }) do
      local o = roper.attention(q, q, q, { causal = true, input = x,
        position = roper.position.accumulated({ rotate = rotate, dim = 8, heads = 3,
          d_model = 24 }) })
      arrays.close(roper.attention(q, q, q, { causal = true, position = name }), o, 0.05)
    end
  end)

  it("has random angles from its seed, which are not trained", function()
    roper.seed(5)
    local options = { dim = 4, heads = 2, d_model = 6, angles = "random" }
    local one, other = roper.position.accumulated(options), roper.position.accumulated(options)
    arrays.close(one.weight, other.weight, 0)
    options.seed = 2
    other = roper.position.accumulated(options)
    assert.is_true((one.weight - other.weight):abs():max():item() > 0.1)
    assert.same({}, one:parameters())
    local drawn = roper.randn({ 3 })
    roper.seed(5)
    arrays.close(roper.randn({ 3 }), drawn, 0) -- the session's random numbers are the same
  end)

  it("suppresses keys at distance n by exp(-n / 2) if random angles have variance 1", function()
    local dim, time = 256, 200
    local scheme = roper.position.accumulated({ dim = dim, heads = 1, d_model = 64, base = 1,
      angles = "random" })
    -- with equal queries and keys, a score is the mean of cos(Φⱼ − Φᵢ) over the pairs
    local q = roper.ones({ 1, 1, time, dim }, "float64")
    local x = roper.randn({ 1, time, 64 }, "float64")
    local weights = roper.attention_weights(q, q, { position = scheme, input = x, causal = true,
      scale = 1 / dim })[1][1]
    local sums = { 0, 0, 0, 0 }
    for i = 5, time do
      for n = 1, 4 do
        sums[n] = sums[n] + math.log((weights[{ i, i - n }] / weights[{ i, i }]):item()) + 1
      end
    end
    for n = 1, 4 do
      assert.near(math.exp(-n / 2), sums[n] / (time - 4), 0.02)
    end
  end)

  it("rejects unsupported options", function()
    for message, options in pairs({
      ["accumulated: expected fraction %* dim to be an even integer"] = { dim = 3 },
      ['accumulated: option rotate: expected letters of "qkvo", each at most once, got "v "'] =
        { rotate = "v " },
      ['accumulated: option angles: expected one of learned, random, got "fixed"'] =
        { angles = "fixed" },
      ["accumulated: option base: expected a finite positive number, got %-2"] = { base = -2 },
    }) do
      options.heads, options.d_model, options.dim = 1, 4, options.dim or 4
      assert.error_matches(function() roper.position.accumulated(options) end, message)
    end
    local q = roper.randn({ 1, 2, 5, 4 })
    local scheme = roper.position.accumulated({ dim = 4, heads = 2, d_model = 8 })
    assert.error_matches(function()
      roper.attention(q, q, q, { position = scheme, causal = true })
    end, "position: accumulated: expected the input of the layer")
  end)
end)
