local roper = require("roper")

describe("gradcheck", function()
  before_each(function() roper.seed(1) end)

  it("accepts correct gradients and returns the largest error", function()
    local ok, worst = roper.gradcheck(function(x) return x:sin() end, { roper.randn({ 5 }) })
    assert.is_true(ok)
    assert.is_true(worst >= 0 and worst < 1e-8)
  end)

  it("finds a wrong gradient in one of many elements", function()
    local wrong = roper.differentiable(function(x) return x * x end, function(dy, x)
      local dx = dy * x * 2
      dx[7] = dx[7] * 1.001
      return dx
    end)
    local ok, worst = roper.gradcheck(wrong, { roper.randn({ 10 }) + 3 })
    assert.is_false(ok)
    assert.is_true(worst > 1e-4)
  end)

  it("finds errors that a plain sum of the outputs would hide", function()
    local wrong = roper.differentiable(function(x) return x:softmax(1) end, function(dy)
      return dy * 0
    end)
    assert.is_false((roper.gradcheck(wrong, { roper.randn({ 4 }) })))
  end)

  it("finds a gradient that is missing or NaN", function()
    assert.is_false((roper.gradcheck(function(x, y) return x + y:detach() * 2 end,
      { roper.ones({ 2 }), roper.ones({ 2 }) })))
    assert.is_false((roper.gradcheck(function(x) return (x * 0):sqrt() end, { roper.ones({ 2 }) })))
  end)

  it("accepts int32, scalars and empty inputs, and leaves its inputs unchanged", function()
    local x, index = roper.tensor({ 1, 2, 3 }), roper.tensor({ 3, 1 }, "int32")
    assert.is_true((roper.gradcheck(function(a, i, none, s)
      return a:gather(1, i) * s + none:sum()
    end, { x, index, roper.zeros({ 0, 2 }), roper.tensor(2) })))
    assert.same({ 1, 2, 3 }, x:totable())
    assert.is_nil(x.grad)
    assert.is_false(x:is_parameter())
  end)

  it("accepts tensors and requires a tensor as the result", function()
    local one = roper.ones({ 2 })
    for _, case in ipairs({
      { "gradcheck: inputs: expected a list of tensors, got userdata", roper.exp, one },
      { "gradcheck: inputs: element 2: expected a tensor, got number", roper.exp, { one, 5 } },
      { "gradcheck: the result: expected a tensor, got nil", function() end, { one } },
    }) do
      assert.error_matches(function() roper.gradcheck(case[2], case[3]) end, case[1])
    end
  end)

  it("has options for the tolerance, the step and the number of elements", function()
    local function f(x)
      return x:exp()
    end
    assert.is_false((roper.gradcheck(f, { roper.ones({ 2 }) }, { step = 0.1 })))
    assert.is_true((roper.gradcheck(f, { roper.ones({ 2 }) }, { step = 0.1, tolerance = 0.1 })))
    local calls
    local function counted(x)
      calls = calls + 1
      return x:exp()
    end
    for _, count in ipairs({ 91, 100 }) do -- elements, of which every tenth is tried
      calls = 0
      roper.gradcheck(counted, { roper.ones({ count }) }, { limit = 10 })
      assert.equal(1 + 2 * 10, calls)
    end
    calls = 0
    roper.gradcheck(counted, { roper.ones({ 19 }) }, { limit = 10 })
    assert.equal(1 + 2 * 10, calls)
    assert.error_matches(function() roper.gradcheck(f, {}, { limit = 0 }) end,
      "gradcheck: option limit: expected a positive integer, got 0")
  end)
end)
