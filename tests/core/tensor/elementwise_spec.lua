local arrays = require("tests.arrays")
local operations = require("tests.operations")
local roper = require("roper")
local tables = require("roper.base.tables")

local nan, inf = 0 / 0, math.huge
local special = { 0, -0.0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.5, nan, inf, -inf, 1e-20, -1e-20, 60,
  -60 }

local function sign(x)
  return x > 0 and 1 or x < 0 and -1 or x
end

local function half_to_even(x)
  local low = math.floor(x)
  if x - low ~= 0.5 then
    return math.floor(x + 0.5)
  end
  return low % 2 == 0 and low or low + 1
end

--- floor and ceil of the mathematics: floats in, floats out, infinities too.
local function whole(f)
  return function(x)
    return (x ~= x or x == inf or x == -inf) and x or f(x)
  end
end

--- By Lambert's continued fraction where the exponentials would cancel.
local function tanh(x)
  if math.abs(x) < 1 then
    local rest = 1
    for odd = 21, 1, -2 do
      rest = odd + x * x / rest
    end
    return x / rest
  end
  local e = math.exp(-2 * math.abs(x))
  return sign(x) * (1 - e) / (1 + e)
end

local unary = {
  neg = function(x) return -x end,
  abs = math.abs,
  sign = sign,
  square = function(x) return x * x end,
  floor = whole(math.floor),
  ceil = whole(math.ceil),
  round = whole(half_to_even),
  sqrt = function(x) return x < 0 and nan or x ^ 0.5 end,
  exp = math.exp,
  log = math.log,
  sin = math.sin,
  cos = math.cos,
  tanh = tanh,
  sigmoid = function(x) return 1 / (1 + math.exp(-x)) end,
  -- ln(1 + y) keeps its last digits where y / ((1 + y) - 1) makes up for what 1 + y lost
  softplus = function(x)
    local y = math.exp(-math.abs(x))
    local sum = 1 + y
    return math.max(x, 0) + (sum == 1 and y or math.log(sum) * y / (sum - 1))
  end,
  relu = function(x) return x < 0 and 0 or x end,
}

local function pow(x, y)
  return x ^ y
end

local binary = {
  add = function(x, y) return x + y end,
  sub = function(x, y) return x - y end,
  mul = function(x, y) return x * y end,
  div = function(x, y) return x / y end,
  pow = pow,
  remainder = function(x, y) return y == 0 and nan or x % y end,
  maximum = function(x, y) return (x ~= x or x > y) and x or y end,
  minimum = function(x, y) return (x ~= x or x < y) and x or y end,
}

local function flag(condition)
  return condition and 1 or 0
end

local compare = {
  eq = function(x, y) return flag(x == y) end,
  ne = function(x, y) return flag(x ~= y) end,
  lt = function(x, y) return flag(x < y) end,
  le = function(x, y) return flag(x <= y) end,
  gt = function(x, y) return flag(x > y) end,
  ge = function(x, y) return flag(x >= y) end,
  logical_and = function(x, y) return flag(x ~= 0 and y ~= 0) end,
  logical_or = function(x, y) return flag(x ~= 0 or y ~= 0) end,
  logical_xor = function(x, y) return flag((x ~= 0) ~= (y ~= 0)) end,
}

--- Relative 4e-16 for float64 and 3e-7 for float32, of values up to 1e27.
local function check_values(name, f, x, y)
  local tolerance = x:dtype() == "float64" and 1e-15 or 4e-7
  local inputs, outputs = arrays.from(x).values, arrays.from(y).values
  for i, value in ipairs(inputs) do
    local expected, actual = f(value), outputs[i]
    local same = expected == actual or expected ~= expected and actual ~= actual
      or math.abs(expected - actual) <= tolerance * math.abs(expected) + 1e-30
    if not same then
      error(("%s %s(%.17g): expected %.17g, got %.17g"):format(x:dtype(), name, value, expected,
        actual))
    end
  end
end

