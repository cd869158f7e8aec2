local agreement = require("tests.agreement")
local arrays = require("tests.arrays")
local core = require("roper.core")
local roper = require("roper")

local function random_scheme(rotate)
  local pairs_turned = math.random(0, 4)
  return roper.position.rope({
    dim = 8,
    rotate = rotate or "qkvo",
    base = 2 ^ (math.random() * 16),
    pairing = math.random(2) == 1 and "half" or "interleaved",
    fraction = pairs_turned / 4,
  })
end

--- Whole, fractional and negative positions, small and large.
local function random_positions(shape)
  local x = roper.randn(shape, "float64") * 10 ^ math.random(0, 5)
  return math.random(2) == 1 and x:round() or x
end

describe("rotary scheme", function()
  it("keeps its options, which create the same scheme", function()
    local options = { dim = 12, base = 500.5, pairing = "interleaved", fraction = 0.5,
      value_fraction = 1 / 6, rotate = "qv" }
    local p = roper.position.rope(options)
    assert.same(options, p:options())
    assert.same(options, roper.position.rope(p:options()):options())
    assert.equal('rotary{dim = 12, base = 500.5, pairing = "interleaved", fraction = 0.5, '
      .. 'value_fraction = 0.16666666666667, rotate = "qv"}', tostring(p))
    assert.equal('rotary{dim = 4, base = 10000.0, pairing = "half", fraction = 0.5, rotate = "qk"}',
      tostring(roper.position.rope({ dim = 4, fraction = 0.5 })))
    assert.equal('rotary{dim = 4, base = 10000.0, pairing = "half", rotate = "qk"}',
      tostring(roper.position.rope({ dim = 4 })))
    assert.same({ dim = 4, base = 10000.0, pairing = "half", fraction = 1.0, value_fraction = 1.0,
      rotate = "qkvo" }, roper.position.roper({ dim = 4 }):options())
    assert.equal("qk", roper.position.rope({ dim = 4, rotate = "kq" }):options().rotate)
    assert.equal(0.5, roper.position.rope({ dim = 4, fraction = 0.5 }):options().value_fraction)
  end)

  it("has the frequencies base^(-2t / rotated)", function()
    local theta = roper.position.rope({ dim = 8, base = 10000 }):thetas()
    assert.equal("float64", theta:dtype())
    arrays.close(roper.tensor({ 1, 0.1, 0.01, 0.001 }, "float64"), theta, 1e-16)
    arrays.close(roper.tensor({ 1, 0.01 }, "float64"),
      roper.position.rope({ dim = 8, fraction = 0.5 }):thetas(), 1e-16)
    assert.equal(0, roper.position.rope({ dim = 8, fraction = 0 }):thetas():count())
  end)

  it("rotates only the inputs named by only", function()
    local p = roper.position.roper({ dim = 4, base = 7 })
    assert.equal("qo", p:only("oq"):options().rotate)
    assert.equal("", p:only(""):options().rotate)
    assert.equal("k", roper.position.rope({ dim = 4 }):only("kvo"):options().rotate)
    assert.equal(7, p:only("q"):options().base)
    assert.equal("qkvo", p:options().rotate)
    assert.error_matches(function() p:only("x") end,
      'letters of "qkvo", each at most once, got "x"')
  end)

  it("rejects invalid schemes", function()
    for message, options in pairs({
      ["option dim: expected an integer from 1 to 2147483647, got nil"] = {},
      ["option dim: expected an integer from 1 to %d+, got 0"] = { dim = 0 },
      ["option dim: expected an integer from 1 to %d+, got 2.5"] = { dim = 2.5 },
      ["dim: expected 1 to 8192 features, got 10000"] = { dim = 10000 },
      ["got 1, which rotates 5 of 5; the nearest is 4 / 5"] = { dim = 5 },
      ["got 0.3, which rotates 2.4 of 8; the nearest is 2 / 8"] = { dim = 8, fraction = 0.3 },
      ["value_fraction: expected a fraction that rotates an even number of features, got 0.125"] =
        { dim = 8, value_fraction = 0.125 },
      ["fraction: expected a number from 0 to 1, got 1.5"] = { dim = 8, fraction = 1.5 },
      ["fraction: expected a number from 0 to 1, got %-1"] = { dim = 8, fraction = -1 },
      ["option fraction: expected a finite number, got %-?nan"] = { dim = 8, fraction = 0 / 0 },
      ["base: expected a positive finite number, got 0"] = { dim = 8, base = 0 },
      ["base: expected a positive finite number, got %-2"] = { dim = 8, base = -2 },
      ["option base: expected a finite number, got inf"] = { dim = 8, base = math.huge },
      ["option base: expected a finite number, got %-?nan"] = { dim = 8, base = 0 / 0 },
      ["expected frequencies up to 1.*e%+292, .* got .*e%+296 for pair 39"] =
        { dim = 80, base = 1e-312 },
      ["expected frequencies up to .*, got %-1e%+300 for pair 2"] =
        { dim = 4, frequencies = { 1, -1e300 } },
      ['pairing: expected one of half, interleaved, got "hafl"; did you mean "half"%?'] =
        { dim = 8, pairing = "hafl" },
      ['letters of "qkvo", each at most once, got "qq"'] = { dim = 8, rotate = "qq" },
      ['letters of "qkvo", each at most once, got "kqw"'] = { dim = 8, rotate = "kqw" },
      ['unknown option dims; did you mean "dim"%? It takes dim, base, pairing, fraction'] =
        { dims = 8 },
    }) do
      assert.error_matches(function() roper.position.rope(options) end, "rope: .-" .. message)
    end
  end)
end)

