local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

local function scheme(options)
  local all = { dim = 8, base = 100, rotate = "qkvo" }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return roper.position.rope(all)
end

--- R_p x from the formula, one vector at a time (RoFormer eq. 34).
local function rotated(x, options, positions)
  local from = arrays.from(x)
  local count = options.rotated or 8
  local half = count // 2
  return arrays.make(from.shape, function(at)
    local i = at[#at]
    if i >= count then
      return arrays.get(from, at)
    end
    local interleaved = options.pairing == "interleaved"
    local t = interleaved and i // 2 or i % half
    local is_first = interleaved and i % 2 == 0 or not interleaved and i < half
    local partner, apart = table.move(at, 1, #at, 1, {}), interleaved and 1 or half
    partner[#at] = is_first and i + apart or i - apart
    local angle = positions(at) * 100 ^ (-2 * t / count)
    return arrays.get(from, at) * math.cos(angle)
      + arrays.get(from, partner) * math.sin(angle) * (is_first and -1 or 1)
  end)
end

describe("rotate", function()
  it("follows the formula, for both pairings and parts of the features", function()
    arrays.each_seed(20, function(seed)
      local pairing = seed % 2 == 0 and "half" or "interleaved"
      local count = 2 * math.random(0, 4)
      local p = scheme({ pairing = pairing, fraction = count / 8 })
      local x = arrays.random_layout({ 2, 3, 5, 8 }, seed % 3 == 0 and "float32" or "float64")
      local list = {}
      for i = 1, 5 do
        list[i] = math.random(-10, 10) + math.random()
      end
      local expected = rotated(x, { pairing = pairing, rotated = count },
        function(at) return list[at[3] + 1] end)
      local tolerance = x:dtype() == "float32" and 2e-6 or 1e-14
      arrays.check(expected, p:rotate(x, list), tolerance)
      arrays.check(arrays.from(x), p:unrotate(p:rotate(x, list), list), tolerance)
    end)
  end)

  it("accepts positions as a number, a list, a tensor, one list for each row, or none", function()
    roper.seed(1)
    local p, x = scheme(), roper.randn({ 2, 1, 3, 8 }, "float64")
    local by_place = rotated(x, {}, function(at) return at[3] end)
    arrays.check(by_place, p:rotate(x), 1e-14)
    arrays.check(by_place, p:rotate(x, { 0, 1, 2 }), 1e-14)
    arrays.check(by_place, p:rotate(x, roper.arange(0, 3)), 1e-14)
    arrays.check(by_place, p:rotate(x, roper.arange(0, 3, 1, "int32"):view({ 1, 3 })), 1e-14)
    arrays.check(rotated(x, {}, function() return -2.5 end), p:rotate(x, -2.5), 1e-14)
    local rows = { { 5, -1, 0.5 }, { 1e5, 2, 3 } }
    arrays.check(rotated(x, {}, function(at) return rows[at[1] + 1][at[3] + 1] end),
      p:rotate(x, rows), 1e-10)
  end)

  it("accepts tensors of one to four axes", function()
    roper.seed(2)
    local p, x = scheme(), roper.randn({ 1, 1, 1, 8 }, "float64")
    local expected = p:rotate(x, 3):view({ 8 })
    for _, shape in ipairs({ { 8 }, { 1, 8 }, { 1, 1, 8 } }) do
      arrays.close(expected, p:rotate(x:view(shape), 3):view({ 8 }), 0)
    end
    assert.same({ 0, 8 }, p:rotate(roper.zeros({ 0, 8 })):shape())
  end)

  it("rotates the input that a letter names", function()
    roper.seed(3)
    local p = scheme({ rotate = "kvo", fraction = 0.5, value_fraction = 1 })
    local x = roper.randn({ 4, 8 }, "float64")
    arrays.close(x, p:rotate(x, nil, "q"), 0)
    arrays.close(p:rotate(x), p:rotate(x, nil, "k"), 0)
    arrays.close(scheme({ fraction = 1 }):rotate(x), p:rotate(x, nil, "v"), 0)
    arrays.close(x, p:unrotate(p:rotate(x, nil, "v"), nil, "o"), 1e-14)
  end)

  it("has the inverse rotation as its gradient", function()
    roper.seed(4)
    for _, pairing in ipairs({ "half", "interleaved" }) do
      for _, fraction in ipairs({ 0, 0.5, 1 }) do
        local p = scheme({ pairing = pairing, fraction = fraction })
        for _, shape in ipairs({ { 8 }, { 2, 1, 3, 8 } }) do
          gradients.check(function(x) return p:rotate(x, 2.5):sin() end, { shape })
          gradients.check(function(x) return p:unrotate(x):sin() end, { shape })
        end
        local rows = roper.randn({ 2, 3 }) * 5
        gradients.check(function(x) return p:rotate(x, rows):sin() end, { { 2, 2, 3, 8 } })
      end
    end
  end)

  it("is the same with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(5)
    local x, results = roper.randn({ 4, 4, 100, 8 }), {}
    for n = 1, 2 do
      roper.threads(n)
      results[n] = scheme():rotate(x, 1e5)
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)

  it("rejects what does not fit", function()
    local p, x = scheme(), roper.ones({ 3, 8 })
    assert.error_matches(function() p:rotate(roper.ones({ 3, 6 })) end,
      "rotate: expected %[..., time, 8%], got %[3, 6%]")
    assert.error_matches(function() p:unrotate(roper.tensor(1)) end,
      "unrotate: expected %[..., time, 8%], got %[%]")
    assert.error_matches(function() p:rotate(roper.ones({ 1, 1, 1, 3, 8 })) end,
      "rotate: expected floats %[batch, heads, time, features%] .*, got float32 %[1, 1, 1, 3, 8%]")
    assert.error_matches(function() p:rotate(x:to("int32")) end, "got int32 %[3, 8%]")
    assert.error_matches(function() p:rotate(x, { 1, 2 }) end,
      "positions: expected shape %[3%] or %[1, 3%], got %[2%]")
    assert.error_matches(function() p:rotate(x, { 1, 2, 0 / 0 }) end,
      "positions: expected finite numbers up to 2%^53, got .* as element 3")
    assert.error_matches(function() p:rotate(x, math.huge) end, "got inf as element 1")
    assert.error_matches(function() p:rotate(x, { 1, -1e16, 3 }) end,
      "positions: expected finite numbers up to 2%^53, got %-1e%+16 as element 2")
    assert.error_matches(function() p:rotate(x, { 1, { 2 }, 3 }) end, "tensor: expected a number")
    assert.error_matches(function() p.rotate(x) end, "rotary expected, got ")
  end)
end)
