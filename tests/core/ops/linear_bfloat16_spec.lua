local arrays = require("tests.arrays")
local bfloat16 = require("tests.bfloat16")
local roper = require("roper")

describe("pack_bfloat16", function()
  it("rounds to the nearest of 8 significant bits, ties to even", function()
    local cases = { { 1, 1 }, { 0, 0 }, { -2.5, -2.5 }, { 1 + 2 ^ -8, 1 },
      { 1 + 3 * 2 ^ -8, 1 + 2 ^ -6 }, { 1 + 2 ^ -8 + 2 ^ -20, 1 + 2 ^ -7 }, { -(1 + 2 ^ -9), -1 },
      { 1e8, 100139008 }, { 0x1p-133, 0x1p-133 }, { 0x1p-135, 0 }, { math.huge, math.huge },
      { -math.huge, -math.huge }, { 0x1.fffffep127, math.huge }, { 1e-30, 0x1.44p-100 } }
    local given, expected = {}, {}
    for i, case in ipairs(cases) do
      given[i], expected[i] = case[1], case[2]
    end
    local function rounded(list)
      return bfloat16.numbers(roper.pack_bfloat16(roper.tensor(list)):totable(), #list)
    end
    assert.same(expected, rounded(given))
    local nan = rounded({ 0 / 0, 1 })
    assert.is_true(nan[1] ~= nan[1])
    assert.equal(1, nan[2])
  end)

  it("pads odd axes with 0, and takes any layout and empty axes", function()
    assert.same({ { 0x3F80 }, { 0x4000 } },
      roper.pack_bfloat16(roper.tensor({ { 1 }, { 2 } })):totable())
    local x = roper.randn({ 3, 5 })
    arrays.close(roper.pack_bfloat16(x:transpose(1, 2):contiguous()),
      roper.pack_bfloat16(x:transpose(1, 2)), 0)
    assert.same({ 3, 0 }, roper.pack_bfloat16(roper.zeros({ 3, 0 })):shape())
    assert.same({ 0, 2 }, roper.pack_bfloat16(roper.zeros({ 0, 4 })):shape())
  end)
end)

describe("linear_bfloat16", function()
  it("agrees with linear and rounded weights, with one thread and with two", function()
    local threads = roper.threads()
    local seed = os.time()
    roper.seed(seed)
    for _, case in ipairs({ { 1, 1, 1 }, { 1, 64, 9 }, { 2, 33, 4 }, { 5, 16, 7 }, { 16, 130, 6 },
      { 40, 31, 5 }, { 3, 0, 2 }, { 1, 1025, 803 } }) do
      local rows, inputs, outputs = table.unpack(case)
      local x, b = roper.randn({ rows, inputs }), roper.randn({ outputs })
      local packed = roper.pack_bfloat16(roper.randn({ outputs, inputs }))
      local weight = inputs > 0 and bfloat16.unpack(packed, inputs) or roper.zeros({ outputs, 0 })
      local expected = roper.linear(x:to("float64"), weight:to("float64"), b:to("float64"))
      for count = 1, 2 do
        roper.threads(count)
        local label = ("seed %d, %d x %d x %d"):format(seed, rows, inputs, outputs)
        arrays.close(expected:to("float32"), roper.linear_bfloat16(x, packed, b), 1e-4, label)
        arrays.close(expected:relu():to("float32"), roper.linear_bfloat16(x, packed, b, "relu"),
          1e-4, label)
      end
    end
    roper.threads(threads)
  end)

  it("takes leading axes and no bias, and passes NaN and infinity on", function()
    local packed = roper.pack_bfloat16(roper.tensor({ { 1, 2, 3 }, { 0.5, 0, -1 } }))
    local x = roper.tensor({ { { 1, 1, 1 } }, { { 0 / 0, 0, 0 } }, { { 1 / 0, 0, 0 } } })
    local y = roper.linear_bfloat16(x, packed)
    assert.same({ 3, 1, 2 }, y:shape())
    assert.same({ { 6, -0.5 } }, y[1]:totable())
    assert.is_true(y[2]:ne(y[2]):all())
    assert.same({ { math.huge, math.huge } }, y[3]:totable())
  end)

  it("refuses what does not match, and gradients", function()
    local packed = roper.pack_bfloat16(roper.zeros({ 2, 5 }))
    local function refuses(message, ...)
      local given = table.pack(...)
      assert.error_matches(function()
        roper.linear_bfloat16(table.unpack(given, 1, given.n))
      end, message, 1, true)
    end
    local expected = "linear_bfloat16: expected x [..., in], float32, and a weight [out, in] "
      .. "packed by pack_bfloat16, got "
    refuses(expected, roper.zeros({ 1, 7 }), packed)
    refuses(expected, roper.zeros({ 1, 4 }), packed)
    refuses(expected, roper.zeros({ 1, 5 }, "float64"), packed)
    refuses(expected, roper.zeros({ 1, 5 }), roper.zeros({ 2, 5 }))
    refuses("expected bias [2], float32, got float32 [3]", roper.zeros({ 1, 5 }), packed,
      roper.zeros({ 3 }))
    local x = roper.zeros({ 1, 5 }):parameter()
    refuses("expected inputs without gradients", x, packed)
    assert.same({ 1, 2 }, roper.no_grad(roper.linear_bfloat16, x, packed):shape())
  end)
end)
