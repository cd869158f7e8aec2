local arrays = require("tests.arrays")
local roper = require("roper")

--- A random layout of the shape, seldom with the last two axes stored the other way round.
local function operand(shape, dtype)
  if math.random(2) == 1 then
    return arrays.random_layout(shape, dtype)
  end
  local rank = #shape
  local stored = table.move(shape, 1, rank, 1, {})
  stored[rank - 1], stored[rank] = shape[rank], shape[rank - 1]
  return roper.randn(stored, dtype):transpose(-1, -2)
end

describe("matmul", function()
  it("agrees with the definition, for random shapes and layouts", function()
    arrays.each_seed(150, function(seed)
      local dtype = seed % 2 == 0 and "float64" or "float32"
      local leading = arrays.random_shape(0, 3, 3)
      local m, n, k = math.random(0, 6), math.random(0, 6), math.random(0, 6)
      local shapes = {}
      for i = 1, 2 do
        local shape = {}
        for axis = math.random(#leading + 1), #leading do
          shape[#shape + 1] = math.random(3) == 1 and 1 or leading[axis]
        end
        shape[#shape + 1] = i == 1 and m or k
        shape[#shape + 1] = i == 1 and k or n
        shapes[i] = shape
      end
      local a, b = operand(shapes[1], dtype), operand(shapes[2], dtype)
      arrays.check(arrays.matmul(arrays.from(a), arrays.from(b)), a:matmul(b),
        dtype == "float64" and 1e-13 or 1e-5, "matmul")
    end)
  end)

  it("agrees with sums of products if it is computed in parts", function()
    local threads = roper.threads()
    roper.seed(3)
    local function stored_across(x)
      return x:transpose(1, 2):clone():transpose(1, 2)
    end
    for _, sizes in ipairs({ { 70, 90, 80 }, { 1, 300, 200 }, { 300, 1, 200 }, { 500, 7, 90 },
      { 7, 500, 90 }, { 1, 64, 7 }, { 3, 96, 515 }, { 8, 261, 33 }, { 101, 64, 128 },
      { 97, 70, 520 } }) do
      local m, n, k = table.unpack(sizes)
      local a, b = roper.randn({ m, k }, "float64"), roper.randn({ k, n }, "float64")
      local expected = (a:view({ m, k, 1 }) * b:view({ 1, k, n })):sum(2)
      for i = 0, 15 do
        roper.threads(1 + i // 8)
        local dtype = i // 4 % 2 == 0 and "float64" or "float32"
        local left, right = a:to(dtype), b:to(dtype)
        left = i % 2 == 0 and left or stored_across(left)
        right = i // 2 % 2 == 0 and right or stored_across(right)
        arrays.close(expected, left:matmul(right), dtype == "float64" and 1e-11 or 1e-3, dtype)
      end
    end
    roper.threads(threads)
  end)

  it("returns zeros if there is nothing to sum", function()
    local nothing = roper.zeros({ 2, 0 }):matmul(roper.zeros({ 0, 2 }))
    assert.same({ { 0, 0 }, { 0, 0 } }, nothing:totable())
    assert.same({ 3, 0, 4 }, roper.zeros({ 3, 0, 5 }):matmul(roper.zeros({ 5, 4 })):shape())
  end)

  it("propagates NaN through columns of zeros", function()
    local x = roper.tensor({ { 0 / 0, 0 } })
    local y = x:matmul(roper.zeros({ 2, 1 })):item()
    assert.is_true(y ~= y)
  end)

  it("rejects shapes that do not match, and names both", function()
    local a = roper.ones({ 2, 3 })
    assert.error_matches(function() a:matmul(roper.ones({ 2, 3 })) end,
      "matmul: expected %[..., m, k%] times %[..., k, n%], got %[2, 3%] times %[2, 3%]")
    assert.error_matches(function() a:matmul(roper.ones({ 3 })) end,
      "matmul: expected at least 2 axes each, got %[2, 3%] and %[3%]")
    assert.error_matches(function() a:matmul(roper.ones({ 3, 2 }, "float64")) end,
      "matmul: expected floats of the same dtype, got float32 and float64; convert with :to%(%)$")
    assert.error_matches(function() a:to("int32"):matmul(roper.ones({ 3, 2 }, "int32")) end,
      "got int32 and int32")
    assert.error_matches(function() roper.ones({ 2, 1, 1 }):matmul(roper.ones({ 3, 1, 1 })) end,
      "matmul: shapes %[2%] and %[3%] do not broadcast")
  end)
end)
