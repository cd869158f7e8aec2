local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("cross_entropy", function()
  it("agrees with PyTorch, also in gradients", function()
    golden.each("cross_entropy", function(values, tolerance)
      for name, options in pairs({ all = {}, ignored = { ignore = 7 } }) do
        local logits = values.logits:clone():parameter()
        local loss = roper.cross_entropy(logits, values.targets, options)
        loss:backward()
        arrays.close(values[name .. ".mean"], loss, tolerance)
        arrays.close(values[name .. ".dlogits"], logits.grad, tolerance)
        logits.grad, options.reduction = nil, "none"
        local each = roper.cross_entropy(logits, values.targets, options)
        each:backward(values[name .. ".dy"])
        arrays.close(values[name .. ".each"], each, tolerance)
        arrays.close(values[name .. ".each_dlogits"], logits.grad, tolerance)
      end
    end)
  end)

  it("has gradients for each of its options", function()
    roper.seed(1)
    local targets = roper.tensor({ { 0, 3, 1 }, { 2, 3, 3 } }, "int32")
    for _, options in ipairs({ {}, { reduction = "none" }, { ignore = 3 },
      { ignore = 3, reduction = "none" } }) do
      gradients.check(function(x) return roper.cross_entropy(x, targets, options) * 3 end,
        { { 2, 3, 4 } })
      gradients.check(function(x)
        return roper.cross_entropy(x, targets:transpose(1, 2), options):exp()
      end, { { 3, 2, 4 } })
    end
    local one = roper.tensor(2, "int32")
    gradients.check(function(x) return roper.cross_entropy(x, one) end, { { 4 } })
    gradients.check(function(x)
      return roper.cross_entropy(x, one, { reduction = "none" })
    end, { { 4 } })
  end)

  it("is log n for equal logits, and exact for large ones", function()
    local targets = roper.zeros({ 3 }, "int32")
    arrays.close(roper.tensor(math.log(50)),
      roper.cross_entropy(roper.zeros({ 3, 50 }), targets), 1e-6)
    assert.equal(0, roper.cross_entropy(roper.tensor({ { 1e4, -1e4 } }),
      roper.zeros({ 1 }, "int32")):item())
    assert.equal(2e4, roper.cross_entropy(roper.tensor({ { -1e4, 1e4 } }),
      roper.zeros({ 1 }, "int32")):item())
  end)

  it("does not change if a large number is added to the logits, nor do gradients", function()
    local targets = roper.zeros({ 1 }, "int32")
    for _, dtype in ipairs({ "float32", "float64" }) do
      for _, shift in ipairs({ 1e4, -1e6, 1e7, 1e8 }) do
        local x = roper.tensor({ { shift, shift, shift - 1000 } }, dtype):parameter()
        local loss = roper.cross_entropy(x, targets)
        loss:backward()
        arrays.close(roper.tensor(math.log(2), dtype), loss, 1e-7, dtype .. " " .. shift)
        arrays.close(roper.tensor({ { -0.5, 0.5, 0 } }, dtype), x.grad, 1e-7)
      end
    end
  end)

  it("returns 0 for ignored rows, and an error for the mean of none", function()
    local x, targets = roper.randn({ 2, 3 }):parameter(), roper.full({ 2 }, -1, "int32")
    local each = roper.cross_entropy(x, targets, { reduction = "none" })
    assert.same({ 0, 0 }, each:totable())
    each:sum():backward()
    assert.equal(0, x.grad:abs():max():item())
    assert.error_matches(function() roper.cross_entropy(x, targets) end,
      "cross_entropy: every target is ignored")
    assert.error_matches(function()
      roper.cross_entropy(roper.zeros({ 0, 3 }), roper.zeros({ 0 }, "int32"))
    end, "cross_entropy: every target is ignored")
    assert.same({ 0 }, roper.cross_entropy(roper.zeros({ 0, 3 }), roper.zeros({ 0 }, "int32"),
      { reduction = "none" }):shape())
  end)

  it("rejects targets out of range, other shapes and unknown options", function()
    local x = roper.zeros({ 2, 3 })
    local function loss(targets, options)
      return function() roper.cross_entropy(x, roper.tensor(targets, "int32"), options) end
    end
    assert.error_matches(loss({ 0, 3 }),
      "cross_entropy: targets: expected classes from 0 to 2, the number of logits minus 1, "
        .. "got 3 as element 2")
    assert.error_matches(loss({ -2, 0 }), "from 0 to 2, .*, got %-2 as element 1")
    assert.error_matches(loss({ -1, 0 }, { ignore = 5 }), "got %-1 as element 1")
    local shapes = "cross_entropy: expected float logits %[..., n%] and int32 targets %[...%], got "
    assert.error_matches(loss({ 0, 1, 2 }), shapes .. "float32 %[2, 3%] and int32 %[3%]")
    assert.error_matches(loss({ { 0, 1 } }), shapes)
    assert.error_matches(function() roper.cross_entropy(x, x[{ {}, 1 }]) end, shapes)
    assert.error_matches(function()
      roper.cross_entropy(roper.tensor(1), roper.tensor(1, "int32"))
    end, shapes)
    assert.error_matches(function()
      roper.cross_entropy(roper.zeros({ 2, 0 }), roper.zeros({ 2 }, "int32"))
    end, shapes)
    assert.error_matches(loss({ 0, 1 }, { ignore = 0.5 }), "option ignore: expected an integer")
  end)
end)
