local roper = require("roper")

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
