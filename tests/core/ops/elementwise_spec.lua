local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local operations = require("tests.operations")
local tables = require("roper.base.tables")
local roper = require("roper")

--- Away from 0 and from halves, where some functions have corners and steps.
local function off_corners(x)
  return roper.where((x * 2 - (x * 2):round()):abs():lt(0.1), x + 0.17, x)
end

local function positive(x)
  return x:abs() + 0.5
end

describe("gradients of unary functions", function()
  for _, name in ipairs(tables.joined(operations.unary, operations.float_unary)) do
    it(name, function()
      roper.seed(1)
      local domain = (name == "sqrt" or name == "log") and positive or off_corners
      for _, shape in ipairs({ {}, { 5 }, { 3, 4 }, { 2, 3, 2 } }) do
        gradients.check(function(x) return x[name](x) end, { shape }, { domain = domain })
      end
    end)

    it(name .. " of nothing is nothing", function()
      local x = roper.zeros({ 0, 3 }):parameter()
      x[name](x):sum():backward()
      assert.same({ 0, 3 }, x.grad:shape())
    end)
  end

  it("is 0 at the kinks of abs and relu", function()
    local x = roper.tensor({ 0, -0.0 }):parameter()
    x:abs():sum():backward()
    x:relu():sum():backward()
    assert.same({ 0, 0 }, x.grad:totable())
  end)
end)

