local arrays = require("tests.arrays")
local roper = require("roper")

local nan, inf = 0 / 0, math.huge

describe("tensor", function()
  it("creates tensors from nested tables, numbers and tensors", function()
    local x = roper.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    assert.same({ 2, 3 }, x:shape())
    assert.equal("float32", x:dtype())
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, x:totable())
    assert.equal(2.5, roper.tensor(2.5):item())
    assert.same({}, roper.tensor(7):shape())
    assert.same({ 0 }, roper.tensor({}):shape())
    assert.same({ 2, 0 }, roper.tensor({ {}, {} }):shape())
    assert.same({ 1, 1, 1, 1, 1, 1, 1, 1 }, roper.tensor({ { { { { { { { 5 } } } } } } } }):shape())
    local copy = roper.tensor(x)
    copy[{ 1, 1 }] = 9
    assert.equal(1, x[{ 1, 1 }]:item())
  end)

  it("rounds numbers to the dtype", function()
    assert.same({ 0.1, nil }, { roper.tensor({ 0.1 }, "float64")[1]:item() })
    assert.equal(string.unpack("<f", string.pack("<f", 0.1)), roper.tensor({ 0.1 })[1]:item())
    local x = roper.tensor({ nan, inf, -inf, -0.0 }, "float64"):totable()
    assert.is_true(x[1] ~= x[1] and x[2] == inf and x[3] == -inf and 1 / x[4] == -inf)
    local whole = roper.tensor({ -2 ^ 31, 2 ^ 31 - 1 }, "int32"):totable()
    assert.same({ -2147483648, 2147483647 }, whole)
    assert.equal("integer", math.type(whole[1]))
  end)

  it("rejects values that are not arrays", function()
    for message, data in pairs({
      ["every list of level 2 to have 2 elements, got 1"] = { { 1, 2 }, { 3 } },
      ["every list of level 2 to have 2 elements, got 3"] = { { 1, 2 }, { 3, 4, 5 } },
      ["every list of level 2 to have 2 elements, got number"] = { { 1, 2 }, 3 },
      ["a number as element 2, got table"] = { 1, { 2 } },
      ["a number as element 2, got string"] = { 1, "2" },
      ["a number as element 1, got boolean"] = { true },
      ["at most 8 nested levels"] = { { { { { { { { { 1 } } } } } } } } },
    }) do
      assert.error_matches(function() roper.tensor(data) end, "tensor: expected .-" .. message)
    end
    local cycle = {}
    cycle[1] = cycle
    assert.error_matches(function() roper.tensor(cycle) end, "nested levels")
  end)

  it("rejects int32 elements that are not whole or too large", function()
    for _, value in ipairs({ 0.5, 2 ^ 31, -2 ^ 31 - 1, nan, inf }) do
      assert.error_matches(function() roper.tensor({ 1, value }, "int32") end,
        "tensor: expected integers of 32 bits for int32, got .* as element 2")
      assert.error_matches(function() roper.full({ 2 }, value, "int32") end,
        "fill: expected an integer that fits int32, got ")
    end
  end)
end)

