local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("linear", function()
  it("agrees with PyTorch, also in gradients", function()
    golden.each("linear", function(values, tolerance)
      local x, weight, bias = values.x:clone():parameter(), values.weight:clone():parameter(),
        values.bias:clone():parameter()
      local y = roper.linear(x, weight, bias)
      y:backward(values.dy)
      arrays.close(values.y, y, tolerance)
      arrays.close(values.dx, x.grad, tolerance)
      arrays.close(values.dweight, weight.grad, tolerance)
      arrays.close(values.dbias, bias.grad, tolerance)
    end)
  end)

  it("has gradients with and without a bias, for any number of leading axes", function()
    roper.seed(1)
    for _, shape in ipairs({ { 4 }, { 1, 4 }, { 3, 4 }, { 2, 3, 4 }, { 2, 1, 2, 4 } }) do
      gradients.check(roper.linear, { shape, { 5, 4 }, { 5 } })
      gradients.check(roper.linear, { shape, { 5, 4 } })
    end
    gradients.check(function(x) return roper.linear(x, x, x[1]) end, { { 3, 3 } })
  end)

  it("has gradients with a fused ReLU, which equals relu", function()
    roper.seed(3)
    local function fused(x, w, b)
      return roper.linear(x, w, b, "relu"):sin()
    end
    for _, shape in ipairs({ { 4 }, { 3, 4 }, { 2, 3, 4 } }) do
      gradients.check(fused, { shape, { 5, 4 }, { 5 } })
      gradients.check(function(x, w) return fused(x, w, nil) end, { shape, { 5, 4 } })
    end
    local x, w, b = roper.randn({ 3, 4 }), roper.randn({ 5, 4 }), roper.randn({ 5 })
    arrays.close(roper.linear(x, w, b):relu(), roper.linear(x, w, b, "relu"), 0)
    arrays.close(roper.linear(x, w, b), roper.linear(x, w, b, "none"), 0)
  end)

  it("agrees with matmul on large inputs, with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(2)
    for _, case in ipairs({ { 700, 60, 90 }, { 700, 33, 96 }, { 100, 5, 64 }, { 97, 64, 160 } }) do
      local rows, n, out = table.unpack(case)
      local x, w, b = roper.randn({ rows, n }), roper.randn({ out, n }), roper.randn({ out })
      for number_of_threads = 1, 2 do
        roper.threads(number_of_threads)
        arrays.close(x:matmul(w:transpose(1, 2)) + b, roper.linear(x, w, b), 1e-4)
      end
    end
    roper.threads(threads)
  end)

  it("agrees with sums in Lua for few rows, of any length, with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(5)
    -- Whole vectors and tiles, and some more; the last case is large enough for two threads.
    for _, case in ipairs({ { 1, 1, 1 }, { 2, 16, 4 }, { 3, 17, 5 }, { 5, 31, 3 }, { 6, 64, 8 },
      { 7, 40, 2 }, { 12, 130, 9 }, { 16, 33, 13 }, { 24, 48, 6 }, { 25, 48, 6 }, { 4, 0, 3 },
      { 2, 700, 901 } }) do
      local rows, n, out = table.unpack(case)
      for _, dtype in ipairs({ "float32", "float64" }) do
        local x, w = roper.randn({ rows, n }, dtype), roper.randn({ out, n }, dtype)
        local b = roper.randn({ out }, dtype)
        local sums = (x:to("float64"):unsqueeze(2) * w:to("float64"):unsqueeze(1)):sum(3)
        local tolerance = dtype == "float32" and 1e-4 or 1e-12
        for count = 1, 2 do
          roper.threads(count)
          arrays.close((sums + b:to("float64")):to(dtype), roper.linear(x, w, b), tolerance)
          arrays.close(sums:to(dtype):relu(), roper.linear(x, w, nil, "relu"), tolerance)
        end
      end
    end
    roper.threads(threads)
  end)

  it("gives the same for all rows at once as for pieces, beyond a block of each size", function()
    local threads = roper.threads()
    roper.seed(6)
    local PIECE = 50 -- rows, too few for blocks
    for _, case in ipairs({ { 200, 513, 300 }, { 450, 700, 530 }, { 199, 1100, 33 },
      { 2500, 40, 290 } }) do
      local rows, n, out = table.unpack(case)
      for _, dtype in ipairs({ "float32", "float64" }) do
        local x, w = roper.randn({ rows, n }, dtype), roper.randn({ out, n }, dtype)
        local b = roper.randn({ out }, dtype)
        local tolerance = dtype == "float32" and 3e-4 or 1e-11
        local pieces, products = {}, {}
        for first = 1, rows, PIECE do
          local piece = x:narrow(1, first, math.min(PIECE, rows - first + 1))
          pieces[#pieces + 1] = roper.linear(piece, w, b, "relu")
          products[#products + 1] = piece:matmul(w:transpose(1, 2))
        end
        for count = 1, 2 do
          roper.threads(count)
          arrays.close(roper.cat(pieces, 1), roper.linear(x, w, b, "relu"), tolerance)
          arrays.close(roper.cat(products, 1), x:matmul(w:transpose(1, 2)), tolerance)
          arrays.close(roper.cat(products, 1), x:matmul(w:transpose(1, 2):contiguous()), tolerance)
        end
      end
    end
    roper.threads(threads)
  end)

  it("has the gradients of matmul, for rows within one block and beyond", function()
    local threads = roper.threads()
    roper.seed(4)
    -- Rows that end a block or not; layers that fit the cache, do not, or are no whole vectors.
    for _, case in ipairs({ { 16, 32, 7 }, { 47, 64, 20 }, { 97, 96, 33 }, { 500, 128, 512 },
      { 200, 32, 4100 }, { 60, 33, 50 }, { 3, 64, 64 } }) do
      local rows, n, out = table.unpack(case)
      local x, w, b = roper.randn({ rows, n }), roper.randn({ out, n }), roper.randn({ out })
      local dy = roper.randn({ rows, out })
      for _, activation in ipairs({ "none", "relu" }) do
        local y = roper.linear(x, w, b, activation)
        local dz = activation == "relu" and dy * y:gt(0):to("float32") or dy
        for number_of_threads = 1, 2 do
          roper.threads(number_of_threads)
          local inputs = { x:clone():parameter(), w:clone():parameter(), b:clone():parameter() }
          roper.linear(inputs[1], inputs[2], inputs[3], activation):backward(dy)
          arrays.close(dz:matmul(w), inputs[1].grad, 1e-4)
          arrays.close(dz:transpose(1, 2):matmul(x), inputs[2].grad, 1e-4)
          arrays.close(dz:sum(1), inputs[3].grad, 1e-4)
        end
      end
    end
    roper.threads(threads)
  end)

  it("returns the bias if there are no features, and no rows for no rows", function()
    for _ = 1, 100 do -- what is in memory before is not what comes out
      roper.full({ 3, 2 }, 9)
    end
    collectgarbage()
    local x, w = roper.zeros({ 3, 0 }):parameter(), roper.zeros({ 2, 0 }):parameter()
    local b = roper.tensor({ 5, 6 }):parameter()
    local y = roper.linear(x, w, b)
    assert.same({ { 5, 6 }, { 5, 6 }, { 5, 6 } }, y:totable())
    y:sum():backward()
    assert.same({ 3, 0 }, x.grad:shape())
    assert.same({ 2, 0 }, w.grad:shape())
    assert.same({ 3, 3 }, b.grad:totable())
    local none = roper.zeros({ 0, 4 }):parameter()
    local weight = roper.ones({ 2, 4 }):parameter()
    roper.linear(none, weight, b):sum():backward()
    assert.same({ 0, 4 }, none.grad:shape())
    assert.equal(0, weight.grad:sum():item())
  end)

  it("rejects what does not fit", function()
    local w = roper.ones({ 5, 4 })
    assert.error_matches(function() roper.linear(roper.ones({ 3 }), w) end,
      "linear: expected x %[..., in%] and weight %[out, in%], got %[3%] and %[5, 4%]")
    assert.error_matches(function() roper.linear(roper.tensor(1), w) end, "got %[%] and %[5, 4%]")
    assert.error_matches(function() roper.linear(roper.ones({ 4 }), roper.ones({ 4 })) end,
      "got %[4%] and %[4%]")
    assert.error_matches(function() roper.linear(roper.ones({ 4 }), w, roper.ones({ 4 })) end,
      "linear: expected bias %[5%], got %[4%]")
    assert.error_matches(function() roper.linear(roper.ones({ 4 }, "float64"), w) end,
      "linear: expected floats of the same dtype, got x float64, weight float32, bias none")
    assert.error_matches(function() roper.linear(roper.ones({ 4 }, "int32"), w:to("int32")) end,
      "got x int32, weight int32, bias none")
    local one = roper.ones({ 1, 1 })
    local too_long = one:expand({ 1 << 31, 1 })
    for _, operands in ipairs({ { too_long, one }, { one, too_long },
      { too_long:transpose(1, 2), too_long:transpose(1, 2) } }) do
      assert.error_matches(function() roper.linear(operands[1], operands[2]) end,
        "linear: expected sizes up to 2147483647, got %[%d+, %d+%] and %[%d+, %d+%]")
    end
  end)
end)
