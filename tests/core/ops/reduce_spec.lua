local gradients = require("tests.gradients")
local roper = require("roper")

describe("gradients of reductions", function()
  for _, name in ipairs({ "sum", "mean", "max", "min" }) do
    it(name .. " along every axis, kept or not", function()
      roper.seed(1)
      for _, shape in ipairs({ { 5 }, { 3, 4 }, { 2, 3, 2 }, { 2, 1, 2, 3 } }) do
        for axis = 1, #shape do
          for _, keep in ipairs({ false, true }) do
            gradients.check(function(x) return x[name](x, axis, keep):sin() end, { shape },
              { layouts = name == "sum" or name == "mean" })
            -- an expanded input has ties, where extrema have no derivative
          end
        end
      end
    end)

    it(name .. " over everything, kept or not", function()
      roper.seed(2)
      for _, shape in ipairs({ {}, { 5 }, { 3, 4 } }) do
        for _, keep in ipairs({ false, true }) do
          gradients.check(function(x) return x[name](x, nil, keep):sin() end, { shape },
            { layouts = name == "sum" or name == "mean" })
        end
      end
    end)

    it(name .. " of a transposed view", function()
      roper.seed(3)
      for axis = 1, 3 do
        gradients.check(function(x) return roper[name](x:transpose(1, 3), axis):exp() end,
          { { 2, 3, 4 } }, { layouts = false })
      end
    end)
  end

  it("over several axes, next to each other or apart, kept or not", function()
    roper.seed(5)
    for _, axes in ipairs({ { 1, 2 }, { 3, 1 }, { 2, -1 }, { 1, 2, 3 }, { 2 } }) do
      for _, keep in ipairs({ false, true }) do
        for _, name in ipairs({ "sum", "mean", "max" }) do
          gradients.check(function(x) return x[name](x, axes, keep):sin() end, { { 2, 3, 2 } },
            { layouts = name ~= "max" })
        end
      end
    end
  end)

  it("of an extremum goes to its first occurrence", function()
    local x = roper.tensor({ 1, 3, 3, 0, 0 }):parameter()
    x:max():backward()
    assert.same({ 0, 1, 0, 0, 0 }, x.grad:totable())
    x.grad = nil
    x:min(1, true):sum():backward()
    assert.same({ 0, 0, 0, 1, 0 }, x.grad:totable())
  end)

  it("of an empty sum is empty", function()
    local x = roper.zeros({ 0, 2 }):parameter()
    x:sum(1):sum():backward()
    x:sum():backward()
    assert.same({ 0, 2 }, x.grad:shape())
  end)

  it("do not exist for the indices of extrema", function()
    local x = roper.ones({ 3 }):parameter()
    assert.error_matches(function() x:argmax(1):to("float32"):sum():backward() end,
      "expected a tensor computed from a parameter")
  end)
end)

describe("gradient of cumsum", function()
  it("is the sum from the end, along every axis", function()
    roper.seed(4)
    for _, shape in ipairs({ { 5 }, { 3, 4 }, { 2, 3, 2 } }) do
      for axis = 1, #shape do
        gradients.check(function(x) return x:cumsum(axis):sin() end, { shape })
      end
    end
  end)
end)
