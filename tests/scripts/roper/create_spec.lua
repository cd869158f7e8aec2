local arrays = require("tests.arrays")
local roper = require("roper")

describe("eye", function()
  it("has 1 where row and column are equal", function()
    assert.same({ { 1, 0 }, { 0, 1 } }, roper.eye(2):totable())
    assert.same({ { 1 } }, roper.eye(1, "int32"):totable())
    assert.equal("float64", roper.eye(3, "float64"):dtype())
    assert.same({ 0, 0 }, roper.eye(0):shape())
    assert.equal(300, roper.eye(300):sum():item())
  end)

  it("refuses sizes that are none", function()
    for _, n in ipairs({ -1, 2.5, "3", 0 / 0, false }) do
      assert.error_matches(function() roper.eye(n) end,
        "eye: expected a whole number from 0 on, got ")
    end
  end)
end)

describe("linspace", function()
  it("has both ends and even steps", function()
    assert.same({ 0, 0.25, 0.5, 0.75, 1 }, roper.linspace(0, 1, 5):totable())
    assert.same({ 2, -2 }, roper.linspace(2, -2, 2):totable())
    assert.same({ 3, 3, 3 }, roper.linspace(3, 3, 3):totable())
    local x = roper.linspace(0.1, 0.7, 50, "float64")
    assert.equal(0.1, x[1]:item())
    assert.is_true(math.abs(x[50]:item() - 0.7) < 1e-15)
    arrays.close(roper.full({ 49 }, 0.6 / 49, "float64"), x:narrow(1, 2, 49) - x:narrow(1, 1, 49),
      1e-15)
  end)

  it("refuses other counts and ends", function()
    for _, count in ipairs({ 1, 0, -3, 2.5, "5", false }) do
      assert.error_matches(function() roper.linspace(0, 1, count) end,
        "linspace: count: expected a whole number from 2 on, got ")
    end
    assert.error_matches(function() roper.linspace("0", 1, 5) end,
      'linspace: expected two numbers, got "0"')
    assert.error_matches(function() roper.linspace(0, nil, 5) end, "got 0 and nil")
  end)
end)

describe("stack", function()
  it("puts tensors side by side along a new axis", function()
    local x, y = roper.tensor({ 1, 2 }), roper.tensor({ 3, 4 })
    assert.same({ { 1, 2 }, { 3, 4 } }, roper.stack({ x, y }):totable())
    assert.same({ { 1, 3 }, { 2, 4 } }, roper.stack({ x, y }, 2):totable())
    assert.same({ { 1, 3 }, { 2, 4 } }, roper.stack({ x, y }, -1):totable())
    assert.same({ 1, 2 }, roper.stack({ roper.tensor(1), roper.tensor(2) }):totable())
    assert.is_true((roper.gradcheck(function(a, b)
      return roper.stack({ a, b, a }, 2):sin()
    end, { x, y })))
  end)

  it("refuses what does not fit", function()
    local x = roper.ones({ 2 })
    assert.error_matches(function() roper.stack({ x, roper.ones({ 3 }) }) end,
      "expected float32 tensors like %[1, 2%], got float32 %[1, 3%]")
    assert.error_matches(function() roper.stack({ x, 1 }) end,
      "stack: expected a tensor as number 2, got number")
    assert.error_matches(function() roper.stack({}) end,
      "stack: expected a list .*, got an empty one")
    assert.error_matches(function() roper.stack(5) end, "stack: expected a list .*, got number")
    assert.error_matches(function() roper.stack({ x }, 3) end, "an axis from 1 to 2")
  end)
end)
