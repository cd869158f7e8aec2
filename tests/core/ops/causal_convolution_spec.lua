local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

--- y_tc = sum over k of w_ck x_{t - (width - 1 - k), c}, from the definition.
local function convolved(x, weight)
  local from, w, width = arrays.from(x), arrays.from(weight), weight:size(2)
  return arrays.make(from.shape, function(at)
    local sum = 0
    for k = 0, width - 1 do
      local t = at[2] - (width - 1 - k)
      if t >= 0 then
        sum = sum + arrays.get(w, { at[3], k }) * arrays.get(from, { at[1], t, at[3] })
      end
    end
    return sum
  end)
end

describe("causal_convolution", function()
  it("agrees with PyTorch, also in gradients", function()
    for _, name in ipairs({ "usual", "one", "short" }) do
      golden.each("causal_convolution_" .. name, function(values, tolerance)
        local x, weight = values.x:clone():parameter(), values.weight:clone():parameter()
        local y = roper.causal_convolution(x, weight)
        y:backward(values.dy)
        arrays.close(values.y, y, tolerance)
        arrays.close(values.dx, x.grad, tolerance)
        arrays.close(values.dweight, weight.grad, tolerance)
      end, "time_axis")
    end
  end)

  it("follows the definition for every layout", function()
    arrays.each_seed(30, function(seed)
      local dtype, channels = seed % 2 == 0 and "float32" or "float64", math.random(0, 70)
      local x = arrays.random_layout({ math.random(0, 2), math.random(0, 40), channels }, dtype)
      local weight = arrays.random_layout({ channels, math.random(1, 6) }, dtype)
      arrays.check(convolved(x, weight), roper.causal_convolution(x, weight),
        dtype == "float32" and 2e-5 or 1e-13)
    end)
  end)

  it("has the gradients of both, together and alone", function()
    roper.seed(1)
    for _, shapes in ipairs({ { { 2, 5, 3 }, { 3, 4 } }, { { 1, 2, 3 }, { 3, 5 } },
      { { 2, 4, 1 }, { 1, 1 } }, { { 2, 0, 3 }, { 3, 2 } }, { { 0, 2, 3 }, { 3, 2 } } }) do
      gradients.check(function(x, weight) return roper.causal_convolution(x, weight):sin() end,
        shapes)
    end
    local x, weight = roper.randn({ 2, 40, 66 }, "float64"), roper.randn({ 66, 3 }, "float64")
    gradients.check(function(z) return roper.causal_convolution(z, weight):sin():mean(2) end,
      { { 1, 40, 66 } }, { layouts = false })
    gradients.check(function(w) return roper.causal_convolution(x, w):sin() end, { { 66, 3 } })
    local many = roper.randn({ 40, 33, 2 }, "float64")
    gradients.check(function(w) return roper.causal_convolution(many, w):sin() end, { { 2, 3 } },
      { layouts = false })
  end)

  it("does not see later tokens", function()
    roper.seed(2)
    local x, weight = roper.randn({ 2, 50, 8 }), roper.randn({ 8, 4 })
    local before = roper.causal_convolution(x, weight)
    x:narrow(2, 31, 20):fill(0 / 0)
    local after = roper.causal_convolution(x, weight)
    arrays.close(before:narrow(2, 1, 30), after:narrow(2, 1, 30), 0)
    assert.is_true(after:narrow(2, 31, 20):isnan():all())
  end)

  it("is the same with one thread and with two", function()
    local threads, results = roper.threads(), {}
    roper.seed(3)
    local x, dy = roper.randn({ 5, 100, 70 }), roper.randn({ 5, 100, 70 })
    for n = 1, 2 do
      roper.threads(n)
      local z, weight = x:clone():parameter(), roper.ones({ 70, 4 }):parameter()
      local y = roper.causal_convolution(z, weight)
      y:backward(dy)
      results[n] = roper.cat({ y:detach():view({ -1 }), z.grad:view({ -1 }),
        weight.grad:view({ -1 }) }, 1)
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)

  it("rejects shapes and dtypes that do not match", function()
    local x, weight = roper.ones({ 2, 5, 3 }), roper.ones({ 3, 4 })
    for _, case in ipairs({ { x, roper.ones({ 2, 4 }) }, { x, roper.ones({ 3, 0 }) },
      { x, roper.ones({ 3 }) }, { x, roper.ones({ 3, 1, 4 }) }, { roper.ones({ 5, 3 }), weight },
      { x, weight:to("float64") }, { x:to("int32"), weight:to("int32") } }) do
      local message = ("causal_convolution: expected floats of the same dtype, x [batch, time, "
        .. "channels] and weight [channels, width] with a width of at least 1, got %s [%s] and %s "
        .. "[%s]"):format(case[1]:dtype(), table.concat(case[1]:shape(), ", "), case[2]:dtype(),
        table.concat(case[2]:shape(), ", "))
      assert.error_matches(function() roper.causal_convolution(case[1], case[2]) end, message, 1,
        true)
    end
  end)
end)
