local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

-- Loss and gradients of the operation, or of the two that it is made of.
local function outcome(f, x, weight, bias, ...)
  local inputs = { x:clone():parameter(), weight:clone():parameter(),
    bias and bias:clone():parameter() }
  local loss = f(inputs[1], inputs[2], inputs[3], ...)
  if loss:rank() == 0 then
    loss:backward()
  else
    (loss * loss):sum():backward()
  end
  return { loss, inputs[1].grad, inputs[2].grad, inputs[3] and inputs[3].grad }
end

local function apart(x, weight, bias, targets, options)
  options = { ignore = options and options.ignore, reduction = options and options.reduction }
  return roper.cross_entropy(roper.linear(x, weight, bias), targets, options)
end

describe("linear_cross_entropy", function()
  local targets = roper.tensor({ { 0, 3, 1 }, { 4, 3, 3 } }, "int32")

  it("agrees with PyTorch, also in gradients", function()
    golden.each("linear_cross_entropy", function(values, tolerance)
      for name, ignore in pairs({ all = -1, ignored = 7 }) do
        for rows = 1, 8 do
          local got = outcome(roper.linear_cross_entropy, values.x, values.weight, values.bias,
            values.targets, { ignore = ignore, rows = rows })
          for i, key in ipairs({ "mean", "dx", "dweight", "dbias" }) do
            arrays.close(values[name .. "." .. key], got[i], tolerance)
          end
        end
      end
    end)
  end)

  it("is the same for logits that a large number is added to", function()
    for _, dtype in ipairs({ "float32", "float64" }) do
      for _, shift in ipairs({ 1e4, -1e6, 1e7, 1e8 }) do
        local got = outcome(roper.linear_cross_entropy, roper.ones({ 3, 1 }, dtype),
          roper.tensor({ { shift }, { shift }, { shift - 1000 } }, dtype), nil,
          roper.zeros({ 3 }, "int32"), { rows = 2 })
        arrays.close(roper.tensor(math.log(2), dtype), got[1], 1e-7, dtype .. " " .. shift)
        arrays.close(roper.tensor({ { -0.5 }, { 0.5 }, { 0 } }, dtype), got[3], 1e-6)
      end
    end
  end)

  it("is linear and cross_entropy, bit for bit if all rows are computed at once", function()
    roper.seed(1)
    for _, sizes in ipairs({ { 6, 4, 5 }, { 40, 32, 17 }, { 500, 128, 90 }, { 90, 16, 700 } }) do
      local rows, inputs, classes = table.unpack(sizes)
      local x, weight = roper.randn({ rows, inputs }), roper.randn({ classes, inputs })
      local ids = (roper.rand({ rows }) * classes):floor():to("int32")
      for _, bias in ipairs({ roper.randn({ classes }), false }) do
        local expected = outcome(apart, x, weight, bias or nil, ids)
        local whole = outcome(roper.linear_cross_entropy, x, weight, bias or nil, ids)
        local sliced = outcome(roper.linear_cross_entropy, x, weight, bias or nil, ids,
          { rows = 7 })
        for i, tensor in ipairs(expected) do
          arrays.close(tensor, whole[i], 0)
          arrays.close(tensor, sliced[i], 1e-4)
        end
      end
    end
  end)

  it("has the same losses and gradients with each, and without ignored rows", function()
    roper.seed(2)
    local x, weight = roper.randn({ 2, 3, 4 }, "float64"), roper.randn({ 5, 4 }, "float64")
    local bias = roper.randn({ 5 }, "float64")
    for _, rows in ipairs({ 1, 2, 3, 5, 6, 100 }) do
      for _, options in ipairs({ { ignore = 3 }, { reduction = "none" },
        { ignore = 3, reduction = "none" } }) do
        options.rows = rows
        local expected = outcome(apart, x, weight, bias, targets, options)
        local got = outcome(roper.linear_cross_entropy, x, weight, bias, targets, options)
        for i, tensor in ipairs(expected) do
          arrays.close(tensor, got[i], 1e-12)
        end
      end
    end
  end)

  it("has gradients for each of its options", function()
    roper.seed(3)
    for _, options in ipairs({ {}, { rows = 1 }, { rows = 4 }, { reduction = "none" },
      { reduction = "none", rows = 4 }, { ignore = 3, rows = 2 } }) do
      gradients.check(function(x, weight, bias)
        return roper.linear_cross_entropy(x, weight, bias, targets, options) * 3
      end, { { 2, 3, 4 }, { 5, 4 }, { 5 } })
      gradients.check(function(x, weight)
        return roper.linear_cross_entropy(x, weight, nil, targets, options):exp()
      end, { { 2, 3, 4 }, { 5, 4 } })
    end
    gradients.check(function(x) -- one tensor is x and the weight, as tied embeddings nearly are
      return roper.linear_cross_entropy(x, x, nil, roper.tensor({ 2, 0, 1 }, "int32"),
        { rows = 2 })
    end, { { 3, 3 } })
  end)

  it("computes only the gradients that are needed, and adds to existing ones", function()
    roper.seed(4)
    local x, weight, bias = roper.randn({ 2, 3, 4 }), roper.randn({ 5, 4 }), roper.randn({ 5 })
    local expected = outcome(apart, x, weight, bias, targets)
    weight:parameter()
    for times = 1, 2 do
      roper.linear_cross_entropy(x, weight, bias, targets, { rows = 4 }):backward()
      arrays.close(expected[3] * times, weight.grad, 1e-5)
    end
    assert.is_nil(x.grad)
    assert.is_nil(bias.grad)
    local loss = roper.no_grad(roper.linear_cross_entropy, x, weight, bias, targets)
    arrays.close(expected[1], loss, 1e-6)
    assert.error_matches(function() loss:backward() end, "computed from a parameter")
  end)

  it("needs memory for a slice of the logits only", function()
    local rows, inputs, classes = 4096, 8, 1000
    local x, weight = roper.randn({ rows, inputs }):parameter(), roper.randn({ classes, inputs })
    local ids = roper.zeros({ rows }, "int32")
    local function within(f, ...)
      collectgarbage()
      roper.memory_limit(roper.memory().live + rows * classes) -- a quarter of all logits
      local ok, result = pcall(f, x, weight, nil, ids, ...)
      roper.memory_limit(0)
      return ok, result
    end
    local ok, loss = within(roper.linear_cross_entropy, { rows = 64 })
    assert.is_true(ok, loss)
    loss:backward()
    local fits, problem = within(apart)
    assert.is_false(fits)
    assert.truthy(tostring(problem):find("out of memory", 1, true))
  end)

  it("gives gradients of 0 if there are no rows", function()
    local x, weight = roper.zeros({ 0, 4 }):parameter(), roper.ones({ 5, 4 }):parameter()
    local none = roper.zeros({ 0 }, "int32")
    local each = roper.linear_cross_entropy(x, weight, nil, none, { reduction = "none" })
    assert.same({ 0 }, each:shape())
    each:sum():backward()
    assert.equal(0, weight.grad:abs():max():item())
    assert.error_matches(function() roper.linear_cross_entropy(x, weight, nil, none) end,
      "linear_cross_entropy: every target is ignored")
  end)

  it("rejects what does not fit", function()
    local x, weight, bias = roper.zeros({ 2, 3, 4 }), roper.zeros({ 5, 4 }), roper.zeros({ 5 })
    local function call(...)
      local given = table.pack(...)
      return function() roper.linear_cross_entropy(table.unpack(given, 1, given.n)) end
    end
    local shapes = "linear_cross_entropy: expected x %[..., in%], weight %[classes, in%], "
      .. "bias %[classes%] and targets %[...%], got "
    assert.error_matches(call(x, roper.zeros({ 5, 3 }), nil, targets),
      shapes .. "%[2, 3, 4%], %[5, 3%], none and %[2, 3%]")
    assert.error_matches(call(x, weight, roper.zeros({ 4 }), targets), shapes)
    assert.error_matches(call(x, weight, bias, targets[1]), shapes)
    assert.error_matches(call(x, roper.zeros({ 0, 4 }), nil, targets), shapes)
    assert.error_matches(call(x, weight:to("float64"), nil, targets),
      "expected floats of the same dtype and int32 targets, got x float32, weight float64")
    assert.error_matches(call(x, weight, bias, targets:to("float32")), "targets float32")
    assert.error_matches(call(x, weight, bias, targets + 1),
      "linear_cross_entropy: targets: expected classes from 0 to 4, the number of logits minus 1, "
        .. "got 5 as element 4")
    assert.error_matches(call(x, weight, bias, targets, { rows = -1 }),
      "option rows: expected an integer from 0")
  end)
end)
