local gradients = require("tests.gradients")
local roper = require("roper")

describe("gradient of matmul", function()
  it("is correct for every way that leading axes broadcast", function()
    roper.seed(1)
    for _, shapes in ipairs({
      { { 3, 4 }, { 4, 5 } }, { { 1, 4 }, { 4, 1 } }, { { 2, 3, 4 }, { 2, 4, 5 } },
      { { 3, 4 }, { 2, 4, 5 } }, { { 2, 3, 4 }, { 4, 5 } }, { { 2, 1, 3, 4 }, { 1, 3, 4, 2 } },
      { { 1, 3, 4 }, { 2, 4, 2 } },
    }) do
      gradients.check(roper.matmul, shapes)
      gradients.check(function(a, b) return a:exp():matmul(b:sin()) end, shapes)
    end
  end)

  it("is correct for a matrix times itself", function()
    gradients.check(function(x) return x:matmul(x) end, { { 3, 3 } })
    gradients.check(function(x) return x:matmul(x:transpose(1, 2)) end, { { 3, 4 } })
  end)

  it("is correct if one operand is not a parameter", function()
    local b = roper.randn({ 4, 2 }, "float64")
    gradients.check(function(x) return x:matmul(b) end, { { 3, 4 } })
    gradients.check(function(x) return b:matmul(x) end, { { 2, 3 } })
  end)

  it("is 0 if there is nothing to sum", function()
    local a, b = roper.zeros({ 2, 0 }):parameter(), roper.zeros({ 0, 3 }):parameter()
    a:matmul(b):sum():backward()
    assert.same({ 2, 0 }, a.grad:shape())
    assert.same({ 0, 3 }, b.grad:shape())
    local none, c = roper.zeros({ 0, 2 }):parameter(), roper.ones({ 2, 3 }):parameter()
    none:matmul(c):sum():backward()
    assert.same({ { 0, 0, 0 }, { 0, 0, 0 } }, c.grad:totable())
  end)
end)
