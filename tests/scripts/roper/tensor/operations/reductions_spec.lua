local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

local nan, inf = 0 / 0, math.huge

local function sum(values, f)
  local total = 0
  for _, value in ipairs(values) do
    total = total + f(value)
  end
  return total
end

local function variance(values, correction)
  local mean = sum(values, function(x) return x end) / #values
  local squares = sum(values, function(x) return (x - mean) ^ 2 end)
  return squares / math.max(#values - correction, 0)
end

-- Points at which |x|ᵖ is smooth.
local function away_from_0(x)
  return x + 0.3 * x:sign()
end

-- By name: the reduction of a list, in plain Lua, and of a tensor.
local reductions = {
  var = { function(values) return variance(values, 1) end,
    function(x, axis, keep) return x:var(axis, keep) end },
  std = { function(values) return variance(values, 0) ^ 0.5 end,
    function(x, axis, keep) return x:std(axis, keep, 0) end },
  norm = { function(values) return sum(values, function(x) return x * x end) ^ 0.5 end,
    function(x, axis, keep) return x:norm(2, axis, keep) end },
  ["norm of 1.5"] = {
    function(values) return sum(values, function(x) return math.abs(x) ^ 1.5 end) ^ (1 / 1.5) end,
    function(x, axis, keep) return x:norm(1.5, axis, keep) end },
  prod = { function(values)
    local product = 1
    for _, value in ipairs(values) do
      product = product * value
    end
    return product
  end, function(x, axis, keep) return x:prod(axis, keep) end },
}

describe("composed reductions", function()
  for name, pair in pairs(reductions) do
    it(name .. " agrees with plain Lua along every axis, and has gradients", function()
      arrays.each_seed(12, function(seed)
        local x = arrays.random_layout(arrays.random_shape(1, 3, 5), "float64")
        if seed % 3 == 0 then
          x = (x * 3):to("int32")
        end
        for axis = 1, x:rank() do
          for _, keep in ipairs({ false, true }) do
            if x:size(axis) > 0 then
              arrays.check(arrays.reduce(pair[1], arrays.from(x), axis, keep),
                pair[2](x, axis, keep), 1e-11, name)
            end
          end
        end
        if x:count() > 0 then
          arrays.check(arrays.reduce(pair[1], arrays.from(x), nil, true), pair[2](x, nil, true),
            1e-8, name)
        end
      end)
      roper.seed(1)
      for _, axis in ipairs({ 1, 2, name == "prod" and -1 or { 1, 2 } }) do
        gradients.check(function(x) return pair[2](x, axis) end, { { 3, 4 } },
          { layouts = name == "var", domain = name:find("norm") and away_from_0 or nil })
      end
      gradients.check(function(x) return pair[2](x, nil) end, { { 5 } }, { layouts = false,
        domain = name:find("norm") and away_from_0 or nil })
    end)
  end

  it("accept scalars", function()
    local x = roper.tensor(-3)
    assert.same({ 3, -3, 0 }, { x:norm():item(), x:prod():item(), x:std(nil, false, 0):item() })
    assert.is_true(x:any() and x:all())
  end)

  it("convert integers to float64", function()
    local x = roper.full({ 4 }, 2147483647, "int32")
    assert.same({ "float64", 0 }, { x:var():dtype(), x:var():item() })
    assert.equal(4294967294, x:norm():item())
    assert.equal(2147483647 ^ 2, x:narrow(1, 1, 2):prod():item())
  end)

  it("of no elements: prod is 1, any is false, all is true, others as their parts", function()
    local none = roper.zeros({ 0, 3 })
    assert.same({ { 1, 1, 1 } }, none:prod(1, true):totable())
    assert.equal(1, none:prod():item())
    assert.same({ 0 }, none:prod(2):shape())
    assert.is_false(none:any())
    assert.is_true(none:all())
    assert.same({ 0, 0, 0 }, none:any(1):totable())
    assert.equal(0, none:norm():item())
    assert.error_matches(function() none:var(1) end, "mean: expected at least one element")
    assert.same({ 0 }, none:var(2):shape())
  end)

  it("of no elements stay in the graph", function()
    for name, f in pairs({ prod = function(x) return x:prod(1) end,
      prod_all = function(x) return x:prod() end, norm = function(x) return x:norm() end,
      sum = function(x) return x:sum(1) end, cumsum = function(x) return x:cumsum(1) end,
      std = function(x) return x:std(2) end, max = function(x) return x:max(2) end }) do
      gradients.check(f, { { 0, 3 } }, { layouts = false })
      local x = roper.zeros({ 0, 3 }):parameter()
      f(x):sum():backward()
      assert.same({ 0, 3 }, x.grad:shape(), name)
    end
  end)

  it("of equal elements have gradient 0, also beside other rows", function()
    for _, dtype in ipairs({ "float32", "float64" }) do
      for _, value in ipairs({ 0, 0.1, 1e-30, 1e8 }) do
        for _, correction in ipairs({ 0, 1 }) do
          local x = roper.full({ 2, 7 }, value, dtype):parameter()
          local y = x:std(2, false, correction)
          assert.same({ 0, 0 }, y:totable(), dtype .. " " .. value)
          y:sum():backward()
          assert.is_true((x.grad:eq(0)):all(), dtype .. " " .. value)
        end
      end
      local x = roper.tensor({ { 1, 1 }, { 0, 2 } }, dtype):parameter()
      x:std(2, false, 0):sum():backward()
      assert.same({ { 0, 0 }, { -0.5, 0.5 } }, x.grad:totable())
      local one = roper.tensor({ { 5 }, { 6 } }, dtype):parameter()
      one:std(2, false, 0):sum():backward()
      assert.same({ { 0 }, { 0 } }, one.grad:totable())
      one.grad = nil
      one:std(2):sum():backward()
      assert.is_true(one.grad:isnan():all())
    end
  end)

  it("keep their precision for float32 whose squares overflow or underflow", function()
    for _, scale in ipairs({ 1e-30, 1e-20, 1e20, 1e30 }) do
      local x = roper.tensor({ 3 * scale, 4 * scale }):parameter()
      local function check(y, expected, slopes)
        arrays.close(roper.tensor(1), y / (expected * scale), 1e-6, tostring(scale))
        x.grad = nil
        y:backward()
        arrays.close(roper.tensor(slopes), x.grad, 1e-6, tostring(scale))
      end
      check(x:norm(), 5, { 0.6, 0.8 })
      check(x:norm(3), 91 ^ (1 / 3), { 9 / 91 ^ (2 / 3), 16 / 91 ^ (2 / 3) })
      check(x:std(), 0.5 ^ 0.5, { -0.5 ^ 0.5, 0.5 ^ 0.5 })
    end
  end)

  it("keep their precision for float64 whose squares or powers overflow or underflow", function()
    local numbers = roper.tensor({ { 3, -4, 0 }, { 1, 1, -7 } }, "float64") / 8
    for _, exponent in ipairs({ -1000, -600, -520, -401, -399, 399, 401, 520, 1000, 1023 }) do
      local x = (numbers * 2.0 ^ exponent):parameter()
      for name, f in pairs({
        norm = function(y) return y:norm(2, 2) end,
        norm3 = function(y) return y:norm(3, { 1, 2 }) end,
        norm400 = function(y) return y:norm(400, 1, true) end,
        std = function(y) return y:std(2, true) end,
        std_of_all = function(y) return y:std() end,
      }) do
        local unit = numbers:detach():parameter()
        local expected, got = f(unit), f(x)
        local what = ("%s at 2^%d"):format(name, exponent)
        arrays.close(expected, got / 2.0 ^ exponent, 1e-14, what)
        expected:sum():backward()
        x.grad = nil
        got:sum():backward()
        arrays.close(unit.grad, x.grad, 1e-14, what)
      end
    end
  end)

  it("return variances of huge and tiny float64 where float64 can represent them", function()
    for _, size in ipairs({ 1.7e308, 1e160, 1e-160, 5e-324 }) do
      local equal = roper.full({ 3 }, size, "float64"):parameter()
      local y = equal:var()
      assert.equal(0, y:item())
      y:backward()
      assert.is_true(equal.grad:eq(0):all())
      equal.grad = nil
      equal:std():backward()
      assert.is_true(equal.grad:eq(0):all())
    end
    local huge = roper.tensor({ 1.7e308, -1.7e308 }, "float64")
    assert.equal(1.7e308, huge:std(nil, false, 0):item())
    assert.equal(math.huge, huge:var():item())
    local x = roper.tensor({ 1e-160, -1e-160 }, "float64"):parameter()
    local y = x:var()
    assert.near(2, y:item() / 1e-320, 1e-3)
    y:backward()
    arrays.close(roper.tensor({ 2, -2 }, "float64"), x.grad / 1e-160, 1e-14, "slope")
  end)

  it("return NaN if there are no more elements than the correction", function()
    local one = roper.tensor({ 5 })
    assert.is_true(one:var():isnan():all())
    assert.equal(0, one:var(1, false, 0):item())
    assert.is_true(roper.tensor({ 1, 2 }):var(1, false, 3):isinf():all())
  end)

  it("of NaN are NaN; any and all treat it as true", function()
    local x = roper.tensor({ 0, nan })
    for _, name in ipairs({ "var", "std", "norm", "prod" }) do
      assert.is_true(x[name](x):isnan():all(), name)
    end
    assert.is_true(x:any())
    assert.is_false(x:all())
  end)

  it("return booleans without an axis, and masks along axes", function()
    local x = roper.tensor({ { 1, 0 }, { 2, 3 } })
    assert.is_true(x:any())
    assert.is_false(x:gt(5):any())
    assert.same({ 0, 1 }, x:all(2):totable())
    assert.is_true(x:all(2):is_mask())
    assert.same({ { 2, 3 } }, x[x:all(2)]:totable())
    assert.same({ { 1 } }, x:any({ 1, 2 }, true):totable())
  end)

  it("have norms of any p >= 1, with a gradient of 0 if the norm is 0", function()
    local x = roper.tensor({ { 3, -4 }, { 0, 0 } })
    assert.same({ 4, 0 }, x:norm(inf, 2):totable())
    assert.same({ 7, 0 }, x:norm(1, 2):totable())
    for _, p in ipairs({ 1, 2, 3 }) do
      local w = roper.zeros({ 2 }):parameter()
      w:norm(p):backward()
      assert.same({ 0, 0 }, w.grad:totable())
    end
  end)

  it("have gradients of products that contain zeros", function()
    roper.seed(2)
    for _, zeros in ipairs({ { 2 }, { 1, 5 } }) do
      local x = roper.randn({ 5 }, "float64")
      for _, i in ipairs(zeros) do
        x[i] = 0
      end
      assert.is_true((roper.gradcheck(function(w) return w:prod() end, { x })))
      assert.is_true((roper.gradcheck(function(w) return w:prod(1) end, { x })))
    end
  end)
end)
