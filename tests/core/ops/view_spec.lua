local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

--- The values in row-major order under another shape.
local function reshaped(x, shape)
  return { shape = shape, values = arrays.from(x).values }
end

--- A random shape with the same number of elements, axes of size 1 put in.
local function random_factors(count)
  local shape = {}
  while count > 1 and #shape < 5 do
    local factor = math.random(count)
    while count % factor ~= 0 do
      factor = factor - 1
    end
    shape[#shape + 1] = factor
    count = count // factor
  end
  shape[#shape + 1] = count
  for _ = 1, math.random(0, 2) do
    table.insert(shape, math.random(#shape + 1), 1)
  end
  return shape
end

describe("view", function()
  it("keeps row-major order, for random layouts and shapes", function()
    arrays.each_seed(300, function()
      local x = arrays.random_layout(arrays.random_shape(0, 4, 4))
      if x:count() > 0 then
        local shape = random_factors(x:count())
        arrays.check(reshaped(x, shape), x:view(shape), 0, "view")
        local inferred = table.move(shape, 1, #shape, 1, {})
        inferred[math.random(#shape)] = -1
        arrays.check(reshaped(x, shape), x:view(inferred), 0, "view with -1")
        assert.is_true(x:view(shape):contiguous():is_contiguous())
      end
    end)
  end)

  it("shares storage if strides allow it, packed or not", function()
    local x = roper.zeros({ 4, 6 })
    local y = x:view({ 2, 2, 6 })
    y[{ 2, 2, 6 }] = 5
    assert.equal(5, x[{ 4, 6 }]:item())
    local part = x:narrow(2, 1, 3):view({ 2, 2, 1, 3 }) -- rows stay 6 apart
    part[{ 1, 1, 1, 1 }] = 7
    assert.equal(7, x[{ 1, 1 }]:item())
    local copy = x:transpose(1, 2):view({ 24 })
    copy:fill(9)
    assert.equal(7, x[{ 1, 1 }]:item())
  end)

  it("accepts sizes as numbers or as a list, and none for a scalar", function()
    local x = roper.arange(0, 6)
    assert.same({ 2, 3 }, x:view(2, 3):shape())
    assert.same({ 3, 2 }, x:view(-1, 2):shape())
    assert.same({}, roper.ones({ 1, 1 }):view({}):shape())
    assert.same({ 0, 3 }, roper.zeros({ 3, 0 }):view({ -1, 3 }):shape())
    assert.same({ 5, 0 }, roper.zeros({ 0 }):view({ 5, 0 }):shape())
  end)

  it("rejects other numbers of elements", function()
    local x = roper.zeros({ 2, 3 })
    for _, shape in ipairs({ { 5 }, { -1, 4 }, { -1, -1 }, { -1, 0 }, { 7, -1 }, {},
      { 2 ^ 62, 4 } }) do
      assert.error_matches(function() x:view(shape) end,
        "view: %[2, 3%] has 6 elements, which do not fill shape %[")
    end
    assert.error_matches(function() x:view({ -2, 3 }) end,
      "'view' %(size 1: expected a non%-negative integer or %-1, got %-2")
    assert.error_matches(function() x:view({ 6, 1, 1, 1, 1, 1, 1, 1, 1 }) end,
      "at most 8 sizes, got 9")
    assert.error_matches(function() roper.zeros({ 0 }):view({ -1, 0 }) end, "do not fill")
  end)

  it("has the gradient in the shape of its input", function()
    gradients.check(function(x) return x:view({ 3, 4 }):square() end, { { 2, 6 } })
    gradients.check(function(x)
      return x:view({ 2, 1, 2, 3 }):transpose(1, 3):view({ -1 }):sin()
    end, { { 4, 3 } })
    gradients.check(function(x) return x:view({}):exp() end, { { 1, 1 } })
    gradients.check(function(x) return x:view({ 1, 1 }):exp() end, { {} })
  end)
end)

describe("transpose and permute", function()
  it("agree with plain Lua, for random orders", function()
    arrays.each_seed(50, function()
      local x = arrays.random_layout(arrays.random_shape(1, 4, 5))
      local from, order, shape = arrays.from(x), {}, {}
      for i = 1, x:rank() do
        table.insert(order, math.random(i), i)
      end
      for i, axis in ipairs(order) do
        shape[i] = from.shape[axis]
      end
      arrays.check(arrays.make(shape, function(at)
        local place = {}
        for i, axis in ipairs(order) do
          place[axis] = at[i]
        end
        return arrays.get(from, place)
      end), x:permute(order), 0, "permute")
    end)
    local x = roper.arange(0, 6):view({ 2, 3 })
    assert.same({ { 0, 3 }, { 1, 4 }, { 2, 5 } }, x:transpose(1, 2):totable())
    assert.same(x:totable(), x:transpose(-1, 2):totable())
    assert.is_false(x:transpose(1, 2):is_contiguous())
    assert.is_true(roper.ones({ 1, 5, 1 }):transpose(1, 3):is_contiguous())
  end)

  it("reject missing, duplicate and invalid axes", function()
    local x = roper.zeros({ 2, 3 })
    assert.error_matches(function() x:transpose(1, 3) end,
      "'transpose' %(expected an axis from 1 to 2")
    assert.error_matches(function() x:transpose(1, 0) end, "got 0")
    assert.error_matches(function() x:permute({ 1 }) end,
      "permute: expected 2 axes for shape %[2, 3%], got 1")
    assert.error_matches(function() x:permute({ 1, 1 }) end,
      "permute: expected each axis of %[2, 3%] once, got 1 as element 2")
    assert.error_matches(function() x:permute({ 1, 3 }) end, "got 3 as element 2")
  end)

  it("have the gradient in the order of their input", function()
    gradients.check(function(x) return x:permute({ 3, 1, 2 }):exp() end, { { 2, 3, 4 } })
    gradients.check(function(x) return x:transpose(1, 3):transpose(2, 1):sin() end, { { 2, 3, 2 } })
  end)
end)

describe("narrow", function()
  it("selects indices from a start on", function()
    local x = roper.arange(0, 12):view({ 3, 4 })
    assert.same({ { 1, 2 }, { 5, 6 }, { 9, 10 } }, x:narrow(2, 2, 2):totable())
    assert.same({ { 8, 9, 10, 11 } }, x:narrow(-2, 3, 1):totable())
    assert.same({ 3, 0 }, x:narrow(2, 5, 0):shape())
    x:narrow(1, 2, 1):fill(0)
    assert.equal(0, x[2]:sum():item())
  end)

  it("rejects indices out of range", function()
    local x = roper.zeros({ 3, 4 })
    assert.error_matches(function() x:narrow(2, 4, 2) end,
      "narrow: 2 elements from 4 on are outside axis 2 of %[3, 4%]")
    assert.error_matches(function() x:narrow(1, 1, 2 ^ 62) end, "narrow: .* outside axis 1")
    assert.error_matches(function() x:narrow(1, math.maxinteger, 1) end, "outside axis 1")
    assert.error_matches(function() x:narrow(3, 1, 1) end, "an axis from 1 to 2")
  end)

  it("has its gradient at the selected elements, as indexing does", function()
    gradients.check(function(x) return x:narrow(2, 2, 2):square() end, { { 3, 4 } })
    gradients.check(function(x) return x[{ {}, { 2, 3 } }]:square() + x[2]:sum() end, { { 3, 4 } })
    gradients.check(function(x) return x[2][-1]:exp() end, { { 3, 4 } })
  end)
end)

describe("expand", function()
  it("repeats elements without storing them", function()
    local x = roper.tensor({ { 1 }, { 2 } })
    assert.same({ { 1, 1, 1 }, { 2, 2, 2 } }, x:expand({ 2, 3 }):totable())
    assert.same({ 4, 2, 1 }, x:expand(4, 2, 1):shape())
    assert.same({ 2, 0 }, x:expand({ 2, 0 }):shape())
    local before = roper.memory().live
    local large = x:expand({ 1 << 20, 1 << 15, 2, 3 })
    assert.equal(3 << 36, large:count())
    assert.is_true(roper.memory().live - before < 10000)
    assert.error_matches(function() large:contiguous() end, "contiguous: out of memory")
  end)

  it("rejects shapes that do not match or are invalid", function()
    local x = roper.ones({ 1 })
    assert.error_matches(function() x:expand({ 1 << 32, 1 << 32 }) end, "more elements than can be")
    assert.error_matches(function() roper.ones({ 2 }):expand({ 3 }) end,
      "broadcast: %[2%] does not broadcast to %[3%]")
    assert.error_matches(function() roper.ones({ 1, 1 }):expand({ 1 }) end, "does not broadcast")
  end)

  it("sums the gradient over repeated elements", function()
    gradients.check(function(x) return x:expand({ 4, 2, 3 }):sin() end, { { 2, 1 } })
    gradients.check(function(x) return x:expand({ 5 }):exp() end, { {} })
  end)
end)

describe("squeeze and unsqueeze", function()
  it("drop and add axes of size 1", function()
    local x = roper.arange(0, 6):view({ 2, 1, 3 })
    assert.same({ 2, 3 }, x:squeeze(2):shape())
    assert.same({ 1, 2, 1, 3 }, x:unsqueeze(1):shape())
    assert.same({ 2, 1, 3, 1 }, x:unsqueeze(4):shape())
    assert.same({ 2, 1, 3, 1 }, x:unsqueeze(-1):shape())
    assert.same(x:squeeze(2):totable(), x:transpose(1, 2):squeeze(1):totable())
    assert.same({ 1 }, roper.tensor(3):unsqueeze(1):shape())
    gradients.check(function(y) return y:unsqueeze(2):squeeze(2):exp() end, { { 2, 3 } })
  end)

  it("reject other sizes and axes", function()
    assert.error_matches(function() roper.ones({ 2, 3 }):squeeze(1) end,
      "squeeze: expected size 1 on axis 1, got shape %[2, 3%]")
    assert.error_matches(function() roper.ones({ 2 }):unsqueeze(3) end, "an axis from 1 to 2")
    assert.error_matches(function() roper.ones({ 1, 1, 1, 1, 1, 1, 1, 1 }):unsqueeze(1) end,
      "unsqueeze: expected fewer than 8 axes, got shape ")
  end)
end)

describe("clone, contiguous and detach", function()
  it("share storage or copy it, as documented", function()
    local x = roper.arange(0, 6):view({ 2, 3 })
    local t = x:transpose(1, 2)
    local clone, packed, same = t:clone(), t:contiguous(), x:contiguous()
    local detached = x:detach()
    x[{ 1, 1 }] = 9
    assert.equal(0, clone[{ 1, 1 }]:item())
    assert.equal(0, packed[{ 1, 1 }]:item())
    assert.equal(9, same[{ 1, 1 }]:item())
    assert.equal(9, detached[{ 1, 1 }]:item())
  end)

  it("pass on the gradient, except for detach", function()
    gradients.check(function(x) return x:clone():square() end, { { 2, 3 } })
    gradients.check(function(x) return x:contiguous():square() end, { { 2, 3 } })
    gradients.check(function(x) return x:to("float64"):square() end, { { 2, 3 } })
    local w = roper.ones({ 2 }):parameter()
    local loss = (w * w:detach()):sum()
    loss:backward()
    assert.same({ 1, 1 }, w.grad:totable())
    assert.error_matches(function() w:detach():sum():backward() end, "computed from a parameter")
  end)

  it("pass on the gradient in the dtype of the input", function()
    local w = roper.tensor({ 1, 2 }):parameter()
    w:to("float64"):square():sum():backward()
    assert.equal("float32", w.grad:dtype())
    assert.same({ 2, 4 }, w.grad:totable())
  end)
end)