describe("zeros, ones and full", function()
  it("fill every dtype", function()
    for _, dtype in ipairs({ "float32", "float64", "int32" }) do
      assert.same({ { 0, 0 } }, roper.zeros({ 1, 2 }, dtype):totable())
      assert.same({ 1, 1, 1 }, roper.ones({ 3 }, dtype):totable())
      assert.equal(-7, roper.full({}, -7, dtype):item())
      assert.equal(dtype, roper.ones({}, dtype):dtype())
    end
    assert.same({ 3, 0, 2 }, roper.zeros({ 3, 0, 2 }):shape())
    assert.equal(0, roper.ones({ 3, 0 }):sum():item())
  end)

  it("accept sizes as separate arguments, followed by the dtype", function()
    for _, name in ipairs({ "zeros", "ones", "randn", "rand" }) do
      local make = roper[name]
      assert.same({ 2, 3 }, make(2, 3):shape())
      assert.same({ "float64", { 4 } }, { make(4, "float64"):dtype(), make(4, "float64"):shape() })
      assert.same({ 1, 1, 1, 1, 1, 1, 1, 2 }, make(1, 1, 1, 1, 1, 1, 1, 2):shape())
      roper.seed(1)
      local listed = make({ 2, 3 }, "float64")
      roper.seed(1)
      assert.equal(listed, make(2, 3, "float64"))
      assert.error_matches(function() make(2, -1) end, "size 2: expected a non%-negative integer")
      assert.error_matches(function() make(2, "float32", 3) end, "no argument after the dtype")
      assert.error_matches(function() make({ 2 }, "float32", 3) end, "no argument after the dtype")
      assert.error_matches(function() make({ 2 }, 3) end, "got 3")
      assert.error_matches(function() make(1, 1, 1, 1, 1, 1, 1, 1, 1) end, "at most 8 sizes, got 9")
      assert.error_matches(function() make({ 2, typo = 3 }) end,
        "unknown field typo of a list; it takes dtype")
    end
  end)

  it("reject invalid sizes", function()
    for _, size in ipairs({ -1, 0.5, nan, inf, "x", 2 ^ 63, false }) do
      assert.error_matches(function() roper.zeros({ 2, size }) end,
        "zeros.*size 2: expected a non%-negative integer, got ")
    end
    assert.error_matches(function() roper.ones({ 1, 1, 1, 1, 1, 1, 1, 1, 1 }) end,
      "ones.*expected at most 8 sizes, got 9")
  end)

  it("reject sizes beyond memory and addresses, and stay usable", function()
    assert.error_matches(function() roper.zeros({ 1e5, 1e5, 1e5 }) end,
      "zeros: out of memory: asked for 4000000000000000 bytes")
    for _, shape in ipairs({ { 2 ^ 62, 4 }, { 2 ^ 31, 2 ^ 31, 2 ^ 31 }, { 2 ^ 62, 0, 4 } }) do
      assert.error_matches(function() roper.zeros(shape) end, "more elements than can be addressed")
    end
    assert.equal(3, roper.ones({ 3 }):sum():item())
  end)
end)

describe("arange", function()
  it("counts from first up to, but not including, last", function()
    assert.same({ 0, 1, 2 }, roper.arange(0, 3):totable())
    assert.same({ 3, 2, 1 }, roper.arange(3, 0, -1):totable())
    assert.same({ 0, 0.25, 0.5 }, roper.arange(0, 0.75, 0.25):totable())
    assert.same({ 0, 0.25, 0.5, 0.75 }, roper.arange(0, 0.76, 0.25):totable())
    assert.same({ -2, -1, 0 }, roper.arange(-2, 1, 1, "int32"):totable())
    assert.equal(0, roper.arange(3, 3):count())
    assert.equal(0, roper.arange(3, 0):count())
    assert.equal(0.1 * 9, roper.arange(0, 1, 0.1, "float64")[10]:item())
  end)

  it("rejects ranges without an end", function()
    for _, range in ipairs({ { 0, 1, 0 }, { 0, 0, 0 }, { 0, inf }, { 0, nan }, { nan, 1 },
      { 0, 1, nan }, { 0, 1, 1e-300 }, { 0, -inf } }) do
      assert.error_matches(function() roper.arange(table.unpack(range)) end,
        "arange: expected a finite range and a step other than 0, got ")
    end
    assert.error_matches(function() roper.arange(0, 1, 0.5, "int32") end,
      "arange: expected integers of 32 bits")
  end)
end)

