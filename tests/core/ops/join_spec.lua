local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("cat", function()
  it("joins along every axis, for random layouts", function()
    arrays.each_seed(60, function(seed)
      local dtype = ({ "float32", "float64", "int32" })[seed % 3 + 1]
      local shape = arrays.random_shape(1, 4, 4)
      local axis = math.random(#shape)
      local parts, from, sizes, total = {}, {}, {}, 0
      for i = 1, math.random(4) do
        local own = table.move(shape, 1, #shape, 1, {})
        own[axis] = math.random(0, 3)
        parts[i] = arrays.random_layout(own, "float64"):mul(100):to(dtype)
        from[i], sizes[i] = arrays.from(parts[i]), own[axis]
        total = total + own[axis]
      end
      shape[axis] = total
      arrays.check(arrays.make(shape, function(at)
        local part, place = 1, table.move(at, 1, #at, 1, {})
        while place[axis] >= sizes[part] do
          place[axis] = place[axis] - sizes[part]
          part = part + 1
        end
        return arrays.get(from[part], place)
      end), roper.cat(parts, axis), 0, "cat")
    end)
  end)

  it("has the gradient of each part", function()
    roper.seed(1)
    for axis = 1, 2 do
      gradients.check(function(x, y, z)
        return roper.cat({ x, axis == 1 and y or y:transpose(1, 2), z }, axis):sin()
      end, { { 3, 3 }, { 2, 3 }, { 3, 3 } })
    end
    gradients.check(function(x) return roper.cat({ x, x:exp(), x }):sin() end, { { 2, 3 } })
    local fixed = roper.ones({ 2 }, "float64")
    gradients.check(function(x) return roper.cat({ fixed, x, fixed }):sin() end, { { 3 } })
    gradients.check(function(x)
      local many = {}
      for i = 1, 20 do
        many[i] = x * i
      end
      return roper.cat(many):sin()
    end, { { 2 } })
  end)

  it("accepts a list that creates its tensors", function()
    local made = setmetatable({}, {
      __len = function() return 3 end,
      __index = function(_, i) return roper.full({ 1000 }, i) end,
    })
    local whole = roper.cat(made)
    assert.same({ 3000 }, whole:shape())
    assert.equal(6000, whole:sum():item())
  end)

  it("rejects what does not fit", function()
    local x = roper.ones({ 2, 3 })
    assert.error_matches(function() roper.cat({ x, roper.ones({ 3, 3 }) }, 2) end,
      "axis 2, expected float32 tensors like %[2, 3%], got float32 %[3, 3%] as element 2$")
    assert.error_matches(function() roper.cat({ x, x:to("int32") }) end,
      "got int32 %[2, 3%] as element 2; convert one with :to%(%)$")
    assert.error_matches(function() roper.cat({ x, x[1] }) end, "got float32 %[3%]")
    assert.error_matches(function() roper.cat({ x, 5 }) end,
      "cat: expected a tensor as element 2, got number")
    assert.error_matches(function() roper.cat({}) end, "cat: expected at least one tensor")
    assert.error_matches(function() roper.cat({ roper.tensor(1) }) end, "got scalars; use stack")
    assert.error_matches(function() roper.cat({ x }, 3) end, "an axis from 1 to 2")
    local long = {}
    for i = 1, 64 do
      long[i] = roper.zeros({ 1 }):expand(1 << 58)
    end
    assert.error_matches(function() roper.cat(long) end, "cat: the size of axis 1 would overflow")
    assert.error_matches(function()
      roper.cat(setmetatable({}, { __len = function() return 1 << 40 end }))
    end, "cat: expected a list of at most 4096 tensors, got 1099511627776")
  end)
end)
