local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("layer_norm", function()
  it("agrees with PyTorch, also in gradients", function()
    golden.each("layer_norm", function(values, tolerance)
      local x, gain, bias = values.x:clone():parameter(), values.gain:clone():parameter(),
        values.bias:clone():parameter()
      local y = roper.layer_norm(x, gain, bias)
      y:backward(values.dy)
      arrays.close(values.y, y, tolerance)
      arrays.close(values.dx, x.grad, tolerance)
      arrays.close(values.dgain, gain.grad, tolerance)
      arrays.close(values.dbias, bias.grad, tolerance)
    end)
  end)

  it("has gradients for any number of leading axes and any epsilon", function()
    roper.seed(1)
    for _, shape in ipairs({ { 6 }, { 3, 6 }, { 2, 3, 6 } }) do
      for _, epsilon in ipairs({ 1e-5, 0.5 }) do
        gradients.check(function(x, gain, bias)
          return roper.layer_norm(x, gain, bias, epsilon):sin()
        end, { shape, { 6 }, { 6 } }, { domain = function(x) return x + roper.arange(0,
          x:size(-1), 1, "float64") end })
      end
    end
  end)

  it("has gradients if only some inputs are parameters", function()
    local gain, bias = roper.randn({ 4 }, "float64"), roper.randn({ 4 }, "float64")
    gradients.check(function(x) return roper.layer_norm(x, gain, bias):sin() end, { { 3, 4 } })
    local x = roper.randn({ 3, 4 }, "float64")
    gradients.check(function(b) return roper.layer_norm(x, gain, b):sin() end, { { 4 } })
    gradients.check(function(g) return roper.layer_norm(x, g, bias):sin() end, { { 4 } })
  end)

  it("centres and scales rows, also large ones with two threads", function()
    local threads = roper.threads()
    roper.seed(2)
    local x = roper.randn({ 300, 100 }) * 5 + 3
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      local gain, bias = roper.ones({ 100 }):parameter(), roper.zeros({ 100 }):parameter()
      local y = roper.layer_norm(x, gain, bias)
      arrays.close(roper.zeros({ 300 }), y:mean(2), 1e-5)
      arrays.close(roper.ones({ 300 }), y:square():mean(2), 1e-5)
      y:square():sum():backward()
      results[n] = gain.grad
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0.01)
  end)

  it("returns the bias for a constant row, and no rows for no rows", function()
    local constant, bias = roper.full({ 2, 3 }, 7), roper.tensor({ 1, 2, 3 })
    local y = roper.layer_norm(constant, roper.ones({ 3 }), bias)
    assert.same({ { 1, 2, 3 }, { 1, 2, 3 } }, y:totable())
    local gain = roper.ones({ 3 }):parameter()
    local none = roper.zeros({ 0, 3 }):parameter()
    roper.layer_norm(none, gain, roper.zeros({ 3 })):sum():backward()
    assert.same({ 0, 0, 0 }, gain.grad:totable())
    assert.same({ 0, 3 }, none.grad:shape())
  end)

  it("rejects shapes and dtypes that do not match, and an epsilon below 0", function()
    local x, one = roper.ones({ 2, 3 }), roper.ones({ 3 })
    assert.error_matches(function() roper.layer_norm(x, roper.ones({ 2 }), one) end,
      "layer_norm: gain: expected float32 [3] for x of shape [2, 3], got float32 [2]", 1, true)
    assert.error_matches(function() roper.layer_norm(x, one, x) end,
      "layer_norm: bias: expected float32 [3] for x of shape [2, 3], got float32 [2, 3]", 1, true)
    assert.error_matches(function() roper.layer_norm(x, one, one:to("float64")) end,
      "layer_norm: bias: expected float32 [3] for x of shape [2, 3], got float64 [3]", 1, true)
    assert.error_matches(function() roper.layer_norm(roper.tensor(1), one, one) end,
      "layer_norm: x: expected floats [..., d] with d of at least 1, got float32 []", 1, true)
    assert.error_matches(function()
      roper.layer_norm(roper.ones({ 2, 0 }), roper.ones({ 0 }), roper.ones({ 0 }))
    end, "layer_norm: x: expected floats [..., d] with d of at least 1, got float32 [2, 0]", 1,
      true)
    for _, epsilon in ipairs({ -1, 0 / 0, math.huge }) do
      assert.error_matches(function() roper.layer_norm(x, one, one, epsilon) end,
        "layer_norm: epsilon: expected a number >= 0, got ")
    end
  end)
end)
