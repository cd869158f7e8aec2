local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

local nan, inf = 0 / 0, math.huge

describe("clamp", function()
  it("applies the lower bound, then the upper one; either can be missing", function()
    arrays.each_seed(20, function(seed)
      local dtype = ({ "float32", "float64", "int32" })[seed % 3 + 1]
      local x = (arrays.random_layout(arrays.random_shape(0, 4, 5), "float64") * 4):to(dtype)
      local low, high = math.random(-4, 4), math.random(-4, 4)
      local function check(expected, actual)
        local from = arrays.from(x)
        arrays.check(arrays.map2(expected, from, { shape = {}, values = { 0 } }), actual, 0)
      end
      check(function(value) return math.min(math.max(value, low), high) end, x:clamp(low, high))
      check(function(value) return math.max(value, low) end, x:clamp(low))
      check(function(value) return math.min(value, high) end, x:clamp(nil, high))
    end)
  end)

  it("accepts tensors, keeps NaN, and passes the gradient inside and at the bounds", function()
    local x = roper.tensor({ -5, 0, 1, 5, 0.5 }):parameter()
    x:clamp(0, 1):sum():backward()
    assert.same({ 0, 1, 1, 0, 1 }, x.grad:totable())
    assert.is_true(roper.tensor({ nan }):clamp(0, 1):isnan():all())
    assert.same({ 1, 2 }, roper.tensor({ 0, 9 }):clamp(roper.tensor({ 1, 1 }), 2):totable())
    gradients.check(function(y, low) return y:clamp(low, 0.7) end, { { 3, 4 }, { 4 } })
    assert.error_matches(function() x:clamp() end, "clamp: expected a bound, got none")
  end)
end)

describe("isnan, isinf, isfinite and logical_not", function()
  it("return masks", function()
    for _, dtype in ipairs({ "float32", "float64" }) do
      local x = roper.tensor({ 0, -0.0, 1e38, nan, inf, -inf }, dtype)
      assert.same({ 0, 0, 0, 1, 0, 0 }, x:isnan():totable())
      assert.same({ 0, 0, 0, 0, 1, 1 }, x:isinf():totable())
      assert.same({ 1, 1, 1, 0, 0, 0 }, x:isfinite():totable())
      assert.same({ 1, 1, 0, 0, 0, 0 }, x:logical_not():totable())
      assert.is_true(x:isnan():is_mask() and x:isinf():is_mask() and x:isfinite():is_mask())
    end
    local whole = roper.tensor({ -2147483648, 0 }, "int32")
    assert.same({ { 0, 0 }, { 0, 0 }, { 1, 1 }, { 0, 1 } }, { whole:isnan():totable(),
      whole:isinf():totable(), whole:isfinite():totable(), whole:logical_not():totable() })
    assert.same({ 0, 2 }, roper.zeros({ 0, 2 }):isfinite():shape())
    assert.equal(1, roper.tensor(nan):isnan():item())
  end)
end)

describe("tril and triu", function()
  it("agree with plain Lua for every diagonal", function()
    arrays.each_seed(30, function(seed)
      local x = arrays.random_layout(arrays.random_shape(2, 4, 5), "float64")
      x = seed % 3 == 0 and (x * 9):to("int32") or x
      local diagonal = math.random(-6, 6)
      local from = arrays.from(x)
      for name, stays in pairs({ tril = function(k) return k <= diagonal end,
        triu = function(k) return k >= diagonal end }) do
        arrays.check(arrays.make(x:shape(), function(at)
          return stays(at[#at] - at[#at - 1]) and arrays.get(from, at) or 0
        end), x[name](x, diagonal), 0, name)
      end
    end)
    assert.equal(roper.ones({ 2, 2 }), roper.ones({ 2, 2 }):tril(math.maxinteger))
    assert.equal(roper.zeros({ 2, 2 }), roper.ones({ 2, 2 }):triu(math.maxinteger))
  end)

  it("have gradients, and 0 for elements that were NaN", function()
    roper.seed(1)
    gradients.check(function(x) return x:tril():exp() end, { { 3, 3 } })
    gradients.check(function(x) return x:triu(-1):exp() end, { { 2, 3, 4 } })
    assert.same({ { 1, 0 }, { 1, 1 } }, roper.tensor({ { 1, nan }, { 1, 1 } }):tril():totable())
  end)

  it("reject vectors and invalid diagonals", function()
    assert.error_matches(function() roper.ones({ 2 }):tril() end,
      "tril: expected at least two axes")
  end)
end)

describe("outer", function()
  it("has gradients, accepts integers and empty vectors, and rejects matrices", function()
    roper.seed(2)
    gradients.check(roper.outer, { { 3 }, { 2 } })
    assert.same({ { 3, 4 }, { 6, 8 } }, roper.outer(roper.tensor({ 1, 2 }, "int32"),
      roper.tensor({ 3, 4 }, "int32")):totable())
    assert.same({ 0, 2 }, roper.zeros({ 0 }):outer(roper.ones({ 2 })):shape())
    assert.error_matches(function() roper.outer(roper.ones({ 2, 2 }), roper.ones({ 2 })) end,
      "outer: expected two tensors with one axis, got float32 %[2, 2%] and float32 %[2%]")
  end)
end)
