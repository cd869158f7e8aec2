local roper = require("roper")

-- The bucket of a distance n >= 0, in integers: the largest b with
-- (n/E)^(B-E) >= (far/E)^(b-E).
local function bucket(n, buckets, far)
  local exact = buckets // 2
  if n < exact then
    return n
  end
  local steps, found = buckets - exact, exact
  for b = exact, buckets - 1 do
    if n ^ steps * exact ^ (b - exact) >= far ^ (b - exact) * exact ^ steps then
      found = b
    end
  end
  return found
end

-- The bucket that a scheme gives each query and key.
local function buckets_of(t5, count, causal)
  t5.table = roper.arange(0, t5.buckets, 1, "float64"):view({ -1, 1 })
  local q = roper.zeros({ 1, 1, count, 2 }, "float64")
  local positions = roper.position.positions(q, q, { causal = causal })
  return t5:bias(q, q, positions)[1]:totable()
end

describe("position.t5", function()
  it("has the buckets of the paper, if causal", function()
    for _, case in ipairs({ { 32, 128 }, { 8, 64 }, { 8, 16 }, { 4, 9 }, { 12, 7 } }) do
      local t5 = roper.position.t5({ heads = 1, buckets = case[1], distance = case[2] })
      local last = buckets_of(t5, 150, true)[150]
      for n = 0, 149 do
        local expected = n <= case[2] and bucket(n, case[1], case[2]) or case[1] - 1
        assert.equal(expected, last[150 - n], ("%d of %d, %d"):format(n, case[1], case[2]))
      end
    end
  end)

  it("has half of the buckets for each direction if attention is not causal", function()
    for _, case in ipairs({ { 32, 128 }, { 8, 16 }, { 6, 9 } }) do
      local t5 = roper.position.t5({ heads = 1, buckets = case[1], distance = case[2] })
      local half = case[1] // 2
      local rows = buckets_of(t5, 150, false)
      for n = 0, 149 do
        local expected = n <= case[2] and bucket(n, half, case[2]) or half - 1
        assert.equal(expected, rows[150][150 - n])
        assert.equal(n == 0 and 0 or half + expected, rows[1][1 + n])
      end
    end
  end)

  it("shares one table between layers", function()
    local model = roper.nn.Transformer({ vocabulary = 4, d_model = 8, heads = 2, layers = 2,
      position = "t5" })
    assert.equal(model.layers[1].attention.position, model.layers[2].attention.position)
  end)

  it("rejects options without a meaning", function()
    local function refused(message, options)
      options.heads = 2
      assert.error_matches(function() roper.position.t5(options) end, message)
    end
    refused("t5: option buckets: expected an even number of at least 4, got 7", { buckets = 7 })
    refused("t5: option buckets: expected an even number of at least 4, got 2", { buckets = 2 })
    refused("t5: option distance: expected more than half of the 32 buckets, got 16",
      { distance = 16 })
  end)
end)
