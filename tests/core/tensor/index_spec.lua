local arrays = require("tests.arrays")
local roper = require("roper")

local function int32(list)
  return roper.tensor(list, "int32")
end

-- x[key] in plain Lua; `places` has for each axis a number, or an array of places
-- from 1 that takes the axis's place; those of several axes go together.
local function taken(x, first, keys)
  local from, shape = arrays.from(x), {}
  local index = keys[1].shape
  for _, key in ipairs(keys) do
    index = arrays.broadcast(index, key.shape)
  end
  table.move(from.shape, 1, first - 1, 1, shape)
  table.move(index, 1, #index, #shape + 1, shape)
  table.move(from.shape, first + #keys, #from.shape, #shape + 1, shape)
  return arrays.make(shape, function(at)
    local place = table.move(at, 1, first - 1, 1, {})
    local here = table.move(at, first, first + #index - 1, 1, {})
    for i, key in ipairs(keys) do
      place[first + i - 1] = arrays.get(key, here) - 1
    end
    return arrays.get(from, table.move(at, first + #index, #at, #place + 1, place))
  end)
end

-- A key with ranges before index tensors.
local function key_of(first, tensors)
  local key = {}
  for i = 1, first - 1 do
    key[i] = {}
  end
  return table.move(tensors, 1, #tensors, first, key)
end

-- Random places for one or more axes of x in a row: the first axis, tensors, and those as arrays.
local function random_places(x)
  local first = math.random(x:rank())
  local count = math.random(math.min(2, x:rank() - first + 1))
  local shape, tensors, keys = arrays.random_shape(0, 2, 3), {}, {}
  for i = 1, count do
    local own = table.move(shape, math.random(#shape + 1), #shape, 1, {})
    local size = x:size(first + i - 1)
    if size == 0 then
      return nil
    end
    tensors[i] = roper.randint(1, size, i == 1 and shape or own)
    keys[i] = arrays.from(tensors[i])
  end
  return first, tensors, keys
end

local DTYPES <const> = { "float32", "float64", "int32" }

describe("indexing by an index tensor", function()
  it("agrees with plain Lua along any axes", function()
    arrays.each_seed(80, function(seed)
      local x = arrays.random_layout(arrays.random_shape(1, 4, 4), "float64"):mul(100)
        :to(DTYPES[seed % 3 + 1])
      local first, tensors, keys = random_places(x)
      if first then
        arrays.check(taken(x, first, keys), x[key_of(first, tensors)], 0, "index")
      end
    end)
  end)

  it("accepts a scalar as an index, and the index of an extremum", function()
    local x = roper.tensor({ { 1, 9 }, { 7, 2 } })
    assert.same({ 7, 2 }, x[int32(2)]:totable())
    assert.equal(9, x[1][x[1]:argmax()]:item())
    assert.same({ 9, 7 }, x[{ int32({ 1, 2 }), x:argmax(2) }]:totable())
  end)

  it("can be combined with numbers and ranges", function()
    local x = roper.arange(0, 24):view({ 2, 3, 4 })
    local places = int32({ 3, 1 })
    assert.same({ { 8, 9, 10, 11 }, { 0, 1, 2, 3 } }, x[{ 1, places }]:totable())
    assert.same({ { 9, 1 }, { 21, 13 } }, x[{ {}, places, 2 }]:totable())
    assert.same({ { 5, 4 } }, x[{ 1, { 2, 2 }, int32({ 2, 1 }) }]:totable())
    assert.same({ 0, 3, 4 }, x[{ int32({}):view({ 0 }) }]:shape())
  end)

  it("rejects indices out of range, other dtypes and separated index tensors", function()
    local x = roper.zeros({ 2, 3, 4 })
    assert.error_matches(function() return x[int32({ 1, 3 })] end,
      "index: expected indices from 1 to 2, got 3 as element 2")
    assert.error_matches(function() return x[{ {}, int32({ 0, 1, 1 }) }] end, "from 1 to 3, got 0")
    assert.error_matches(function() return x[roper.ones({ 2 })] end, "an int32 index, got float32")
    assert.error_matches(function() return x[{ int32({ 1 }), {}, int32({ 2 }) }] end,
      "tensors on adjacent axes, got one on axis 3")
    assert.error_matches(function() return x[{ int32({ 1, 2 }), int32({ 1, 2, 3 }) }] end,
      "index: shapes %[2%] and %[3%] do not broadcast")
    assert.error_matches(function() return x[int32({ { { { { { { 1, 2 } } } } } } })] end,
      "index: expected a result of at most 8 axes, got 9")
    assert.error_matches(function() return roper.tensor(1)[int32({ 1 })] end, "at most 0 indices")
  end)

  it("never treats int32 numbers as a mask", function()
    local x = roper.arange(1, 5):view({ 2, 2 })
    for _, ones in ipairs({ int32({ 1, 1 }), 1 - x[1]:gt(9), x[1]:gt(0):to("int32") }) do
      assert.is_false(ones:is_mask())
      assert.same({ { 1, 2 }, { 1, 2 } }, x[ones]:totable())
      local y = x:clone()
      y[ones] = 7
      assert.same({ { 7, 7 }, { 3, 4 } }, y:totable())
    end
    assert.same({ { 1, 2 }, { 3, 4 } }, x[int32({ 1, 1 }):ne(0)]:totable())
    assert.error_matches(function() return x[int32({ 1, 0 })] end,
      "from 1 to 2, got 0 as element 2; indices count from 1; x:ne%(0%) converts x to a mask")
    for seed = 1, 200 do
      roper.seed(seed)
      assert.same({ 2, 2 }, x[roper.randint(1, 2, { 2 })]:shape())
    end
  end)
end)

describe("indexing by a mask", function()
  it("agrees with plain Lua on leading axes and later ones", function()
    arrays.each_seed(60, function(seed)
      local x = arrays.random_layout(arrays.random_shape(1, 4, 4), "float64"):mul(100)
        :to(DTYPES[seed % 3 + 1])
      local first = math.random(x:rank())
      local last = math.random(first, x:rank())
      local shape, from = x:shape(), arrays.from(x)
      local mask = arrays.random_layout(table.move(shape, first, last, 1, {})):gt(0)
      local chosen, flags = {}, arrays.from(mask)
      for i, flag in ipairs(flags.values) do
        chosen[#chosen + 1] = flag ~= 0 and arrays.coordinates(flags.shape, i - 1) or nil
      end
      local result = table.move(shape, 1, first - 1, 1, {})
      result[first] = #chosen
      table.move(shape, last + 1, #shape, first + 1, result)
      arrays.check(arrays.make(result, function(at)
        local place = table.move(at, 1, first - 1, 1, {})
        local here = chosen[at[first] + 1]
        table.move(here, 1, #here, first, place)
        return arrays.get(from, table.move(at, first + 1, #at, last + 1, place))
      end), x[key_of(first, { mask })], 0, "mask")
    end)
  end)

  it("accepts the results of comparisons, also their views, copies and products", function()
    local x = roper.tensor({ { 1, 5 }, { 7, 3 } })
    local mask = x:gt(2)
    assert.same({ 5, 7, 3 }, x[mask]:totable())
    assert.same({ 7 }, x[mask * x:gt(5)]:totable())
    assert.same({ 5, 7, 3 }, x[mask:clone()]:totable())
    assert.same({ 7, 5, 3 }, x:transpose(1, 2)[mask:transpose(1, 2)]:totable())
    assert.same({ { 7, 3 } }, x[mask:min(2)]:totable())
    assert.same({ 5 }, x[1][mask[roper.tensor({ 2, 1 }, "int32")][2]]:totable())
    assert.is_false(mask:sum(1):is_mask())
    assert.is_false((mask + 0):is_mask())
    assert.is_false(mask:to("float32"):is_mask())
    assert.same({}, x[x:gt(9)]:totable())
    assert.is_true(tostring(mask):find("^int32 %[2, 2%], mask\n") ~= nil)
  end)

  it("recognises masks by the operation that created them", function()
    local x = roper.tensor({ { 1, 5 }, { 7, 3 } })
    local m, numbers = x:gt(2), int32({ { 0, 1 }, { 1, 1 } })
    local places = roper.ones({ 2, 2 }, "int32")
    for name, mask in pairs({ ne = numbers:ne(0), logical_and = numbers:logical_and(numbers),
      logical_not = numbers:logical_not(), all = x:gt(2):all(2), ["and"] = m & m, ["not"] = ~m,
      view = m:view({ 4 }), permute = m:permute({ 2, 1 }), narrow = m:narrow(1, 1, 1), place = m[1],
      expand = m:expand({ 3, 2, 2 }), contiguous = m:transpose(1, 2):contiguous(),
      clone = m:clone(), detach = m:detach(), tensor = roper.tensor(m), flip = m:flip(1),
      strided = m:as_strided({ 2 }, { 1 }), gather = m:gather(1, places), cat = roper.cat({ m, m }),
      stack = roper.stack({ m, m }), roll = m:roll(1, 1), where = roper.where(m, m, ~m),
      product = m * m, maximum = m:maximum(m), max = m:max(1), sort = (m:sort()),
      masked = m[m], ones_like = roper.ones_like(m), zeros_like = roper.zeros_like(m) }) do
      assert.is_true(mask:is_mask(), name)
    end
    for name, other in pairs({ numbers = numbers, to = m:to("int32"), float = m:to("float64"),
      tensor = roper.tensor(m, "int32"), plus = m + m, minus = 1 - m, scaled = m * 2, neg = -m,
      sum = m:sum(1), cat = roper.cat({ m, numbers }), cat_after = roper.cat({ numbers, m }),
      where = roper.where(m, m, numbers), product = m * numbers, argmax = x:argmax(2),
      argsort = x:argsort(2), ones_like = roper.ones_like(numbers), floor = (m * 1):floor() }) do
      assert.is_false(other:is_mask(), name)
    end
  end)

  it("contains only 0 and 1, whatever is assigned to it", function()
    local mask = roper.zeros({ 2, 3 }):ne(0)
    mask[{ 1, 2 }] = 5
    mask[2] = int32({ 0, -3, 7 })
    mask[int32({ 1 })] = int32({ 4, 0, 0 })
    assert.same({ { 1, 0, 0 }, { 0, 1, 1 } }, mask:totable())
    assert.same({ { 1, 1, 1 }, { 1, 1, 1 } }, mask:clone():fill(9):totable())
    assert.same({ { 1, 0, 2 }, { 1, 0, 2 } },
      mask:to("int32"):copy(int32({ 1, 0, 2 })):totable())
  end)

  it("rejects other shapes, and more indices than axes", function()
    local x = roper.zeros({ 2, 3 })
    assert.error_matches(function() return x[x:transpose(1, 2):ne(0)] end,
      "a mask in the shape of axes of %[2, 3%] from axis 1 on, got %[3, 2%]")
    assert.error_matches(function() return x[roper.zeros({ 3 }):eq(0)] end, "got %[3%]")
    assert.error_matches(function() return x[roper.tensor(1):eq(1)] end, "got %[%]")
    assert.error_matches(function() return x[{ x:eq(0), 1 }] end, "nothing after a mask")
    assert.error_matches(function() return x[{ int32({ 1, 2 }), roper.ones({ 3 }):eq(1) }] end,
      "a single mask or index tensors, got a mask and others")
  end)
end)

describe("assignment by index tensors and masks", function()
  it("writes the elements that indexing reads, and no others", function()
    arrays.each_seed(80, function(seed)
      local x = arrays.random_layout(arrays.random_shape(1, 4, 4), "float64"):mul(100)
        :to(DTYPES[seed % 3 + 1])
      local expanded = pcall(function() return x:copy(x) end) == false
      local first, tensors, keys = random_places(x)
      if not expanded and first then
        local expected, key = arrays.from(x), key_of(first, tensors)
        local rows = arrays.make(x:shape(), function(at)
          local row = 0
          for i = 1, #at do
            row = row * expected.shape[i] + at[i]
          end
          return row
        end)
        local written = taken(roper.tensor(rows.values, "float64"):view(x:shape()), first, keys)
        for i, row in ipairs(written.values) do -- the last of several stays
          expected.values[row + 1] = i
        end
        x[key] = roper.arange(1, #written.values + 1, 1, "int32"):view(written.shape)
        arrays.check(expected, x, 0, "assignment")
      end
    end)
  end)

  it("broadcasts numbers and tensors", function()
    local x = roper.arange(0, 6):view({ 2, 3 })
    x[x:gt(3)] = 0
    assert.same({ { 0, 1, 2 }, { 3, 0, 0 } }, x:totable())
    x[{ {}, int32({ 3, 1 }) }] = roper.tensor({ { 7 }, { 8 } })
    assert.same({ { 7, 1, 7 }, { 8, 0, 8 } }, x:totable())
    x[x:eq(8)] = int32({ 5, 6 })
    assert.same({ { 7, 1, 7 }, { 5, 0, 6 } }, x:totable())
    x:transpose(1, 2)[int32({ 1 })] = -1
    assert.same({ { -1, 1, 7 }, { -1, 0, 6 } }, x:totable())
    x[x:gt(100)] = 1
    x[x:lt(0)] = x[{ 1, { 2, 3 } }]
    assert.same({ { 1, 1, 7 }, { 7, 0, 6 } }, x:totable())
  end)

  it("reads everything before writing if both share storage", function()
    local x = roper.arange(0, 4)
    x[int32({ 2, 3, 4 })] = x[{ { 1, 3 } }]
    assert.same({ 0, 0, 1, 2 }, x:totable())
  end)

  it("rejects values that do not match, and leaves the tensor unchanged", function()
    local x = roper.arange(0, 6):view({ 2, 3 })
    local kept = x:clone()
    assert.error_matches(function() x[x:gt(3)] = roper.zeros({ 3 }) end,
      "broadcast: %[3%] does not broadcast to %[2%]")
    assert.error_matches(function() x[int32({ 2, 3 })] = 1 end, "from 1 to 2, got 3")
    assert.error_matches(function() x[x:gt(3)] = "a" end, "a number or a tensor, got string")
    assert.error_matches(function() x[x:gt(3)] = roper.zeros({ 2 }, "float64") end,
      'assign: expected float32, got float64; convert it with :to "float32"')
    assert.error_matches(function() x:expand({ 2, 2, 3 })[int32({ 1 })] = 1 end, "is broadcast")
    assert.equal(kept, x)
  end)

  it("rejects results of parameters, and backward rejects tensors changed since", function()
    local w = roper.tensor({ 1, 2, 3 }):parameter()
    local y = w * 1
    assert.error_matches(function() y[y:gt(1)] = 0 end, "a gradient flows through; detach it first")
    local x = roper.tensor({ 1, 2, 3 })
    local loss = (w * x):sum()
    x[x:gt(1)] = 0
    assert.error_matches(function() loss:backward() end, "changed in place")
  end)
end)
