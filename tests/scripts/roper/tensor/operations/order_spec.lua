local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

local DTYPES <const> = { "float32", "float64", "int32" }

local function random_tensor(seed, least)
  return arrays.random_layout(arrays.random_shape(least, 4, 5), "float64"):mul(100)
    :to(DTYPES[seed % 3 + 1])
end

-- The tensor whose element at a place, from 0, is that of x at from(place).
local function moved(x, from)
  local source = arrays.from(x)
  return arrays.make(x:shape(), function(at)
    return arrays.get(source, from(table.move(at, 1, #at, 1, {})))
  end)
end

describe("sort", function()
  it("returns the sorted elements and their indices", function()
    arrays.each_seed(20, function(seed)
      local x = random_tensor(seed, 1)
      local axis, descending = math.random(x:rank()), seed % 2 == 0
      local values, places = x:sort(axis, descending)
      assert.equal(places, x:argsort(axis, descending))
      assert.equal(values, x:gather(axis, places))
      assert.equal(x:dtype(), values:dtype())
      if x:size(axis) > 1 then
        local steps = values:narrow(axis, 2, x:size(axis) - 1)
          - values:narrow(axis, 1, x:size(axis) - 1)
        assert.is_true((descending and steps:le(0) or steps:ge(0)):all())
      end
    end)
  end)

  it("sorts NaN after all numbers, and passes the gradient to the original positions", function()
    local values = roper.tensor({ 1, 0 / 0, -2, math.huge }):sort()
    assert.same({ -2, 1, math.huge }, values:narrow(1, 1, 3):totable())
    assert.is_true(values[4]:isnan():all())
    roper.seed(1)
    gradients.check(function(x) return x:sort(1, true):sin() end, { { 3, 2 } }, { layouts = false })
    gradients.check(function(x) return x:topk(2):sin() end, { { 3, 4 } }, { layouts = false })
  end)
end)

describe("topk", function()
  it("returns the first elements of sort", function()
    arrays.each_seed(20, function(seed)
      local x = random_tensor(seed, 1)
      local axis, largest = math.random(x:rank()), seed % 2 == 0
      local k = math.random(0, x:size(axis))
      local values, places = x:topk(k, axis, largest)
      local sorted, order = x:sort(axis, largest)
      assert.equal(sorted:narrow(axis, 1, k), values)
      assert.equal(order:narrow(axis, 1, k), places)
    end)
  end)
end)

describe("flip", function()
  it("agrees with plain Lua on any axes", function()
    arrays.each_seed(40, function(seed)
      local x = random_tensor(seed, 1)
      local axes, turned = {}, {}
      for axis = 1, x:rank() do
        if math.random(2) == 1 then
          axes[#axes + 1], turned[axis] = math.random(2) == 1 and axis or axis - x:rank() - 1, true
        end
      end
      arrays.check(moved(x, function(at)
        for axis in pairs(turned) do
          at[axis] = x:size(axis) - 1 - at[axis]
        end
        return at
      end), x:flip(#axes == 1 and axes[1] or axes), 0, "flip")
    end)
  end)

  it("has gradients, copies and rejects other axes", function()
    roper.seed(2)
    gradients.check(function(x) return x:flip({ 1, -1 }):exp() end, { { 2, 3, 2 } })
    local x = roper.arange(0, 3)
    x:flip(1)[1] = 7
    assert.same({ 0, 1, 2 }, x:totable())
    assert.error_matches(function() x:flip(2) end, "an axis from 1 to 1")
    assert.error_matches(function() x:flip({ 1, -1 }) end,
      "flip: expected different axes, got axis 1 twice")
  end)
end)

describe("roll", function()
  it("agrees with plain Lua along every axis, and on flattened tensors", function()
    arrays.each_seed(40, function(seed)
      local x = random_tensor(seed, 0)
      local shift = math.random(-9, 9)
      for axis = 1, x:rank() do
        arrays.check(moved(x, function(at)
          at[axis] = (at[axis] - shift) % x:size(axis)
          return at
        end), x:roll(shift, axis), 0, "roll")
      end
      local flat = arrays.from(x)
      local values = table.move(flat.values, 1, #flat.values, 1, {})
      for i = 1, #values do
        flat.values[(i - 1 + shift) % #values + 1] = values[i]
      end
      arrays.check(flat, x:roll(shift), 0, "roll")
    end)
  end)

  it("has gradients, and rejects invalid shifts", function()
    roper.seed(3)
    gradients.check(function(x) return x:roll(-4, 2):exp() end, { { 2, 3 } })
    gradients.check(function(x) return x:roll(1):exp() end, { { 2, 3 } })
    local x = roper.ones({ 2, 3 })
    assert.error_matches(function() x:roll(1, 3) end, "an axis from 1 to 2")
  end)
end)
