local fixture = require("tests.fixtures.statistics")
local roper = require("roper")
local statistics = require("roper.tensor.statistics")

describe("statistics", function()
  it("agrees with numpy", function()
    for i, case in ipairs(fixture) do
      local numbers, name = case.numbers, "sample " .. i
      assert.near(case.mean, statistics.mean(numbers), 1e-12, name)
      assert.near(case.median, statistics.median(numbers), 1e-12)
      assert.near(case.error, statistics.standard_error(numbers), 1e-12)
      -- More than 16 numbers have a sample of their signs.
      local is_exact = #numbers <= 16
      assert.near(case.p, statistics.permutation_test(numbers), is_exact and 1e-12 or 0.002, name)
      local noise = (is_exact and 1e-9 or 0.05) * case.error
      for level, confidence in pairs({ _95 = 0.95, _of_3 = 1 - 0.05 / 3 }) do
        local low, high = statistics.interval(numbers, confidence)
        assert.equal(case["low" .. level] ~= nil, low ~= nil, name)
        if low then
          assert.near(case["low" .. level], low, noise, name)
          assert.near(case["high" .. level], high, noise, name)
        end
      end
    end
  end)

  it("is reproducible and changes neither its input nor the generator", function()
    local numbers = { 3, 1, 2, 9, 5, 5, 5, 1, 0, 2, 3, 4, 8, 1, 1, 2, 7, 3 }
    local copy = table.move(numbers, 1, #numbers, 1, {})
    roper.seed(7)
    local before = { roper.random_state() }
    local low, high = statistics.interval(numbers)
    local p = statistics.permutation_test(numbers)
    statistics.median(numbers)
    statistics.trim(numbers, "smallest")
    assert.same(copy, numbers)
    assert.same(before, { roper.random_state() })
    roper.seed(8)
    assert.same({ low, high }, { statistics.interval(numbers) })
    assert.equal(p, statistics.permutation_test(numbers))
  end)

  it("returns nil for too few numbers", function()
    assert.is_nil(statistics.mean({}))
    assert.is_nil(statistics.median({}))
    assert.is_nil(statistics.standard_error({ 1 }))
    assert.is_nil((statistics.interval({ 1, 2, 4, 5, 7 })))
    assert.is_nil(statistics.permutation_test({}))
    assert.equal(1, statistics.permutation_test({ 5 }))
  end)
end)

describe("statistics.interval", function()
  -- Differences of three kinds, the last with many ties and zeros.
  local DRAW <const> = {
    function(n) return roper.randn({ n }, "float64") + 0.7 end,
    function(n) return roper.randn({ n }, "float64"):exp() - 0.5 end,
    function(n) return (roper.randn({ n }, "float64") * 2 + 1):round() / 128 end,
  }

  it("contains the mean of normal and log-normal numbers nearly as often as stated", function()
    roper.seed(1)
    for n, least in pairs({ [6] = 285, [10] = 280 }) do
      local held = 0
      for _ = 1, 300 do
        local low, high = statistics.interval(DRAW[1](n):totable())
        held = held + (low <= 0.7 and 0.7 <= high and 1 or 0)
      end
      -- Of 300, 291 and 285 are expected, plus or minus 3.
      assert.is_true(held >= least - 6 and held < 300, ("%d numbers: %d"):format(n, held))
    end
  end)

  it("excludes 0 exactly if p with the same correction is below the level", function()
    roper.seed(2)
    local excluded, included = 0, 0
    for _, draw in ipairs(DRAW) do
      for _, n in ipairs({ 1, 2, 5, 6, 7, 8, 10, 14, 18 }) do
        for _ = 1, n <= 10 and 15 or 2 do
          local numbers = draw(n):totable()
          local p = statistics.permutation_test(numbers)
          for _, comparisons in ipairs({ 1, 3, 10 }) do
            local low, high = statistics.interval(numbers, 1 - 0.05 / comparisons)
            local is_significant = math.min(1, comparisons * p) < 0.05
            assert.equal(comparisons * statistics.least_p(n) < 0.05, low ~= nil)
            local is_excluded = low ~= nil and (low > 0 or high < 0)
            assert.equal(is_significant, is_excluded, table.concat(numbers, " "))
            excluded = excluded + (is_excluded and 1 or 0)
            included = included + (low and not is_excluded and 1 or 0)
          end
        end
      end
    end
    assert.is_true(excluded > 100 and included > 100, excluded .. " " .. included)
  end)

  it("treats a sum of rounding errors as 0", function()
    assert.equal(1, statistics.permutation_test({ 0.1, 0.2, -0.3 }))
    local numbers, tenfold = { 0.1, 0.2, -0.3, 5, 6, 7, 8, 9 }, { 1, 2, -3, 50, 60, 70, 80, 90 }
    assert.equal(5 / 128, statistics.permutation_test(tenfold))
    assert.equal(5 / 128, statistics.permutation_test(numbers))
    local low = statistics.interval(numbers, 1 - 4.5 / 128)
    assert.equal(0, low) -- the mean of 0.1, 0.2 and -0.3
  end)

  it("lies between the numbers, even if they are few, skewed, large or small", function()
    -- Bootstrap-t gave -0.67 to 0.17 for such.
    assert.same({ 0.3, 0.7 }, { statistics.interval({ 0.31, 0.3, 0.69, 0.32, 0.7, 0.3 }) })
    assert.same({ 3, 3 }, { statistics.interval({ 3, 3, 3, 3, 3, 3 }) })
    assert.same({ 0, 0 }, { statistics.interval({ 0, 0, 0, 0, 0, 0, 0 }) })
    assert.same({ -3e8, 1e8 }, { statistics.interval({ 1e8, 5e7, 1e-30, 0, 4, -3e8 }) })
    assert.same({ 1e-30, 6e-30 }, { statistics.interval({ 1e-30, 2e-30, 3e-30, 4e-30, 5e-30,
      6e-30 }) })
    roper.seed(3)
    for n = 6, 24, 6 do
      local numbers = (roper.randn({ n }, "float64") * 3):exp()
      local low, high = statistics.interval(numbers:totable())
      assert.is_true(numbers:min():item() <= low and high <= numbers:max():item())
      local mean = numbers:mean():item()
      assert.is_true(low < mean and mean < high)
    end
  end)

  it("shifts and scales with the numbers", function()
    local numbers, moved = { 1, 2, 3, 5, 8, 13, 21 }, {}
    for i, number in ipairs(numbers) do
      moved[i] = 1000 - 3 * number
    end
    local low, high = statistics.interval(numbers)
    local moved_low, moved_high = statistics.interval(moved)
    assert.near(1000 - 3 * high, moved_low, 1e-6)
    assert.near(1000 - 3 * low, moved_high, 1e-6)
    local narrow_low, narrow_high = statistics.interval(numbers, 0.8)
    assert.is_true(low < narrow_low and narrow_high < high)
  end)
end)

describe("statistics.quantile", function()
  it("lies between neighbours", function()
    -- numpy.quantile([1, 2, 4, 8], share)
    for share, expected in pairs({ [0] = 1, [0.25] = 1.75, [0.5] = 3, [0.9] = 6.8, [1] = 8 }) do
      assert.near(expected, statistics.quantile({ 1, 2, 4, 8 }, share), 1e-12)
    end
    assert.equal(5, statistics.quantile({ 5 }, 0.3))
    assert.is_nil(statistics.quantile({}, 0.3))
    assert.error_matches(function() statistics.quantile({ 1, 0 / 0 }, 0.3) end,
      "quantile: list: expected finite numbers, got %-?nan at index 2")
  end)
end)

describe("statistics.trim", function()
  it("removes the worst of ten, and the worst tenth of more", function()
    local ten = { 5, 3, 9, 1, 7, 2, 8, 6, 4, 10 }
    assert.same({ { 2, 3, 4, 5, 6, 7, 8, 9, 10 }, 1 }, { statistics.trim(ten, "smallest") })
    assert.same({ { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, 1 }, { statistics.trim(ten, "largest") })
    assert.same({ { 2, 9, 9 }, 0 }, { statistics.trim({ 9, 2, 9 }, "smallest") })
    assert.same({ {}, 0 }, { statistics.trim({}, "smallest") })
    local many = {}
    for i = 1, 25 do
      many[i] = 26 - i
    end
    assert.equal(0, select(2, statistics.trim({ table.unpack(many, 1, 9) }, "smallest")))
    assert.equal(1, select(2, statistics.trim({ table.unpack(many, 1, 19) }, "smallest")))
    local kept, removed = statistics.trim(many, "smallest")
    assert.same({ 23, 2, 3 }, { #kept, removed, kept[1] })
  end)
end)

describe("statistics.permutation_test", function()
  it("samples the signs of many pairs, with a p close to the exact one", function()
    local differences = fixture[6].numbers
    local n, sum, extreme = #differences, 0, 0
    for _, difference in ipairs(differences) do
      sum = sum + difference
    end
    -- All 2^20 signs, by halving: sums of the first ten against sums of the last ten.
    local function sums(first, last)
      local list = { 0 }
      for i = first, last do
        local longer = {}
        for _, value in ipairs(list) do
          longer[#longer + 1] = value + differences[i]
          longer[#longer + 1] = value - differences[i]
        end
        list = longer
      end
      return list
    end
    local left, right = sums(1, 10), sums(11, n)
    for _, a in ipairs(left) do
      for _, b in ipairs(right) do
        extreme = extreme + (math.abs(a + b) >= math.abs(sum) - 1e-9 and 1 or 0)
      end
    end
    local p = extreme / 2 ^ n
    assert.near(p, statistics.permutation_test(differences), 5 * (p * (1 - p) / 2 ^ 15) ^ 0.5)
  end)

  it("is never 0", function()
    local same = {}
    for i = 1, 30 do
      same[i] = 1
    end
    assert.equal(2 ^ -15, statistics.permutation_test(same))
    assert.equal(2 ^ -15, statistics.least_p(30))
    assert.equal(2 / 2 ^ 10, statistics.permutation_test({ table.unpack(same, 1, 10) }))
  end)
end)

describe("statistics.censored", function()
  it("counts runs that never reached the event", function()
    assert.same({ n = 5, reached = 3, limit = 100, median = 60, mean = 58.0 + 4,
                  error = statistics.standard_error({ 20, 30, 60, 100, 100 }) },
                statistics.censored({ 30, 60, 20 }, 5, 100))
    assert.same({ n = 3, reached = 1, limit = 100, above = true, mean = 90.0,
                  error = statistics.standard_error({ 70, 100, 100 }) },
                statistics.censored({ 70 }, 3, 100))
    assert.same({ n = 2, reached = 0, limit = 10, above = true, mean = 10.0, error = 0.0 },
                statistics.censored({}, 2, 10))
  end)

  it("has no median if half of the runs never reached the event", function()
    local half = statistics.censored({ 30, 40 }, 4, 100)
    assert.is_nil(half.median)
    assert.is_nil(half.above)
    assert.equal(40, statistics.censored({ 30, 40, 40 }, 4, 100).median)
  end)
end)
