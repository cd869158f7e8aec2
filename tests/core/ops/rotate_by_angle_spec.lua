local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

local BOTH <const> = { false, true }

--- x rotated by angles from the formula, one element at a time.
local function rotated(x, angle, inverse)
  local from, angles = arrays.from(x), arrays.from(angle)
  local pairs_, sign = angle:size(-1), inverse and -1 or 1
  return arrays.make(from.shape, function(at)
    local i = at[#at]
    if i >= 2 * pairs_ then
      return arrays.get(from, at)
    end
    local partner, place = table.move(at, 1, #at, 1, {}), table.move(at, 1, #at, 1, {})
    partner[#at], place[#at] = (i + pairs_) % (2 * pairs_), i % pairs_
    local a = sign * arrays.get(angles, place)
    return arrays.get(from, at) * math.cos(a)
      + arrays.get(from, partner) * math.sin(a) * (i < pairs_ and -1 or 1)
  end)
end

describe("rotate by angles", function()
  it("agrees with PyTorch, also in gradients", function()
    for _, name in ipairs({ "each", "rows", "heads", "both", "fewer", "two_axes", "one" }) do
      for _, inverse in ipairs(BOTH) do
        golden.each("rotate_" .. name .. (inverse and "_back" or ""), function(values, tolerance)
          local x, angle = values.x:clone():parameter(), values.angle:clone():parameter()
          local y = roper.rotate(x, angle, inverse)
          y:backward(values.dy)
          local rounding = tolerance * 10 -- angles up to 60 are inputs in float32
          arrays.close(values.y, y, rounding, name)
          arrays.close(values.dx, x.grad, rounding, name)
          arrays.close(values.dangle, angle.grad, rounding, name)
        end, "time_axis")
      end
    end
  end)

  it("follows the formula for every layout of both, and undoes itself", function()
    arrays.each_seed(40, function(seed)
      local dtype = seed % 3 == 0 and "float32" or "float64"
      local features = math.random(0, 9)
      local x = arrays.random_layout({ 2, 3, 5, features }, dtype)
      local angle = arrays.random_layout({ math.random(1, 2), 1 + 2 * math.random(0, 1), 5,
        math.random(0, features // 2) }, seed % 2 == 0 and "float32" or "float64")
      local tolerance = dtype == "float32" and 2e-6 or 1e-14
      for _, inverse in ipairs(BOTH) do
        arrays.check(rotated(x, angle, inverse), roper.rotate(x, angle, inverse), tolerance)
      end
      arrays.check(arrays.from(x), x:rotate(angle):rotate(angle, true), tolerance)
    end)
  end)

  it("has the gradients of x and of the angles, together and alone", function()
    roper.seed(1)
    for _, inverse in ipairs(BOTH) do
      for _, shape in ipairs({ { 2, 3, 4, 3 }, { 1, 3, 4, 1 }, { 2, 1, 4, 3 }, { 1, 1, 4, 2 },
        { 4, 2 }, { 4, 0 } }) do
        gradients.check(function(x, angle) return roper.rotate(x, angle, inverse):sin() end,
          { { 2, 3, 4, 7 }, shape })
      end
    end
    for _, batch in ipairs({ 1, 2 }) do -- time before heads in memory
      gradients.check(function(x, angle)
        return roper.rotate(x:transpose(2, 3), angle:transpose(2, 3)):sin()
      end, { { 2, 4, 3, 6 }, { batch, 4, 3, 2 } }, { layouts = false })
    end
    local x, angle = roper.randn({ 2, 4, 6 }, "float64"), roper.randn({ 1, 4, 3 }, "float64")
    gradients.check(function(z) return roper.rotate(z, angle):sin() end, { { 2, 4, 6 } })
    gradients.check(function(a) return roper.rotate(x, a, true):sin() end, { { 1, 4, 3 } })
  end)

  it("adds up the gradients of four rotations by the same tensor", function()
    roper.seed(2)
    gradients.check(function(x, angle)
      return roper.rotate(roper.rotate(x, angle):sin() * roper.rotate(x * x, angle), angle, true)
    end, { { 2, 2, 3, 4 }, { 1, 2, 3, 2 } })
    gradients.check(function(x, angle) -- whose gradients have time before heads in memory
      angle = angle:transpose(2, 3)
      return roper.rotate(roper.rotate(x, angle):sin() * roper.rotate(x * x, angle), angle, true)
    end, { { 2, 2, 3, 4 }, { 2, 3, 2, 2 } })
  end)

  it("gives the gradient of the angles in their own dtype, exact for x in float32", function()
    roper.seed(3)
    for _, dtype in ipairs({ "float32", "float64" }) do
      local x, angle = roper.randn({ 50, 4, 3, 8 }), roper.randn({ 3, 4, 4 }, dtype):parameter()
      local dy = roper.randn({ 50, 4, 3, 8 })
      roper.rotate(x, angle:view({ 1, 3, 4, 4 }):transpose(2, 3)):backward(dy)
      local same = angle:detach():to("float64"):parameter()
      roper.rotate(x:to("float64"), same:transpose(1, 2)):backward(dy:to("float64"))
      assert.equal(dtype, angle.grad:dtype())
      arrays.close(same.grad, angle.grad:to("float64"), 2e-5)
    end
  end)

  it("rotates by large angles exactly, and NaN and infinity give NaN", function()
    roper.seed(4)
    for dtype, tolerance in pairs({ float32 = 1e-7, float64 = 4e-16 }) do
      for _, scale in ipairs({ 1e-30, 1e-3, 1, 1e3, 1e6, 1e9, 1e18 }) do
        local angle = (roper.rand({ 300, 70 }, "float64") * 2 - 1) * scale
        local one = roper.cat({ roper.ones({ 300, 70 }, dtype), roper.zeros({ 300, 70 }, dtype) },
          2)
        local y = roper.rotate(one, angle):to("float64")
        arrays.close(angle:cos(), y:narrow(2, 1, 70), tolerance)
        arrays.close(angle:sin(), y:narrow(2, 71, 70), tolerance)
      end
      local quarters = roper.arange(-400, 400, 1, "float64") * (math.pi / 2)
      local y = roper.rotate(roper.cat({ roper.ones({ 800 }, dtype), roper.zeros({ 800 }, dtype) },
        1), quarters):to("float64")
      arrays.close(quarters:cos():to(dtype):to("float64"), y:narrow(1, 1, 800), tolerance)
      local tiny = (y:narrow(1, 801, 800) - quarters:sin()):abs():max():item()
      assert.is_true(tiny <= tolerance, tiny)
    end
    local odd = roper.tensor({ 0 / 0, math.huge, -math.huge, -0.0, 0.5 })
    local y = roper.rotate(roper.ones({ 10 }), odd)
    assert.same({ 1, 1, 1, 0, 0 }, y:isnan():narrow(1, 1, 5):totable())
    assert.same({ 1, 1, 1, 0, 0 }, y:isnan():narrow(1, 6, 5):totable())
    assert.equal(1, y[4]:item())
  end)

  it("keeps a small angle and a zero near a multiple of pi exact", function()
    local angle = roper.tensor({ 1e-30, math.pi, 2 * math.pi, 1e5 * math.pi }, "float64")
    local one = roper.tensor({ 1, 1, 1, 1, 0, 0, 0, 0 }, "float64")
    local y = roper.rotate(one, angle)
    for i = 1, 4 do
      local sine = math.sin(angle[i]:item())
      assert.is_true(math.abs(y[4 + i]:item() - sine) <= 4e-16 * math.abs(sine))
    end
  end)

  it("uses angles that were changed in place, and their earlier values in backward", function()
    local angle, x = roper.zeros({ 1 }), roper.tensor({ 1, 0 }):parameter()
    local before = roper.rotate(x, angle)
    angle:fill(math.pi / 2)
    arrays.close(roper.tensor({ 0, 1 }), roper.rotate(x, angle):detach(), 1e-7)
    before:backward(roper.tensor({ 1, 2 }))
    arrays.close(roper.tensor({ 1, 2 }), x.grad, 0)
    arrays.close(roper.tensor({ 0, 1 }, "float64"),
      roper.rotate(roper.tensor({ 1, 0 }, "float64"), angle), 1e-7)
    arrays.close(roper.tensor({ 0, 1 }), roper.rotate(x, angle):detach(), 1e-7)
  end)

  it("keeps the cosines of one view of the angles, apart from those of other views", function()
    roper.seed(7)
    local stored, x = roper.randn({ 5, 4, 4 }, "float64"), roper.randn({ 4, 4, 8 }, "float64")
    for _, angle in ipairs({ stored:narrow(1, 1, 4), stored:narrow(1, 1, 4):narrow(3, 1, 2),
      stored:narrow(1, 1, 4), stored:narrow(1, 2, 4),
      stored:narrow(1, 1, 4):narrow(3, 1, 1):squeeze(3), stored:narrow(1, 2, 4):transpose(2, 3),
      stored[1], stored:narrow(1, 1, 1),
      stored:view({ 20, 4 }):narrow(1, 1, 4) }) do
      arrays.check(rotated(x, angle), roper.rotate(x, angle), 1e-14)
      arrays.check(rotated(x, angle, true), roper.rotate(x, angle:detach(), true), 1e-14)
    end
    local function added(f)
      collectgarbage()
      local before = roper.memory().live
      local result = f()
      collectgarbage()
      return roper.memory().live - before, result
    end
    local many, angle = roper.ones({ 1000, 8 }), roper.ones({ 1000, 4 }):parameter()
    local first, y = added(function() return roper.rotate(many, angle) end)
    local again, z = added(function() return roper.rotate(many, angle:view({ 1000, 4 })) end)
    assert.is_true(first > 2 * 32000 and again < 2 * 32000, again)
    arrays.close(y:detach(), z:detach(), 0)
  end)

  it("equals a rotary with the same angles, for time before heads in memory too", function()
    roper.seed(5)
    local rope = roper.position.rope({ dim = 8 })
    local angle = roper.arange(0, 6, 1, "float64"):view({ 6, 1 }) * rope:thetas()
    for _, x in ipairs({ roper.randn({ 2, 3, 6, 8 }), roper.randn({ 2, 6, 3, 8 }):transpose(2, 3),
      roper.randn({ 6, 8 }) }) do
      arrays.close(rope:rotate(x), roper.rotate(x, angle), 1e-6)
      arrays.close(rope:unrotate(x), roper.rotate(x, angle, true), 1e-6)
    end
  end)

  it("is the same with one thread and with two", function()
    local threads, results = roper.threads(), {}
    roper.seed(6)
    local x = roper.randn({ 4, 4, 100, 8 })
    local angle = (roper.randn({ 1, 4, 100, 4 }) * 30):parameter()
    for n = 1, 2 do
      roper.threads(n)
      angle.grad = nil
      local y = roper.rotate(x, angle * 1) -- without the cosines that `angle` keeps
      y:backward(x)
      results[n] = roper.cat({ y:detach():view({ -1 }), angle.grad:view({ -1 }) }, 1)
    end
    roper.threads(threads)
    arrays.close(results[1], results[2], 0)
  end)

  it("accepts empty axes, whose angles have the gradient 0", function()
    for _, shapes in ipairs({
      { { 0, 2, 3, 4 }, { 1, 2, 3, 2 } }, { { 2, 0, 3, 4 }, { 2, 1, 3, 2 } },
      { { 2, 3, 0, 4 }, { 2, 3, 0, 2 } }, { { 2, 3, 4, 0 }, { 1, 1, 4, 0 } },
      { { 0, 1, 1, 4 }, { 0, 1, 1, 1 } } }) do
      local x = roper.zeros(shapes[1]):parameter()
      local angle = roper.ones(shapes[2]):parameter()
      local y = roper.rotate(x, angle)
      assert.same(shapes[1], y:shape())
      y:sum():backward()
      assert.same(shapes[1], x.grad:shape())
      assert.same(shapes[2], angle.grad:shape())
      assert.equal(0, angle.grad:abs():sum():item())
    end
  end)

  it("rejects shapes and dtypes that do not fit", function()
    local x = roper.ones({ 2, 3, 5, 8 })
    local message = "rotate: expected floats x [batch, heads, time, features] and angles [1 or "
      .. "batch, 1 or heads, time, pairs] with at most features / 2 pairs, got "
    for _, case in ipairs({ { x, roper.ones({ 5, 5 }), "float32 [5, 5]" },
      { x, roper.ones({ 1, 4 }), "float32 [1, 4]" }, { x, roper.ones({ 4 }), "float32 [4]" },
      { x, roper.ones({ 3, 3, 5, 4 }), "float32 [3, 3, 5, 4]" },
      { x, roper.ones({ 2, 2, 5, 4 }), "float32 [2, 2, 5, 4]" },
      { x, roper.ones({ 1, 2, 3, 5, 4 }), "float32 [1, 2, 3, 5, 4]" },
      { x, roper.ones({ 5, 4 }, "int32"), "int32 [5, 4]" },
      { x, roper.tensor(1), "float32 []" } }) do
      assert.error_matches(function() roper.rotate(case[1], case[2]) end,
        message .. "float32 [2, 3, 5, 8] and " .. case[3], 1, true)
    end
    for _, other in ipairs({ roper.ones({ 1, 2, 3, 5, 8 }), x:to("int32"), roper.tensor(1) }) do
      assert.error_matches(function() roper.rotate(other, roper.ones({ 1, 1 })) end, message, 1,
        true)
    end
    assert.error_matches(function() roper.rotate(roper.ones({ 5, 8 }), roper.ones({ 1, 5, 4 })) end,
      "got float32 [5, 8] and float32 [1, 5, 4]", 1, true)
  end)
end)