describe("rotation", function()
  it("is multiplication by the explicit matrix, which is orthogonal", function()
    arrays.each_seed(20, function()
      local scheme, p = random_scheme(), random_positions({}):item()
      local x, matrix = roper.randn({ 5, 8 }, "float64"), scheme:matrix(p)
      arrays.close(x:matmul(matrix:transpose(1, 2)), scheme:rotate(x, p), 1e-13)
      arrays.close(roper.eye(8, "float64"), matrix:matmul(matrix:transpose(1, 2)), 1e-14)
    end)
    assert.same({ { 1, 0 }, { 0, 1 } }, roper.position.rope({ dim = 2 }):matrix(0):totable())
    local quarter = roper.position.rope({ dim = 2 }):matrix(math.pi / 2)
    arrays.close(roper.tensor({ { 0, -1 }, { 1, 0 } }, "float64"), quarter, 1e-15)
  end)

  it("keeps lengths at the farthest positions and the highest frequencies", function()
    local x = roper.ones({ 1, 8 }, "float64")
    for _, base in ipairs({ 1e-290, 0.5, 10000, 1e300 }) do
      local scheme = roper.position.rope({ dim = 8, base = base })
      for _, position in ipairs({ 1e13 + 0.3, 1e15 + 7, -2 ^ 53, 2 ^ 53 }) do
        local y = scheme:rotate(x, position)
        assert.near(8, y:square():sum():item(), 1e-13)
        arrays.close(x, scheme:unrotate(y, position), 1e-13)
      end
    end
  end)

  it("returns a part that the scheme does not rotate unchanged, with any number of features",
    function()
      local x = roper.randn({ 2, 4, 6 })
      for _, part in ipairs({ "v", "o" }) do
        arrays.close(x, roper.position.rope({ dim = 8 }):rotate(x, nil, part), 0)
        arrays.close(x, roper.position.rope({ dim = 8 }):unrotate(x, nil, part), 0)
        assert.error_matches(function()
          roper.position.roper({ dim = 8 }):rotate(x, nil, part)
        end, "rotate: expected %[%.%.%., time, 8%], got %[2, 4, 6%]")
      end
      assert.error_matches(function() roper.position.rope({ dim = 8 }):rotate(x) end,
        "rotate: expected %[%.%.%., time, 8%], got %[2, 4, 6%]")
    end)

  it("composes: R_a R_b = R_{a+b}", function()
    arrays.each_seed(30, function()
      local scheme, x = random_scheme(), roper.randn({ 2, 3, 4, 8 }, "float64")
      local a, b = random_positions({ 4 }):round(), random_positions({ 4 }):round()
      arrays.close(scheme:rotate(x, a + b), scheme:rotate(scheme:rotate(x, b), a), 1e-13)
    end)
  end)

  it("is undone by unrotate, and R_{-a} is the inverse of R_a", function()
    arrays.each_seed(30, function()
      local scheme, x = random_scheme(), roper.randn({ 2, 3, 4, 8 }, "float64")
      local a = random_positions({ 4 })
      arrays.close(x, scheme:unrotate(scheme:rotate(x, a), a), 1e-13)
      arrays.close(scheme:rotate(x, -a), scheme:unrotate(x, a), 1e-13)
    end)
  end)

  it("keeps norms and products", function()
    arrays.each_seed(30, function()
      local scheme, a = random_scheme(), random_positions({ 4 })
      local x, y = roper.randn({ 4, 8 }, "float64"), roper.randn({ 4, 8 }, "float64")
      arrays.close((x * y):sum(2), (scheme:rotate(x, a) * scheme:rotate(y, a)):sum(2), 1e-13)
      arrays.close(x:square():sum(2), scheme:rotate(x, a):square():sum(2), 1e-13)
    end)
  end)

  it("is exact at far positions: angles are computed in float64, not in the dtype", function()
    local scheme, x = roper.position.rope({ dim = 8 }), roper.ones({ 1, 8 }, "float64")
    for _, place in ipairs({ 0, 1, 40, 640, 131072, 1e7 + 0.5, -131072.25, 1e12 + 0.25, -3e14 }) do
      local near = scheme:rotate(scheme:rotate(x, place), -place)
      arrays.close(x, near, 1e-15 * 10)
      local single = scheme:rotate(x:to("float32"), place)
      arrays.close(scheme:rotate(x, place), single, 3e-7)
    end
  end)
end)