describe("unary functions", function()
  for name, f in pairs(unary) do
    it(name .. " agrees with plain Lua", function()
      for _, dtype in ipairs({ "float32", "float64" }) do
        local x = roper.tensor(special, dtype)
        check_values(name, f, x, x[name](x))
      end
      arrays.each_seed(10, function()
        for _, dtype in ipairs({ "float32", "float64" }) do
          local x = arrays.random_layout(arrays.random_shape(0, 4, 9), dtype) * 3
          check_values(name, f, x, roper[name](x))
        end
      end)
    end)
  end

  it("gelu of float32 is that of float64, in its tail too", function()
    local x = roper.linspace(-12, 12, 24001):parameter()
    local wide = x:detach():to "float64":parameter()
    local y, exact = x:gelu(), wide:gelu()
    y:sum():backward()
    exact:sum():backward()
    local tail = x:detach():to "float64":gt(-5)
    local difference = y:to "float64" - exact
    assert.is_true(difference:abs():max():item() < 1e-6)
    assert.is_true((difference / (exact:abs() + 1e-12))[tail]:abs():max():item() < 3e-6)
    assert.is_true((x.grad:to "float64" - wide.grad):abs():max():item() < 3e-7)
  end)

  it("gelu is half x times 1 + erf(x / sqrt 2)", function()
    local x = roper.tensor({ 0, 1, -1, inf, nan }, "float64"):gelu():totable()
    assert.equal(0, x[1])
    assert.is_true(math.abs(x[2] - 0.841344746068542949) < 1e-15)
    assert.is_true(math.abs(x[3] + 0.158655253931457051) < 1e-15)
    assert.is_true(x[4] == inf and x[5] ~= x[5])
  end)

  it("gelu_tanh is half x times 1 + tanh(u), also if u is beyond any float", function()
    local x = roper.tensor({ 0, 1, -1, inf, nan }, "float64"):gelu_tanh():totable()
    assert.equal(0, x[1])
    assert.is_true(math.abs(x[2] - 0.841191990608276) < 1e-15) -- from torch
    assert.is_true(math.abs(x[3] + 0.158808009391724) < 1e-15)
    assert.is_true(x[4] == inf and x[5] ~= x[5])
    for _, dtype in ipairs({ "float32", "float64" }) do
      local far = roper.tensor({ -1e30, -40, 40, 1e30 }, dtype):parameter()
      local y = far:gelu_tanh()
      y:sum():backward()
      assert.same(roper.tensor({ 0, 0, 40, 1e30 }, dtype):totable(), y:totable())
      assert.same({ 0, 0, 1, 1 }, far.grad:totable())
    end
  end)

  it("silu is x times its sigmoid, also if that is nearly 0", function()
    local x = roper.tensor({ 0, 1, -1, -1000, inf }, "float64"):silu():totable()
    assert.equal(0, x[1])
    assert.is_true(math.abs(x[2] - 1 / (1 + math.exp(-1))) < 1e-15)
    assert.is_true(math.abs(x[3] + 1 / (1 + math.exp(1))) < 1e-15)
    assert.is_true(x[4] == 0 and x[5] == inf)
    local far = roper.tensor({ -1000, 1000 }):parameter()
    far:silu():sum():backward()
    assert.same({ 0, 1 }, far.grad:totable())
  end)

  it("has == of two tensors: the same shape, and equal elements", function()
    local x = roper.tensor({ 1, 2 })
    assert.is_true(x == roper.tensor({ 1, 2 }))
    assert.is_true(x == roper.tensor({ 1, 2 }, "int32"))
    assert.is_true(x[1] == roper.tensor({ { 1, 5 }, { 3, 4 } }, "float64"):transpose(1, 2)[1][1])
    assert.is_false(x == roper.tensor({ 1, 3 }))
    assert.is_false(x == roper.tensor({ { 1, 2 } }))
    assert.is_false(roper.tensor(nan) == roper.tensor(nan))
    assert.is_false(roper.tensor({ 16777217 }, "int32") == roper.tensor({ 16777216 }))
    assert.is_true(roper.zeros({ 0, 2 }) == roper.zeros({ 0, 2 }))
    assert.is_false(x == io.stdout)
    assert.is_false(x[1] == 1) -- which Lua asks no tensor about
  end)

  it("has & | ~ for masks only", function()
    local a, b = roper.tensor({ 0, 0, 1, 1 }):ne(0), roper.tensor({ 0, 1, 0, 1 }):ne(0)
    assert.same({ 0, 0, 0, 1 }, (a & b):totable())
    assert.same({ 0, 1, 1, 1 }, (a | b):totable())
    assert.same({ 0, 1, 1, 0 }, (a ~ b):totable())
    assert.same({ 1, 1, 0, 0 }, (~a):totable())
    assert.is_true((a & ~b):is_mask())
    assert.error_matches(function() return a & roper.tensor({ 6 }, "int32") end,
      "expected masks, as comparisons return, got int32")
    assert.error_matches(function() return a | 1 end, "expected masks, .*, got number")
    assert.error_matches(function() return ~roper.tensor({ 6 }, "int32") end, "expected a mask")
  end)

  it("has the remainder of int32 with the sign of b, and none by 0", function()
    local x = roper.tensor({ 7, -7, -2147483648 }, "int32")
    assert.same({ 1, 2, 1 }, (x % 3):totable())
    assert.same({ -2, -1, -2 }, (x % -3):totable())
    assert.same({ 0, 0, 0 }, (x % -1):totable())
    assert.same({ 1, -1, 0 }, (roper.tensor({ 4, 2, 2 }, "int32") % roper.tensor({ 3, -3, 1 },
      "int32")):totable())
    assert.error_matches(function() return x % 0 end,
      "remainder: expected an int32 divisor other than 0")
    assert.is_true((roper.tensor({ 5 }) % 0):ne((roper.tensor({ 5 }) % 0))[1]:item() == 1)
  end)

  it("accepts int32 if the result is whole, and rejects overflow", function()
    local x = roper.tensor({ -3, 0, 2147483647 }, "int32")
    assert.same({ 3, 0, -2147483647 }, x:neg():totable())
    assert.same({ 3, 0, 2147483647 }, x:abs():totable())
    assert.same({ -1, 0, 1 }, x:sign():totable())
    assert.same({ 0, 0, 2147483647 }, x:relu():totable())
    assert.same({ 9, 0 }, x:narrow(1, 1, 2):square():totable())
    for _, name in ipairs({ "floor", "ceil", "round" }) do
      assert.same(x:totable(), x[name](x):totable())
    end
    local least = roper.full({ 2 }, -2 ^ 31, "int32")
    for _, name in ipairs({ "neg", "abs", "square" }) do
      assert.error_matches(function() least[name](least) end, name .. ": int32 overflow")
    end
    for _, name in ipairs(operations.float_unary) do
      assert.error_matches(function() x[name](x) end,
        name .. ": expected float32 or float64, got int32")
    end
  end)
end)

