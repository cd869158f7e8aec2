local scale = require("roper.report.scale")

-- The texts of the ticks from low to high.
local function ticks(low, high, options)
  local texts = {}
  for i, tick in ipairs(scale.new(low, high, options):ticks()) do
    texts[i] = tick.text
  end
  return texts
end

describe("scale.new", function()
  it("ends at round numbers, or exactly", function()
    local round, exact = scale.new(1.27, 3.02), scale.new(1.27, 3.02, { exact = true })
    assert.same({ 1, 3.5 }, { round.low, round.high })
    assert.same({ 1.27, 3.02 }, { exact.low, exact.high })
    assert.equal(0.5, exact:place((1.27 + 3.02) / 2))
    assert.same({ 0, 1 }, { scale.new(0, 1).low, scale.new(0, 1).high })
  end)

  it("has room where all values are the same", function()
    for _, value in ipairs({ 0, 1, -3, 1e9, 1e-9 }) do
      local one = scale.new(value, value)
      assert.is_true(one.low < value and value < one.high)
      assert.is_true(#one:ticks() > 1)
    end
  end)
end)

describe("Scale:ticks", function()
  it("labels round values with the digits they need", function()
    assert.same({ "0.0", "0.2", "0.4", "0.6", "0.8", "1.0" }, ticks(0, 1))
    assert.same({ "0", "200", "400", "600" }, ticks(0, 650, { exact = true }))
    assert.same({ "−40", "−20", "0" }, ticks(-43.5, 0.5, { exact = true, ticks = 3 }))
    assert.same({ "1.2850", "1.2855", "1.2860" }, ticks(1.285, 1.286, { ticks = 2 }))
    assert.same({ "0", "20000", "40000", "60000" }, ticks(0, 65000, { exact = true }))
  end)
end)