describe("the attributes of a tensor", function()
  it("are its shape, sizes, rank, count, dtype and length", function()
    local x = roper.zeros({ 2, 3, 4 }, "int32")
    assert.same({ 2, 3, 4 }, x:shape())
    assert.same({ 2, 4, 3, 4 }, { x:size(1), x:size(3), x:size(-2), x:size(-1) })
    assert.same({ 3, 24, "int32", 2 }, { x:rank(), x:count(), x:dtype(), #x })
    assert.error_matches(function() return #roper.tensor(1) end, "at least one axis, got a scalar")
  end)

  it("include item, the number in a tensor of one element", function()
    assert.equal(5, roper.full({ 1, 1 }, 5):item())
    assert.error_matches(function() roper.zeros({ 2 }):item() end,
      "item: expected a tensor of one element, got shape %[2%]")
    assert.error_matches(function() roper.zeros({ 0 }):item() end, "got shape %[0%]")
  end)
end)

describe("conversion", function()
  it("converts between all dtypes, truncating to int32", function()
    local x = roper.tensor({ -2.7, -0.5, 0.5, 2.7, 2147483647.5 }, "float64")
    assert.same({ -2, 0, 0, 2, 2147483647 }, x:to("int32"):totable())
    assert.same({ -2, 0, 0, 2, 2147483647 }, x:to("int32"):to("float64"):totable())
    assert.equal("float32", x:to("float32"):dtype())
    assert.same({ { 1, 3 }, { 2, 4 } },
      roper.tensor({ { 1, 2 }, { 3, 4 } }):transpose(1, 2):to("int32"):totable())
    assert.same({ 1, 2 }, roper.tensor(roper.tensor({ 1.5, 2.5 }), "int32"):totable())
  end)

  it("rejects numbers outside the range of int32", function()
    for _, value in ipairs({ nan, inf, -inf, 2 ^ 31, -2 ^ 31 - 1, 1e300 }) do
      for _, dtype in ipairs({ "float64", "float32" }) do
        if not (dtype == "float32" and value == -2 ^ 31 - 1) then -- which float32 rounds to -2^31
          assert.error_matches(function() roper.tensor({ 1, value }, dtype):to("int32") end,
            "to: expected numbers that fit int32")
        end
      end
    end
  end)
end)

describe("indexing", function()
  local x = roper.arange(0, 24):view({ 2, 3, 4 })

  it("counts from 1, and from the end", function()
    assert.same({ 3, 4 }, x[1]:shape())
    assert.equal(23, x[2][3][4]:item())
    assert.equal(23, x[-1][-1][-1]:item())
    assert.same({ 12, 13, 14, 15 }, x[{ 2, 1 }]:totable())
    assert.equal(6, x[{ 1, 2, 3 }]:item())
  end)

  it("accepts ranges and whole axes", function()
    assert.same({ { 4, 5, 6, 7 }, { 8, 9, 10, 11 } }, x[{ 1, { 2, 3 } }]:totable())
    assert.same({ { 1, 5, 9 }, { 13, 17, 21 } }, x[{ {}, {}, 2 }]:totable())
    assert.same({ 2, 1, 4 }, x[{ {}, { -1, -1 } }]:shape())
    assert.same({ 2, 3, 4 }, x[{}]:shape())
    assert.same({ { { 2, 3 } } }, x[{ { 1, 1 }, { 1, 1 }, { 3, -1 } }]:totable())
  end)

  it("returns views: a change of one shows in all", function()
    local y = roper.zeros({ 2, 3 })
    local row, column = y[2], y[{ {}, 3 }]
    row[3] = 5
    assert.equal(5, column[2]:item())
    y:fill(1)
    assert.same({ 1, 1, 1 }, row:totable())
  end)

  it("rejects indices out of range", function()
    local expected = "index: expected an index from 1 to 2 %(or %-1 to %-2%) on axis 1 of " ..
      "%[2, 3, 4%], got "
    for _, place in ipairs({ 0, 3, -3, 1.5, 2 ^ 40, true }) do
      assert.error_matches(function() return x[place] end, expected)
    end
    assert.error_matches(function() return x[{ 1, 4 }] end, "on axis 1 of %[3, 4%], got 4")
    assert.error_matches(function() return x[{ { 0, 1 } }] end, expected .. "0")
    assert.error_matches(function() return x[{ { 1 } }] end, "a range {from, to} or {} on axis 1")
    assert.error_matches(function() return x[{ { 1, 2, 3 } }] end, "a range {from, to}")
    assert.error_matches(function() return x[{ {}, { 3, 2 } }] end, "axis 2 ends before it begins")
    assert.error_matches(function() return x[{ 1, 1, 1, 1 }] end,
      "at most 3 indices for shape %[2, 3, 4%], got 4")
    assert.error_matches(function() return roper.tensor(1)[1] end, "at most 0 indices")
    assert.error_matches(function() return roper.zeros({ 0 })[1] end, "from 1 to 0")
  end)

  it("rejects other fields", function()
    assert.is_nil(x.grad)
    assert.error_matches(function() return x.nothing end, 'no field "nothing"')
    assert.error_matches(function() x.nothing = 1 end,
      'cannot assign field "nothing" of a tensor; only grad = nil is allowed')
    assert.error_matches(function() x.grad = x end, "only grad = nil")
  end)
end)

describe("assignment", function()
  it("writes numbers and tensors, broadcast", function()
    local x = roper.zeros({ 2, 3 })
    x[1] = 7
    x[{ 2, 2 }] = -1
    x[{ {}, 3 }] = roper.tensor({ 8, 9 })
    assert.same({ { 7, 7, 8 }, { 0, -1, 9 } }, x:totable())
    x[{}] = roper.tensor({ { 1 }, { 2 } })
    assert.same({ { 1, 1, 1 }, { 2, 2, 2 } }, x:totable())
    assert.equal(x, x:fill(3))
    assert.equal(x, x:copy(roper.tensor({ 4, 5, 6 })))
    assert.same({ { 4, 5, 6 }, { 4, 5, 6 } }, x:totable())
    roper.zeros({ 0, 3 }):fill(1)
  end)

  it("reads everything before writing if views overlap", function()
    local x = roper.arange(0, 6)
    x[{ { 2, 6 } }] = x[{ { 1, 5 } }]
    assert.same({ 0, 0, 1, 2, 3, 4 }, x:totable())
    x = roper.arange(0, 6)
    x[{ { 1, 5 } }] = x[{ { 2, 6 } }]
    assert.same({ 1, 2, 3, 4, 5, 5 }, x:totable())
    local square = roper.arange(0, 9):view({ 3, 3 })
    square:copy(square:transpose(1, 2))
    assert.same({ { 0, 3, 6 }, { 1, 4, 7 }, { 2, 5, 8 } }, square:totable())
  end)

  it("agrees with plain Lua for random overlapping windows", function()
    arrays.each_seed(100, function()
      local n = math.random(2, 40)
      local size = math.random(n)
      local to, from = math.random(n - size + 1), math.random(n - size + 1)
      local expected = {}
      for i = 1, n do
        expected[i] = i
      end
      local x = roper.tensor(expected)
      table.move(table.move(expected, from, from + size - 1, 1, {}), 1, size, to, expected)
      x:narrow(1, to, size):copy(x:narrow(1, from, size))
      assert.same(expected, x:totable())
    end)
  end)

  it("rejects what does not fit", function()
    local x = roper.zeros({ 2, 3 })
    assert.error_matches(function() x[1] = roper.zeros({ 4 }) end,
      "%[4%] does not broadcast to %[3%]")
    assert.error_matches(function() x[1] = roper.zeros({ 1, 1, 3 }) end, "does not broadcast")
    assert.error_matches(function() x[1] = roper.zeros({ 3 }, "float64") end,
      'assign: expected float32, got float64; convert it with :to "float32"')
    assert.error_matches(function() roper.zeros({ 3 }, "int32"):copy(roper.zeros({ 3 })) end,
      'assign: expected int32, got float32; convert it with :to "int32"')
    assert.error_matches(function() x[1] = "a" end, "expected a number or a tensor, got string")
    assert.error_matches(function() x[3] = 1 end, "index: expected an index")
    assert.error_matches(function() roper.zeros({ 2 }, "int32")[1] = 0.5 end,
      "expected an integer from .*, got 0.5")
  end)

  it("rejects tensors whose elements share memory after expand", function()
    local x = roper.zeros({ 1, 3 }):expand({ 2, 3 })
    assert.error_matches(function() x:fill(1) end, "assign: axis 1 of %[2, 3%] is broadcast")
    assert.error_matches(function() x[2] = 1 end, "assign: axis 1 of %[2, 3%] is broadcast")
  end)
end)
