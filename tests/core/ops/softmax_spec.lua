local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

local inf = math.huge

describe("softmax and log_softmax", function()
  it("agree with PyTorch, gradients too", function()
    golden.each("softmax", function(values, tolerance)
      for axis = 1, 2 do
        for _, name in ipairs({ "softmax", "log_softmax" }) do
          local x = values.x:clone():parameter()
          local y = roper[name](x, axis)
          y:backward(values.dy)
          arrays.close(values[name .. axis .. ".y"], y, tolerance, name)
          arrays.close(values[name .. axis .. ".dx"], x.grad, tolerance, name .. " gradient")
        end
      end
    end)
  end)

  it("have gradients along every axis", function()
    roper.seed(1)
    for _, shape in ipairs({ { 5 }, { 3, 4 }, { 2, 3, 2 } }) do
      for axis = 1, #shape do
        gradients.check(function(x) return x:softmax(axis) end, { shape })
        gradients.check(function(x) return x:log_softmax(axis) end, { shape })
      end
    end
    gradients.check(function(x) return x:softmax():log() * x end, { { 2, 600 } },
      { layouts = false })
  end)

  it("take the last axis by default", function()
    local x = roper.randn({ 2, 3 })
    assert.same(x:softmax(2):totable(), x:softmax():totable())
    assert.same(x:log_softmax(-1):totable(), x:log_softmax():totable())
  end)

  it("sum to 1 and do not overflow", function()
    arrays.each_seed(10, function()
      local x = arrays.random_layout({ math.random(5), math.random(700) }) * 30
      arrays.close(roper.ones({ x:size(1) }), x:softmax(2):sum(2), 1e-5)
      arrays.close(x:softmax(2), x:log_softmax(2):exp(), 1e-5)
    end)
    for _, dtype in ipairs({ "float32", "float64" }) do
      local x = roper.tensor({ 1e4, 1e4 - 1, -1e4, -inf }, dtype)
      local expected = roper.tensor({ 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(1)), 0, 0 }, dtype)
      arrays.close(expected, x:softmax(), 1e-7)
      assert.equal(-inf, x:log_softmax()[4]:item())
    end
  end)

  it("keep their precision if a large number is added to a row, also in gradients", function()
    for _, dtype in ipairs({ "float32", "float64" }) do
      for _, shift in ipairs({ 0, 1e4, -1e6, 1e7, 1e8 }) do
        local x = roper.tensor({ shift, shift, shift - 1000 }, dtype):parameter()
        local y = x:log_softmax()
        local expected = roper.tensor({ -math.log(2), -math.log(2), -1000 - math.log(2) }, dtype)
        arrays.close(expected, y, 1e-7, dtype .. " " .. shift)
        y[1]:backward()
        arrays.close(roper.tensor({ 0.5, -0.5, 0 }, dtype), x.grad, 1e-7, dtype .. " " .. shift)
      end
    end
    roper.seed(1)
    local x = (roper.randn({ 40, 700 }) + 1e4):to("float64") -- as float32 holds it
    arrays.close(x:log_softmax(), x:to("float32"):log_softmax(), 1e-6)
  end)

  it("are NaN if an element is NaN or all are minus infinity", function()
    for _, row in ipairs({ { 0 / 0, 1, 2 }, { -inf, -inf, -inf }, { inf, 1, 2 } }) do
      for _, dtype in ipairs({ "float32", "float64" }) do
        local y = roper.tensor(row, dtype):softmax()[1]:item()
        assert.is_true(y ~= y)
      end
    end
  end)

  it("return empty tensors for empty tensors", function()
    assert.same({ 0, 3 }, roper.zeros({ 0, 3 }):softmax(2):shape())
    assert.same({ 3, 0 }, roper.zeros({ 3, 0 }):softmax(2):shape())
    assert.same({ 3, 0 }, roper.zeros({ 3, 0 }):log_softmax(1):shape())
  end)
end)
