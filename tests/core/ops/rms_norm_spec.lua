local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("rms_norm", function()
  it("agrees with PyTorch, also in gradients", function()
    golden.each("rms_norm", function(values, tolerance)
      local x, gain = values.x:clone():parameter(), values.gain:clone():parameter()
      local y = roper.rms_norm(x, gain)
      y:backward(values.dy)
      arrays.close(values.y, y, tolerance)
      arrays.close(values.dx, x.grad, tolerance)
      arrays.close(values.dgain, gain.grad, tolerance)
    end)
  end)

  it("has gradients for any number of leading axes, any epsilon, and one input alone", function()
    roper.seed(1)
    for _, shape in ipairs({ { 6 }, { 3, 6 }, { 2, 3, 6 } }) do
      for _, epsilon in ipairs({ 1e-5, 0.5 }) do
        gradients.check(function(x, gain)
          return roper.rms_norm(x, gain, epsilon):sin()
        end, { shape, { 6 } })
      end
    end
    local x, gain = roper.randn({ 3, 4 }, "float64"), roper.randn({ 4 }, "float64")
    gradients.check(function(z) return roper.rms_norm(z, gain):sin() end, { { 3, 4 } })
    gradients.check(function(g) return roper.rms_norm(x, g):sin() end, { { 4 } })
  end)

  it("scales rows but does not centre them, also large ones with two threads", function()
    local threads = roper.threads()
    roper.seed(2)
    local x = roper.randn({ 300, 100 }) * 5 + 3
    local root = (x:square():mean(2, true) + 1e-5):sqrt()
    for n = 1, 2 do
      roper.threads(n)
      arrays.close(x / root, roper.rms_norm(x, roper.ones({ 100 })), 1e-5)
    end
    roper.threads(threads)
    local none = roper.zeros({ 0, 3 }):parameter()
    roper.rms_norm(none, roper.ones({ 3 })):sum():backward()
    assert.same({ 0, 3 }, none.grad:shape())
  end)

  it("normalizes rows whose squares overflow or vanish, without epsilon too", function()
    local row, weights = { 1, -2, 3, 4 }, roper.tensor({ 1, 2, 3, 4 }, "float64")
    for dtype, sizes in pairs({ float32 = { 1e-30, 1e-20, 1e20, 1e30 },
      float64 = { 1e-200, 1e-160, 1e160, 1e200 } }) do
      for _, name in ipairs({ "rms_norm", "layer_norm" }) do
        local bias = name == "layer_norm" and { roper.zeros({ 4 }, dtype) } or {}
        local function normalized(size, epsilon)
          local x = (roper.tensor(row, dtype) * size):parameter()
          local rest = table.pack(roper.ones({ 4 }, dtype), table.unpack(bias))
          rest[#rest + 1] = epsilon
          local y = roper[name](x, table.unpack(rest))
          y:backward(weights:to(dtype))
          return y, x.grad * size
        end
        local expected, gradient = normalized(1, 0)
        for _, size in ipairs(sizes) do
          local y, own = normalized(size, 0)
          arrays.close(expected, y, 1e-5)
          arrays.close(gradient, own, 1e-5)
          arrays.close(size < 1 and roper.zeros({ 4 }, dtype) or expected,
            (normalized(size, 1e-5)), 1e-5)
        end
      end
    end
  end)

  it("rejects shapes and dtypes that do not match, and an epsilon below 0", function()
    local x, one = roper.ones({ 2, 3 }), roper.ones({ 3 })
    assert.error_matches(function() roper.rms_norm(x, roper.ones({ 2 })) end,
      "rms_norm: gain: expected float32 [3] for x of shape [2, 3], got float32 [2]", 1, true)
    assert.error_matches(function() roper.rms_norm(x, x) end,
      "rms_norm: gain: expected float32 [3] for x of shape [2, 3], got float32 [2, 3]", 1, true)
    assert.error_matches(function() roper.rms_norm(x, one:to("float64")) end,
      "rms_norm: gain: expected float32 [3] for x of shape [2, 3], got float64 [3]", 1, true)
    assert.error_matches(function() roper.rms_norm(roper.tensor({ 1, 2 }, "int32"), one) end,
      "rms_norm: x: expected floats [..., d] with d of at least 1, got int32 [2]", 1, true)
    assert.error_matches(function() roper.rms_norm(roper.ones({ 2, 0 }), roper.ones({ 0 })) end,
      "rms_norm: x: expected floats [..., d] with d of at least 1, got float32 [2, 0]", 1, true)
    assert.error_matches(function() roper.rms_norm(x, one, -1) end,
      "rms_norm: epsilon: expected a number >= 0, got %-1")
  end)
end)
