local arrays = require("tests.arrays")
local roper = require("roper")

describe("proportional", function()
  it("has the frequencies and pairs of the whole head", function()
    local rope = roper.position.rope({ dim = 16 })
    local theta = rope:thetas():totable()
    for fraction, turning in pairs({ [0] = 0, [0.25] = 2, [0.3] = 2, [1] = 8 }) do
      local expected = {}
      for t = 1, 8 do
        expected[t] = t <= turning and theta[t] or 0
      end
      assert.same(expected, roper.position.proportional({ dim = 16, fraction = fraction }):thetas()
        :totable())
    end
    local x = roper.randn({ 3, 16 }, "float64")
    arrays.close(rope:rotate(x),
      roper.position.proportional({ dim = 16, fraction = 1 }):rotate(x), 0)
  end)

  it("rounds down the number of rotated pairs", function()
    for _, case in ipairs({ { 10, 0.75, 3 }, { 20, 0.25, 2 }, { 12, 0.25, 1 }, { 10, 0.7, 3 },
      { 512, 0.25, 64 }, { 2, 0.99, 0 } }) do
      local dim, fraction, expected = table.unpack(case)
      local theta = roper.position.proportional({ dim = dim, fraction = fraction }):thetas()
      assert.equal(expected, theta:gt(0):sum():item())
    end
  end)

  it("rejects another fraction, and odd heads", function()
    for _, fraction in ipairs({ -0.1, 1.5 }) do
      assert.error_matches(function()
        roper.position.proportional({ dim = 8, fraction = fraction })
      end, "proportional: option fraction: expected a number from 0 to 1, got %-?" .. math.abs(
        fraction))
    end
    assert.error_matches(function() roper.position.proportional({ dim = 5 }) end,
      "proportional: expected fraction %* dim to be an even integer from 2 to dim, got 1 %* 5")
  end)
end)
