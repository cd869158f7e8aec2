local roper = require("roper")

describe("zeros_like and ones_like", function()
  it("have only the shape and the dtype of another tensor", function()
    for _, dtype in ipairs({ "float32", "float64", "int32" }) do
      local x = roper.ones({ 2, 0, 3 }, dtype):transpose(1, 3)
      for name, value in pairs({ zeros_like = 0, ones_like = 1 }) do
        local y = roper[name](x)
        assert.same({ dtype, { 3, 0, 2 } }, { y:dtype(), y:shape() })
        assert.equal(value, roper[name](roper.full({}, 7, dtype)):item())
      end
    end
    assert.is_false(roper.zeros_like(roper.ones({ 2 }):parameter()):is_parameter())
  end)
end)

describe("stack", function()
  it("joins tensors along a new axis", function()
    local x, y = roper.tensor({ 1, 2 }), roper.tensor({ 3, 4 })
    assert.same({ { 1, 2 }, { 3, 4 } }, roper.stack({ x, y }):totable())
    assert.same({ { 1, 3 }, { 2, 4 } }, roper.stack({ x, y }, 2):totable())
    assert.same({ { 1, 3 }, { 2, 4 } }, roper.stack({ x, y }, -1):totable())
    assert.same({ 1, 2 }, roper.stack({ roper.tensor(1), roper.tensor(2) }):totable())
    assert.is_true((roper.gradcheck(function(a, b)
      return roper.stack({ a, b, a }, 2):sin()
    end, { x, y })))
  end)
end)