describe("binary functions", function()
  local function check_pair(name, f, a, b)
    local tolerance = a:dtype() == "float64" and 0 or 1e-4
    if name == "pow" then
      tolerance = a:dtype() == "float64" and 1e-9 or tolerance
    end
    local expected = arrays.map2(f, arrays.from(a), arrays.from(b))
    arrays.check(expected, roper[name](a, b), tolerance, a:dtype() .. " " .. name)
  end

  for _, name in ipairs(operations.binary) do
    local f = binary[name]
    it(name .. " agrees with plain Lua, broadcast", function()
      local x = roper.tensor(special, "float64")
      check_pair(name, f, x:view({ -1, 1 }), x)
      arrays.each_seed(30, function(seed)
        local dtype = seed % 2 == 0 and "float64" or "float32"
        local shape = arrays.random_shape(0, 4, 5)
        local operands = {}
        for i = 1, 2 do
          local own = {}
          for axis = math.random(#shape + 1), #shape do
            own[#own + 1] = math.random(3) == 1 and 1 or shape[axis]
          end
          operands[i] = arrays.random_layout(own, dtype)
          if name == "pow" then
            operands[i] = operands[i]:abs() + 0.5
          elseif name == "div" then
            operands[i] = operands[i]:abs() + 0.1
          end
        end
        check_pair(name, f, operands[1], operands[2])
      end)
    end)
  end

  for _, name in ipairs(operations.comparisons) do
    local f = compare[name]
    it(name .. " agrees with plain Lua, broadcast", function()
      for _, dtype in ipairs({ "float32", "float64" }) do
        local x = roper.tensor(special, dtype)
        local expected = arrays.map2(f, arrays.from(x:view({ -1, 1 })), arrays.from(x))
        local actual = roper[name](x:view({ -1, 1 }), x)
        arrays.check(expected, actual, 0, name)
        assert.equal("int32", actual:dtype())
      end
      local whole_numbers = roper.tensor({ -1, 0, 1 }, "int32")
      arrays.check(arrays.map2(f, arrays.from(whole_numbers), arrays.from(roper.tensor(0))),
        whole_numbers[name](whole_numbers, 0), 0, name)
    end)
  end

  it("works for the largest ranks and sizes", function()
    local x = roper.randn({ 100000 })
    local twice = x + x
    assert.equal(0, (twice - x * 2):abs():max():item())
    local deep = roper.ones({ 2, 1, 2, 1, 2, 1, 2, 1 }) + roper.ones({ 1, 2, 1, 2, 1, 2, 1, 2 })
    assert.same({ 2, 2, 2, 2, 2, 2, 2, 2 }, deep:shape())
    assert.equal(512, deep:sum():item())
  end)

  it("gives the same bits with one thread and with two", function()
    local threads = roper.threads()
    local x, y = roper.randn({ 300, 301 }), roper.randn({ 301, 300 }):transpose(1, 2)
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      results[n] = (x * y + x:exp()):sigmoid()
    end
    roper.threads(threads)
    assert.equal(0, (results[1] - results[2]):abs():max():item())
  end)

  it("has operators, with numbers on either side", function()
    local x = roper.tensor({ 1, 2 })
    assert.same({ 3, 4 }, (x + 2):totable())
    assert.same({ 1, 0 }, (2 - x):totable())
    assert.same({ 2, 4 }, (x * 2):totable())
    assert.same({ 4, 2 }, (4 / x):totable())
    assert.same({ 2, 4 }, (2 ^ x):totable())
    assert.same({ -1, -2 }, (-x):totable())
    assert.is_true(roper.tensor(1) < roper.tensor(2))
    assert.is_true(roper.tensor(2) <= 2)
    assert.is_false(3 < roper.tensor({ 2 }))
    assert.error_matches(function() return x < x end,
      "got tensors of shapes %[2%] and %[2%]; x:lt%(y%) and x:gt%(y%) compare each element")
    local many = roper.ones({ 3 })
    for text, f in pairs({ gt = function() return many > 0 end, lt = function() return many < 0 end,
      ge = function() return many >= 0 end, le = function() return many <= 0 end }) do
      assert.error_matches(f, "got a tensor of shape %[3%]; x:" .. text .. "%(number%) compares")
    end
  end)

  it("accepts int32 if the result is whole, and rejects overflow", function()
    local x = roper.tensor({ 2147483647, -2147483648, 5 }, "int32")
    assert.same({ 2147483646, -1, 5 }, (x + roper.tensor({ -1, 2147483647, 0 }, "int32")):totable())
    assert.same({ 2147483647, 0, 5 }, x:maximum(0):totable())
    assert.same({ 0, -2147483648, 0 }, x:minimum(0):totable())
    assert.error_matches(function() return x + 1 end, "add: int32 overflow")
    assert.error_matches(function() return x - 1 end, "sub: int32 overflow")
    assert.error_matches(function() return x * 2 end, "mul: int32 overflow")
    assert.error_matches(function() return x / 2 end,
      'div: expected float32 or float64, got int32; convert it with :to "float32"')
    assert.error_matches(function() return x ^ 2 end, "pow: expected float32 or float64, got int32")
    assert.error_matches(function() return x + (1 << 31) end,
      "an integer .*, got 2147483648")
  end)

  it("accepts int32 with floats that represent its numbers", function()
    local x = roper.tensor({ 3, -16777216 }, "int32")
    for _, dtype in ipairs({ "float32", "float64" }) do
      local y = roper.tensor({ 0.5, 2 }, dtype)
      for _, name in ipairs(tables.joined(operations.binary, operations.comparisons)) do
        local expected = roper[name](x:to(dtype), y)
        assert.equal(expected:dtype(), x[name](x, y):dtype())
        assert.same(expected:totable(), roper[name](x, y):totable())
        assert.same(roper[name](y, x:to(dtype)):totable(), roper[name](y, x):totable())
      end
      assert.same({ 3, 2 }, roper.where(x:gt(0), x, y):totable())
    end
    assert.same({ 3.5, -16777215.5 }, (x:to("float64") + 0.5):totable())
    assert.equal("float32", (x * 0.5):dtype())
    assert.same({ 1.5, -8388608 }, (0.5 * x):totable())
    assert.same({ 1, 1 }, x:lt(inf):totable())
    assert.same({ 0, 0 }, x:lt(nan):totable())
    local w = roper.tensor({ 2, 4 }):parameter();
    (w * x):sum():backward()
    assert.same({ 3, -16777216 }, w.grad:totable())
  end)

  it("rejects int32 that float32 would round, and suggests conversions", function()
    local x = roper.tensor({ 1, 16777217 }, "int32")
    assert.same({ 1.5, 16777217.5 }, (x + roper.tensor(0.5, "float64")):totable())
    for _, f in ipairs({ function() return x + roper.ones({ 2 }) end,
      function() return roper.ones({ 2 }):lt(x) end, function() return x * 0.5 end,
      function() roper.ones({ 2 }):copy(x) end }) do
      assert.error_matches(f, 'float32 cannot hold the int32 16777217; convert both with :to '
        .. '"float64", or round with :to "float32"')
    end
  end)

  it("rejects shapes and dtypes that do not match", function()
    local x = roper.ones({ 2, 3 })
    for _, name in ipairs({ "add", "pow", "maximum", "eq", "ge" }) do
      assert.error_matches(function() roper[name](x, roper.ones({ 2 })) end,
        name .. ": shapes %[2, 3%] and %[2%] do not broadcast")
      assert.error_matches(function() roper[name](x, roper.ones({ 3 }, "float64")) end,
        name .. ": expected the same dtype, got float32 and float64; convert one with :to")
    end
    assert.error_matches(function() return x + roper.ones({ 0 }) end, "do not broadcast")
    assert.error_matches(function() return roper.add(1, 2) end, "tensor expected, got number")
  end)
end)

describe("where", function()
  it("chooses element by element, all three broadcast", function()
    local condition = roper.tensor({ { 1 }, { 0 } }, "int32")
    assert.same({ { 1, 1 }, { 5, 6 } },
      roper.where(condition, roper.tensor(1), roper.tensor({ 5, 6 })):totable())
    assert.same({ { 5, 6 }, { 0, 0 } }, roper.where(condition, roper.tensor({ 5, 6 }), 0):totable())
    assert.same({ { -1 }, { 3 } }, roper.where(condition, -1, roper.tensor({ 3 })):totable())
    assert.same({ 1, 7 }, roper.where(roper.tensor({ -5, 0 }, "int32"),
      roper.tensor({ 1, 2 }, "int32"), 7):totable())
    local x = roper.tensor({ nan, 1 })
    assert.same({ 0, 1 }, roper.where(x:eq(x), x, 0):totable())
  end)

  it("rejects what does not fit", function()
    local x = roper.ones({ 2 })
    assert.error_matches(function() roper.where(x, x, x) end, "where: expected an int32 condition")
    assert.error_matches(function() roper.where(x:gt(0), 1, 2) end, "got two numbers")
    assert.error_matches(function() roper.where(x:gt(0), x, roper.ones({ 3 })) end,
      "where: shapes %[2%] and %[3%]")
    assert.error_matches(function() roper.where(roper.ones({ 3 }, "int32"), x, 0) end,
      "where: shapes %[3%] and %[2%]")
    assert.error_matches(function() roper.where(x:gt(0), x, x:to("float64")) end,
      "where: expected the same dtype, got float32 and float64")
  end)
end)
