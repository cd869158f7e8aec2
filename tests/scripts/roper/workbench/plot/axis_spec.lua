local axes = require("roper.workbench.plot.axis")

local function texts(axis, count)
  local list = {}
  for i, tick in ipairs(axis:ticks(count)) do
    list[i] = tick.text
  end
  return table.concat(list, " ")
end

describe("axis", function()
  it("covers the finite values", function()
    local axis = axes.new({ { 3, 0 / 0, -1 }, { 2 } }, {})
    assert.same({ -1, 3 }, { axis.low, axis.high })
    assert.equal(0, axis:place(-1))
    assert.equal(0.5, axis:place(1))
    assert.is_nil(axes.new({ { 0 / 0 }, {} }, {}))
  end)

  it("ends at round numbers on request", function()
    local axis = axes.new({ { 0.02, 0.97 } }, { round = true })
    assert.same({ 0, 1 }, { axis.low, axis.high })
    assert.equal("0.0 0.2 0.4 0.6 0.8 1.0", texts(axis, 5))
    axis = axes.new({ { 1.27, 3.02 } }, { round = true })
    assert.same({ 1, 3.5 }, { axis.low, axis.high })
  end)

  it("has a positive width for equal values", function()
    for _, value in ipairs({ 0.0, 5, -2.5, 1e-310, 1e300, 1e15 }) do
      local axis = axes.new({ { value, value } }, { round = true })
      assert.is_true(axis.low < value and value < axis.high, tostring(value))
      assert.is_true(#axis:ticks(5) > 1)
    end
    local axis = axes.new({ { 1, 1 + 1e-15 } }, {})
    assert.is_true(axis.high - axis.low > 0.1)
  end)

  it("labels ticks with as many digits as needed", function()
    assert.equal("0 1 2 3", texts(axes.new({ { 0, 3 } }, {}), 3))
    assert.equal("-0.5 0.0", texts(axes.new({ { -0.5, 0 } }, {}), 2))
    assert.equal("-0.10 -0.05 0.00", texts(axes.new({ { -0.1, 0 } }, {}), 2))
    assert.equal("1000000 1000002 1000004",
                 texts(axes.new({ { 1000000, 1000004 } }, {}), 2))
    assert.equal("0 2e-200 4e-200", texts(axes.new({ { 0, 4e-200 } }, {}), 2))
    assert.equal("1 2 3", texts(axes.new({ { 1, 3 } }, { integers = true }), 20))
    assert.equal("0 200 400 600", texts(axes.new({ { 0, 650 } }, {}), 5))
    assert.equal("-40 -20 0", texts(axes.new({ { -43.5, 0.5 } }, { integers = true }), 3))
    assert.equal("1.2850 1.2855 1.2860", texts(axes.new({ { 1.285, 1.286 } }, {}), 2))
    assert.equal("0 20000 40000 60000", texts(axes.new({ { 0, 65000 } }, {}), 5))
  end)

  it("labels powers of ten on a logarithmic scale", function()
    local axis = axes.new({ { 1, 1000, -5, 0 } }, { log = true })
    assert.equal("1 10 100 1000", texts(axis, 5))
    assert.is_true(math.abs(axis:place(10) - 1 / 3) < 1e-12)
    assert.is_true(axis:place(-1) ~= axis:place(-1))
    assert.equal("1 2 5 10", texts(axes.new({ { 1, 10 } }, { log = true }), 5))
    assert.is_true(#axes.new({ { 2.3, 4.1 } }, { log = true }):ticks(5) > 1)
    assert.is_nil(axes.new({ { -1, 0 } }, { log = true }))
  end)

  it("labels powers of two on a logarithmic scale if all values are such", function()
    assert.equal("1 2 4 8", texts(axes.new({ { 1, 2, 4, 8, 0, 0 / 0 } }, { log = true }), 5))
    assert.equal("0.25 0.5 1", texts(axes.new({ { 1, 0.25 } }, { log = true }), 5))
    assert.equal("16 64 256", texts(axes.new({ { 16, 256 } }, { log = true }), 2))
    assert.equal("1 2 5", texts(axes.new({ { 1, 2, 4, 8, 3 } }, { log = true }), 5))
  end)
end)
