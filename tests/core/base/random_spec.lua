local arrays = require("tests.arrays")
local golden = require("tests.golden")
local roper = require("roper")

--- Mean, variance, skewness and kurtosis.
local function moments(x)
  local mean = x:mean():item()
  local centred = x - mean
  local variance = centred:square():mean():item()
  return mean, variance, centred:pow(3):mean():item() / variance ^ 1.5,
    centred:pow(4):mean():item() / variance ^ 2
end

describe("rand", function()
  it("returns the known answers of Philox 4x32-10 for key 0 and counter 0", function()
    local words = { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } -- Random123's kat_vectors
    roper.seed(0)
    local x = roper.rand({ 2 }, "float64")
    for i = 1, 2 do
      local bits = (words[2 * i - 1] >> 5) << 26 | words[2 * i] >> 6
      assert.equal(bits / 2.0 ^ 53, x[i]:item())
    end
  end)

  it("agrees with another implementation for other seeds and counters", function()
    local states = { { 0, 0 }, { 1, 0 }, { math.maxinteger, 5 }, { -12345, (1 << 32) - 1 },
      { 0xA409382229, (1 << 62) + 7 } }
    for i, state in ipairs(states) do
      roper.random_state(state[1], state[2])
      local expected = golden.values("philox" .. i).uniform
      assert.same(expected:totable(), roper.rand({ 6 }, "float64"):totable())
      assert.same({ state[1], state[2] + 3 }, { roper.random_state() })
      roper.random_state(state[1], state[2])
      assert.same(expected:to("float32"):totable(), roper.rand({ 6 }):totable())
    end
  end)

  it("stays below 1, also in float32, and fills the unit interval evenly", function()
    roper.seed(1)
    local n = 200000
    for _, dtype in ipairs({ "float32", "float64" }) do
      local x = roper.rand({ n }, dtype)
      assert.is_true(x:max():item() < 1 and x:min():item() >= 0)
      local counts = {}
      for i = 1, 20 do
        counts[i] = (x * 20):floor():eq(i - 1):sum():item()
      end
      local statistic = 0
      for i = 1, 20 do
        statistic = statistic + (counts[i] - n / 20) ^ 2 / (n / 20)
      end
      assert.is_true(statistic < 43.8, statistic) -- 19 degrees of freedom, p = 0.001
    end
  end)
end)

describe("randn", function()
  it("has the moments of the normal distribution", function()
    roper.seed(2)
    local n = 400000
    for _, dtype in ipairs({ "float32", "float64" }) do
      local mean, variance, skewness, kurtosis = moments(roper.randn({ n }, dtype):to("float64"))
      assert.is_true(math.abs(mean) < 4 / n ^ 0.5, mean)
      assert.is_true(math.abs(variance - 1) < 4 * (2 / n) ^ 0.5, variance)
      assert.is_true(math.abs(skewness) < 4 * (6 / n) ^ 0.5, skewness)
      assert.is_true(math.abs(kurtosis - 3) < 4 * (24 / n) ^ 0.5, kurtosis)
    end
  end)

  it("has the quantiles of the normal distribution, and independent neighbours", function()
    roper.seed(3)
    local n = 200000
    local x = roper.randn({ n }, "float64")
    for z, p in pairs({ [-2] = 0.0227501, [-1] = 0.1586553, [0] = 0.5, [1] = 0.8413447 }) do
      local share = x:lt(z):to("float64"):mean():item()
      assert.is_true(math.abs(share - p) < 4 * (p * (1 - p) / n) ^ 0.5, z)
    end
    for lag = 1, 4 do
      local product = (x:narrow(1, 1, n - lag) * x:narrow(1, 1 + lag, n - lag)):mean():item()
      assert.is_true(math.abs(product) < 4 / n ^ 0.5, lag)
    end
  end)

  it("is finite", function()
    roper.seed(4)
    assert.is_true(roper.randn({ 1000000 }):abs():max():item() < 7)
  end)
end)

describe("random fills", function()
  it("do not depend on the number of threads", function()
    local threads = roper.threads()
    for _, name in ipairs({ "rand", "randn" }) do
      for _, dtype in ipairs({ "float32", "float64" }) do
        local results = {}
        for n = 1, 2 do
          roper.threads(n)
          roper.seed(5)
          results[n] = roper[name]({ 50001 }, dtype)
        end
        arrays.close(results[1], results[2], 0)
      end
    end
    roper.threads(threads)
  end)

  it("continue after the last fill, in whole blocks of two", function()
    roper.seed(6)
    local whole = roper.randn({ 8 }, "float64")
    assert.same({ 6, 4 }, { roper.random_state() })
    roper.seed(6)
    local parts = { roper.randn({ 2 }, "float64"), roper.randn({ 6 }, "float64") }
    assert.same(whole:totable(), roper.cat(parts):totable())
    roper.random_state(6, 1)
    assert.equal(whole[3]:item(), roper.randn({}, "float64"):item())
    assert.same({ 6, 2 }, { roper.random_state() })
    assert.same({ 0 }, roper.randn({ 0 }):shape())
    assert.same({ 6, 2 }, { roper.random_state() })
  end)

  it("differ by seed", function()
    roper.seed(1)
    local x = roper.rand({ 100 })
    roper.seed(2)
    assert.is_true((x - roper.rand({ 100 })):abs():max():item() > 0.1)
    roper.seed(1)
    arrays.close(x, roper.rand({ 100 }), 0)
  end)
end)

