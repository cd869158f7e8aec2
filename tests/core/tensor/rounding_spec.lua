local arrays = require("tests.arrays")
local golden = require("tests.golden")
local roper = require("roper")

local formats = { "float16", "bfloat16" }

describe("round_to", function()
  it("agrees with NumPy, PyTorch and exact arithmetic, bit for bit", function()
    local values = golden.values("round_to")
    for source, dtype in pairs({ wide = "float64", single = "float32" }) do
      for _, format in ipairs(formats) do
        local expected = arrays.from(values[source .. "_" .. format])
        local rounded = values[source]:to(dtype):round_to(format)
        assert.equal(dtype, rounded:dtype())
        arrays.check(expected, rounded, 0, source .. " " .. format)
        for i, value in ipairs(rounded:totable()) do
          if value == 0 then
            assert.equal(1 / expected.values[i], 1 / value) -- the sign
          end
        end
      end
    end
  end)

  it("has the limits of the formats", function()
    local function rounded(value, format)
      return roper.tensor(value, "float64"):round_to(format):item()
    end
    local limits = {
      float16 = { digits = 11, largest = 65504, smallest = 2 ^ -24 },
      bfloat16 = { digits = 8, largest = 255 * 2 ^ 120, smallest = 2 ^ -133 },
    }
    for format, limit in pairs(limits) do
      local step = 2 ^ (1 - limit.digits)
      local halfway = limit.largest * (1 + 0.5 / (2 ^ limit.digits - 1)) -- to the next, were it one
      assert.equal(limit.largest, rounded(halfway * (1 - 2 ^ -50), format))
      assert.equal(math.huge, rounded(halfway, format))
      assert.equal(-math.huge, rounded(-1.7e308, format))
      assert.equal(limit.smallest, rounded(limit.smallest, format))
      assert.equal(0, rounded(limit.smallest / 2, format))
      assert.equal(limit.smallest, rounded(limit.smallest * 0.51, format))
      assert.equal(1, rounded(1 + step / 2, format))
      assert.equal(1 + step, rounded(1 + step * 0.51, format))
      assert.equal(1 + 2 * step, rounded(1 + step * 1.5, format))
    end
  end)

  it("leaves rounded numbers unchanged", function()
    arrays.each_seed(5, function()
      local x = arrays.random_layout(arrays.random_shape(0, 3, 40)) * 10 ^ math.random(-9, 6)
      for _, format in ipairs(formats) do
        local once = x:round_to(format)
        assert.same(x:shape(), once:shape())
        assert.same(once:totable(), once:round_to(format):totable())
        assert.same(once:totable(), roper.round_to(x, format):totable())
      end
    end)
  end)

  it("passes on gradients", function()
    local x = roper.tensor({ 1 / 3, 1e6, -1e-9 }):parameter()
    local y = x:round_to("float16")
    y:backward(roper.tensor({ 1, 2, 3 }))
    assert.same({ 1, 2, 3 }, x.grad:totable())
  end)

  it("rejects dtypes as formats, and int32", function()
    local x = roper.ones({ 2 })
    assert.error_matches(function() x:round_to("float32") end,
      'got "float32"; :to%(%) converts to it')
    assert.error_matches(function() x:to("int32"):round_to("float16") end,
      "round_to: expected float32 or float64, got int32")
  end)
end)