describe("gradients of binary functions", function()
  local pairs_of_shapes = {
    { { 3, 4 }, { 3, 4 } }, { { 3, 4 }, { 4 } }, { { 4 }, { 3, 4 } }, { { 3, 1 }, { 1, 4 } },
    { { 2, 1, 3 }, { 4, 1 } }, { { 2, 2, 1 }, { 1, 1, 3 } }, { {}, { 3 } }, { { 3 }, {} },
    { {}, {} },
  }

  -- Numbers whose ratios stay between the same integers.
  local function between(x)
    return x:abs() * 0.1 + roper.where(x:gt(0), 1.1, x * 0 + 5.3)
  end
  local domains = { div = positive, pow = positive, remainder = between }

  for _, name in ipairs(operations.binary) do
    it(name .. ", broadcast on either side", function()
      roper.seed(2)
      local domain = domains[name]
      for _, shapes in ipairs(pairs_of_shapes) do
        gradients.check(function(x, y) return roper[name](x, y) end, shapes, { domain = domain })
      end
    end)

    it(name .. ", with a number on either side", function()
      local options = { domain = domains[name] or positive }
      gradients.check(function(x) return roper[name](x, 1.7) end, { { 2, 3 } }, options)
      gradients.check(function(x) return roper[name](1.7, x) end, { { 2, 3 } }, options)
    end)

    it(name .. ", the same tensor on both sides", function()
      roper.seed(3)
      local other = name == "remainder" and 0.9 or 1
      gradients.check(function(x) return roper[name](x, x * other) * x end, { { 2, 3 } },
        { domain = domains[name] })
    end)

    it(name .. " of nothing is nothing", function()
      local x, y = roper.ones({ 0, 3 }):parameter(), roper.ones({ 1 }):parameter()
      roper[name](x, y):sum():backward()
      assert.same({ 0, 3 }, x.grad:shape())
      assert.same({ 0 }, y.grad:totable())
    end)
  end

  it("reaches one operand if the other is not a parameter", function()
    local x, y = roper.tensor({ 2, 3 }):parameter(), roper.tensor({ 5, 7 })
    x:mul(y):sum():backward()
    assert.same({ 5, 7 }, x.grad:totable())
    assert.is_nil(y.grad)
    local z = roper.tensor({ 1, 1 }):parameter()
    y:sub(z):sum():backward()
    assert.same({ -1, -1 }, z.grad:totable())
  end)

  it("goes to the first of equal elements", function()
    for _, name in ipairs({ "maximum", "minimum" }) do
      local x, y = roper.ones({ 2 }):parameter(), roper.ones({ 2 }):parameter()
      roper[name](x, y):sum():backward()
      assert.same({ 1, 1 }, x.grad:totable())
      assert.same({ 0, 0 }, y.grad:totable())
    end
  end)

  it("of a power is finite at base 0 if the power is, and at exponent 0", function()
    local exponents = { 3, 2, 1.5, 1, 0.5, 0, -1 }
    local inf, slopes = math.huge, {}
    local function gradients_at(base)
      local x = roper.full({ #exponents }, base, "float64"):parameter()
      local p = roper.tensor(exponents, "float64"):parameter()
      x:pow(p):sum():backward()
      return x.grad:totable(), p.grad:totable()
    end
    for i, p in ipairs(exponents) do
      slopes[i] = p * 2 ^ (p - 1)
    end
    assert.same(slopes, (gradients_at(2)))
    local dx, dp = gradients_at(0)
    assert.same({ 0, 0, 0, 1, inf, 0, -inf }, dx)
    assert.same({ 0, 0, 0, 0, 0, 0, -inf }, dp)
    local x, p = roper.tensor({ { 0 }, { 3 } }):parameter(), roper.tensor({ 2, 0 }):parameter()
    local y = x ^ p
    y:sum():backward()
    assert.same({ { 0 }, { 6 } }, x.grad:totable())
    arrays.close(roper.tensor({ 9 * math.log(3), math.log(3) }), p.grad, 1e-5)
  end)

  it("does not exist for comparisons", function()
    local x = roper.ones({ 2 }):parameter()
    assert.error_matches(function() x:gt(0):to("float32"):sum():backward() end,
      "backward: expected a tensor computed from a parameter")
  end)
end)

describe("a graph keeps for its backward pass", function()
  local SIZE <const> = 100000 -- of tensors that cannot be mistaken for a node

  -- The number of operands and results of an operation that stay alive if only the graph below its
  -- sum is held.
  local function kept(operation, ...)
    local function collected()
      collectgarbage()
      collectgarbage()
      roper.memory_trim() -- a block that is reused may be larger than asked for
      return roper.memory().live
    end
    local leaves = { ... }
    local before = collected()
    local y = (function()
      local operands = {}
      for i, leaf in ipairs(leaves) do
        operands[i] = leaf + 0
      end
      return operation(table.unpack(operands)):sum()
    end)()
    local bytes = collected() - before
    assert.equal(0, y:rank())
    return math.floor(bytes / (4 * SIZE) + 0.5)
  end

  it("the tensors that a unary derivative reads", function()
    local w = roper.ones({ SIZE }):parameter()
    for name, count in pairs({ neg = 0, sign = 0, floor = 0, ceil = 0, round = 0, abs = 1,
      square = 1, sqrt = 1, exp = 1, log = 1, sin = 1, cos = 1, tanh = 1, sigmoid = 1, relu = 1,
      softplus = 1, gelu = 1, gelu_tanh = 1, silu = 1 }) do
      assert.same({ name, count }, { name, kept(roper[name], w) })
    end
    assert.equal(0, kept(function(x) return x:round_to("float16") end, w))
    assert.equal(2, kept(function(x) return x:exp():exp():square() end, w)) -- the square's x is one
  end)

  it("the tensors that a binary derivative reads, for operands that need a gradient", function()
    local w, v = roper.ones({ SIZE }):parameter(), roper.ones({ SIZE }):parameter()
    local plain = roper.ones({ SIZE })
    for name, counts in pairs({ add = { 0, 0, 0 }, sub = { 0, 0, 0 }, mul = { 2, 1, 1 },
      div = { 2, 1, 2 }, pow = { 3, 2, 3 }, maximum = { 2, 2, 2 }, minimum = { 2, 2, 2 },
      remainder = { 3, 0, 3 } }) do
      assert.same({ name, counts }, { name, { kept(roper[name], w, v), kept(roper[name], w, plain),
        kept(roper[name], plain, v) } })
    end
    assert.equal(0, kept(function(x) return 2 * x / 3 end, w))
  end)
end)

describe("gradient of where", function()
  it("goes to the chosen operand, also if it was broadcast", function()
    roper.seed(4)
    local condition = roper.randn({ 3, 4 }):gt(0)
    for _, shapes in ipairs({ { { 3, 4 }, { 3, 4 } }, { { 4 }, { 3, 1 } }, { {}, { 2, 3, 4 } } }) do
      gradients.check(function(x, y) return roper.where(condition, x, y):exp() end, shapes)
    end
    gradients.check(function(x) return roper.where(condition:transpose(1, 2), x, 2):exp() end,
      { { 3 } })
    gradients.check(function(x) return roper.where(condition, 2, x):exp() end, { { 4 } })
  end)

  it("is 0, not NaN, for the other operand", function()
    local x = roper.tensor({ 0, 4 }):parameter()
    roper.where(x:gt(0), x, 0):sum():backward()
    assert.same({ 0, 1 }, x.grad:totable())
  end)
end)