describe("randint", function()
  it("returns every integer of its range, evenly", function()
    roper.seed(7)
    local x = roper.randint(-2, 3, { 60000 })
    assert.equal("int32", x:dtype())
    for value = -2, 3 do
      local count = x:eq(value):sum():item()
      assert.is_true(math.abs(count - 10000) < 4 * (60000 * 1 / 6 * 5 / 6) ^ 0.5, value)
    end
    assert.equal(-2, x:min():item())
    assert.equal(3, x:max():item())
    assert.same({ 5, 5 }, roper.randint(5, 5, { 2 }):totable())
    local wide = roper.randint(-2147483647, 2147483647, { 1000 })
    assert.is_true(wide:min():item() < -2 ^ 30 and wide:max():item() > 2 ^ 30)
  end)
end)

describe("random functions reject", function()
  it("int32, and ranges beyond it", function()
    assert.error_matches(function() roper.rand({ 2 }, "int32") end,
      "'rand' %(expected float32 or float64, got int32")
    assert.error_matches(function() roper.randint(-2 ^ 31, 2 ^ 31 - 1, { 1 }) end,
      "smaller than that of int32")
    assert.error_matches(function() roper.random_state(1) end, "number expected, got nil")
  end)
end)

describe("random_permuted", function()
  local permuted = require("roper.core").random_permuted

  it("maps indices one to one", function()
    for _, count in ipairs({ 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 1000 }) do
      for seed = 1, 5 do
        local seen = {}
        for i = 1, count do
          local place = permuted(seed, count, i)
          assert.is_true(place >= 1 and place <= count)
          assert.is_nil(seen[place])
          seen[place] = true
        end
      end
    end
  end)

  it("maps each index to every other equally often", function()
    local count, seeds = 20, 8000
    for _, index in ipairs({ 1, 20 }) do
      local seen, statistic = {}, 0
      for seed = 1, seeds do
        local place = permuted(seed, count, index)
        seen[place] = (seen[place] or 0) + 1
      end
      for place = 1, count do
        statistic = statistic + ((seen[place] or 0) - seeds / count) ^ 2 / (seeds / count)
      end
      assert.is_true(statistic < 43.8, statistic) -- 19 degrees of freedom, p = 0.001
    end
  end)

  it("separates neighbours", function()
    local together = 0
    for i = 1, 999 do
      local distance = math.abs(permuted(1, 1000, i) - permuted(1, 1000, i + 1))
      together = together + (distance == 1 and 1 or 0)
    end
    assert.is_true(together < 12, together) -- 2 of 999 are to be expected
  end)

  it("accepts sizes up to the largest integer", function()
    local count = math.maxinteger
    for _, index in ipairs({ 1, count // 2, count }) do
      local place = permuted(3, count, index)
      assert.is_true(place >= 1 and place <= count)
    end
  end)

  it("rejects indices outside the range", function()
    assert.error_matches(function() permuted(1, 0, 1) end, "count: expected an integer")
    assert.error_matches(function() permuted(1, 5, 6) end, "index: expected an integer")
    assert.error_matches(function() permuted(1, 5, 0) end, "index: expected an integer")
  end)
end)

describe("random_below", function()
  local below = require("roper.core").random_below

  it("draws integers from 0 to bound - 1, and advances the counter", function()
    local seen, counter = {}, 0
    for _ = 1, 400 do
      local number
      number, counter = below(5, counter, 4)
      seen[number] = (seen[number] or 0) + 1
    end
    assert.is_true(counter >= 400)
    for number = 0, 3 do
      assert.is_true(seen[number] > 60)
    end
    assert.same({ below(5, 9, 1000) }, { below(5, 9, 1000) })
    assert.equal(0, (below(5, 9, 1)))
    assert.is_true((below(5, 9, 0xFFFFFFFF)) >= 0)
  end)

  it("refuses other bounds", function()
    for _, bound in ipairs({ 0, -1, 1 << 32, 1.5, "x" }) do
      assert.error_matches(function() below(1, 0, bound) end, "bound: expected an integer from 1")
    end
  end)
end)