describe("the tables of a scheme", function()
  -- Does attention by this scheme get by with so many new blocks of memory?
  local function gets_by(count, scheme, q)
    core.memory_fail_after(count)
    local ok, message = pcall(roper.attention, q, q, q, { position = scheme })
    core.memory_fail_after(-1)
    assert(ok or tostring(message):find("out of memory", 1, true), message)
    return ok
  end

  it("are created once for a length, and released with the scheme", function()
    local function collect()
      collectgarbage()
      collectgarbage()
      return roper.memory().blocks
    end
    local x, q = roper.randn({ 10, 8 }), roper.randn({ 1, 1, 10, 8 })
    local before = collect()
    do
      local scheme = roper.position.roper({ dim = 8 })
      local least = 0
      while not gets_by(least, scheme, q) do
        least = least + 1
      end
      assert.is_true(gets_by(least, scheme, q))
      assert.is_false(gets_by(least, roper.position.roper({ dim = 8 }), q))
      scheme:rotate(x:to("float64"))
      assert.is_false(gets_by(least, scheme, q))
      local kept = collect()
      for time = 1, 10 do
        scheme:rotate(x:narrow(1, 1, time), 3)
        scheme:rotate(x:narrow(1, 1, time))
        scheme:rotate(x:narrow(1, 1, time):to("float64"))
      end
      assert.equal(kept, collect())
      assert.is_true(kept > before)
    end
    assert.equal(before, collect())
  end)

  it("are never mixed up with those of other positions, fractions or dtypes", function()
    math.randomseed(5)
    roper.seed(5)
    local schemes = {
      roper.position.rope({ dim = 8, rotate = "qkvo", value_fraction = 0.5 }),
      roper.position.rope({ dim = 8, rotate = "qkvo", magnitude = 1.5 }),
      roper.position.rope({ dim = 8, rotate = "qkvo", growth = { 0.1, 0.2, -0.1, 0 } }),
    }
    for _ = 1, 500 do
      local scheme = schemes[math.random(#schemes)]
      local dtype = math.random(2) == 1 and "float32" or "float64"
      local time, letter = math.random(3), ("qkvo"):sub(math.random(4)):sub(1, 1)
      local x = roper.randn({ time, 8 }, dtype)
      local turned = math.random(2) == 1 and scheme or scheme:only("qv")
      local fresh = roper.position.rope(turned:options())
      local positions = math.random(3) == 1 and math.random(3) or nil
      local method = math.random(2) == 1 and "rotate" or "unrotate"
      arrays.close(fresh[method](fresh, x, positions, letter),
        turned[method](turned, x, positions, letter), 0)
      fresh = roper.position.rope(turned:options())
      local how = { position = turned, offset = math.random(0, 2) }
      local q = x:view({ 1, 1, time, 8 })
      local expected = roper.attention(q, q, q, { position = fresh, offset = how.offset })
      arrays.close(expected, roper.attention(q, q, q, how), 0)
    end
  end)
end)

describe("a shift of all positions", function()
  --- The outputs and weights at positions and at the same positions shifted.
  local function shifted(scheme, dtype)
    local q, k, v = agreement.inputs({ batch = 2, keys = 20 })
    q, k, v = q:to(dtype), k:to(dtype), v:to(dtype)
    local at = roper.arange(0, 20, 1, "float64") * 1.5
    local shift = math.random(-5000, 5000)
    local results = {}
    for i, positions in ipairs({ at, at + shift }) do
      local options = { position = scheme, positions = positions, causal = true, weights = true }
      local output, weights = roper.attention(q, k, v, options)
      results[i] = { output = output, weights = weights }
    end
    return results[1], results[2]
  end

  it("leaves RoPE's weights and outputs and RoPER's outputs unchanged", function()
    arrays.each_seed(20, function()
      for _, rotate in ipairs({ "qk", "qkvo", "vo", "" }) do
        local here, there = shifted(random_scheme(rotate), "float64")
        arrays.close(here.weights, there.weights, 1e-13, rotate)
        arrays.close(here.output, there.output, 1e-13, rotate)
      end
      local here, there = shifted(random_scheme("qkvo"), "float32")
      arrays.close(here.output, there.output, 1e-5)
    end)
  end)

  it("changes outputs if only one of queries and keys is rotated", function()
    math.randomseed(1)
    roper.seed(1)
    for _, rotate in ipairs(agreement.subsets()) do
      local pairs_whole = (rotate:find("q") == nil) == (rotate:find("k") == nil)
        and (rotate:find("v") == nil) == (rotate:find("o") == nil)
      local here, there = shifted(roper.position.rope({ dim = 8, rotate = rotate }), "float64")
      local difference = (here.output - there.output):abs():max():item()
      if pairs_whole then
        assert.is_true(difference < 1e-13, rotate)
      else
        assert.is_true(difference > 1e-2, rotate)
      end
    end
  end)
end)

describe("rotary scheme of listed frequencies", function()
  local growing = { dim = 8, frequencies = { 1, 0.5, 0.25 }, growth = { -0.01, 0, -0.002 },
    centre = 40, magnitude = 1.2, rotate = "qkvo", pairing = "interleaved", last = true }
  local apart = { dim = 8, frequencies = { 1, 0.5, 1, 0.5 }, coordinates = { 1, 1, 2, 2 },
    rotate = "qkvo", pairing = "half" }

  before_each(function() roper.seed(1) end)

  it("keeps them and their options", function()
    for _, options in ipairs({ growing, apart }) do
      local p = roper.rotary(options)
      assert.same(options, p:options())
      assert.same(options, roper.rotary(p:options()):options())
      arrays.close(roper.tensor(options.frequencies, "float64"), p:thetas(), 0)
    end
    assert.equal('rotary{dim = 8, 3 frequencies, pairing = "interleaved", magnitude = 1.2, '
      .. 'last = true, with growth, rotate = "qkvo"}', tostring(roper.rotary(growing)))
  end)

  it("of base^(-2t / r) is rope", function()
    local x = roper.randn({ 2, 5, 8 }, "float64")
    local rope = roper.position.rope({ dim = 8 })
    local listed = roper.rotary({ dim = 8, frequencies = rope:thetas() })
    arrays.close(rope:rotate(x), listed:rotate(x), 0)
  end)

  it("agrees with the definition in attention, all subsets", function()
    for _, rotate in ipairs(agreement.subsets()) do
      for _, options in ipairs({ growing, apart }) do
        local changed = {}
        for name, value in pairs(options) do
          changed[name] = value
        end
        changed.rotate = rotate
        local p = roper.rotary(changed)
        local function places()
          return roper.randn(options.coordinates and { 2, 50, 2 } or { 2, 50 }, "float64") * 30
        end
        local inputs = { agreement.inputs({ batch = 2, keys = 50 }) }
        agreement.check(inputs, { position = p, query_positions = places(),
          key_positions = places() })
        agreement.check(inputs, { position = p, causal = true, offset = 100 })
      end
    end
  end)

  it("scales queries up and keys down: scores depend on the distance only", function()
    local p = roper.rotary({ dim = 8, frequencies = { 1, 0.5, 0.25, 0.1 }, rotate = "qk",
      growth = { -0.01, -0.02, 0, 0.01 }, centre = 7 })
    local q, k = roper.randn({ 8 }, "float64"), roper.randn({ 8 }, "float64")
    local function score(i, j)
      return (p:rotate(q, i, "q") * p:rotate(k, j, "k")):sum():item()
    end
    for _, move in ipairs({ 1, 640, 0.5, -3 }) do
      assert.is_true(math.abs(score(12 + move, 5 + move) - score(12, 5)) < 1e-10)
    end
    assert.is_true(math.abs(p:rotate(q, 107, "q")[1]:item() * math.exp(1)
      - roper.rotary({ dim = 8, frequencies = { 1, 0.5, 0.25, 0.1 } }):rotate(q, 107)[1]:item())
      < 1e-12)
  end)

  it("rejects positions at which the scale overflows", function()
    local p = roper.rotary({ dim = 2, frequencies = { 1 }, growth = { -0.01 }, centre = 100 })
    local function refused(dtype, position, part)
      local x = roper.ones({ 1, 1, 1, 2 }, dtype)
      assert.error_matches(function() p:rotate(x, position, part) end,
        "expected positions near the centre 100, got one whose magnitude overflows " .. dtype)
      assert.error_matches(function()
        roper.attention(x, x, x, { position = p, positions = position })
      end, "overflows " .. dtype)
    end
    refused("float32", 1e4, "k")
    refused("float32", -1e4, "q")
    refused("float64", 1e5, "k")
    local x = roper.ones({ 1, 1, 1, 2 }, "float64")
    arrays.close(x, roper.attention(x, x, x, { position = p, positions = 1e4 }), 1e-15)
    assert.equal(0, p:rotate(x:to("float32"), 1e5, "q"):abs():max():item())
  end)

  it("is inverted by unrotate, also in magnitudes", function()
    for _, part in ipairs({ "q", "k", "v", "o" }) do
      local p = roper.rotary(growing)
      local x, places = roper.randn({ 6, 8 }, "float64"), roper.randn({ 6 }, "float64") * 50
      arrays.close(x, p:unrotate(p:rotate(x, places, part), places, part), 1e-14)
      assert.is_true(roper.gradcheck(function(y) return p:rotate(y, places, part) end, { x }))
      assert.is_true(roper.gradcheck(function(y) return p:unrotate(y, places, part) end, { x }))
    end
  end)

  it("reads the coordinate of each pair", function()
    local p = roper.rotary(apart)
    local x = roper.randn({ 3, 8 }, "float64")
    local y = p:rotate(x, { { { 1, 0 }, { 0, 0 }, { 0, 2 } } })
    local half = roper.rotary({ dim = 8, frequencies = { 1, 0.5, 0, 0 } })
    local other = roper.rotary({ dim = 8, frequencies = { 0, 0, 1, 0.5 } })
    arrays.close(half:rotate(x[1], 1), y[1], 0)
    arrays.close(x[2], y[2], 0)
    arrays.close(other:rotate(x[3], 2), y[3], 0)
    arrays.close(p:rotate(x, roper.ones({ 1, 3, 2 }) * 5), p:rotate(x, 5), 0)
  end)

  it("uses a single number as position in all coordinates", function()
    local p = roper.rotary(apart)
    local q = roper.randn({ 2, 1, 2, 8 }, "float64") -- as many rows and tokens as coordinates
    local one = roper.tensor({ { 1, 5 }, { 3, -2 } }, "float64")
    local all = one:unsqueeze(3):expand({ 2, 2, 2 })
    arrays.close(p:rotate(q, all), p:rotate(q, one), 0)
    arrays.close(roper.attention(q, q, q, { position = p, positions = all }),
      roper.attention(q, q, q, { position = p, positions = one }), 0)
  end)

  it("is rejected if lists do not match", function()
    local function refused(message, changes)
      local options = { dim = 8, frequencies = { 1, 2 } }
      for name, value in pairs(changes) do
        options[name] = value
      end
      assert.error_matches(function() roper.rotary(options) end, message)
    end
    refused("frequencies: expected at most 4, one for each pair of 8 features, got 5",
      { frequencies = { 1, 2, 3, 4, 5 } })
    refused("frequencies: expected finite numbers, got .*nan as element 2",
      { frequencies = { 1, 0 / 0 } })
    refused("expected frequencies or base, got both", { base = 5 })
    refused("growth: expected float64 %[2%], one for each pair, got float64 %[1%]",
      { growth = { 1 } })
    refused("coordinates: expected numbers from 1 to 16, got 0", { coordinates = { 0, 1 } })
    refused("coordinates: expected numbers from 1 to 16, got 17", { coordinates = { 17, 1 } })
    refused("magnitude: expected a positive finite number, got 0", { magnitude = 0 })
    refused("centre: expected a finite number, got inf", { centre = math.huge })
    assert.error_matches(function()
      roper.rotary(apart):rotate(roper.zeros({ 3, 8 }), roper.zeros({ 1, 3, 3 }))
    end, "positions: expected shape %[3%] or %[1, 3, 2%], got %[1, 3, 3%]")
  end)
end)
