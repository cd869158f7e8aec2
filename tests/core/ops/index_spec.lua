local arrays = require("tests.arrays")
local golden = require("tests.golden")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("gradient of indexing", function()
  it("goes to the elements read, summed over repeated indices", function()
    roper.seed(6)
    local places = roper.tensor({ 2, 1, 2, 2 }, "int32")
    local table_of = roper.tensor({ { 3, 1 }, { 1, 2 } }, "int32")
    local mask = roper.tensor({ { 1, 0, 1 }, { 0, 0, 1 } }, "int32"):ne(0)
    local shape = { { 2, 3, 2 } }
    gradients.check(function(x) return x[places]:sin() end, shape)
    gradients.check(function(x) return x[{ {}, table_of }]:sin() end, shape)
    gradients.check(function(x) return x[{ {}, {}, places }]:sin() end, shape)
    gradients.check(function(x) return x[{ places, places }]:sin() end, shape)
    gradients.check(function(x) return x[{ 2, table_of, 1 }]:sin() end, shape)
    gradients.check(function(x) return x[mask]:sin() end, shape)
    gradients.check(function(x) return x:index_select(-2, table_of):sin() end, shape)
    local w = roper.ones({ 3 }):parameter()
    w[w:gt(2)]:sum():backward()
    assert.same({ 0, 0, 0 }, w.grad:totable())
  end)

  it("is summed in the same order with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(7)
    local places, dy = roper.randint(1, 5, { 3000 }), roper.randn({ 4, 3000, 70 })
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      local w = roper.zeros({ 4, 5, 70 }):parameter()
      w[{ {}, places }]:backward(dy)
      results[n] = w.grad
    end
    roper.threads(threads)
    assert.equal(results[1], results[2])
  end)
end)

describe("gather", function()
  it("agrees with plain Lua along every axis", function()
    arrays.each_seed(40, function(seed)
      local dtype = ({ "float32", "float64", "int32" })[seed % 3 + 1]
      local x = arrays.random_layout(arrays.random_shape(1, 4, 5), "float64"):mul(100):to(dtype)
      local axis = math.random(x:rank())
      if x:size(axis) > 0 then
        local shape = x:shape()
        shape[axis] = math.random(0, 6)
        local index = roper.randint(1, x:size(axis), shape)
        local from, places = arrays.from(x), arrays.from(index)
        arrays.check(arrays.make(shape, function(at)
          local place = table.move(at, 1, #at, 1, {})
          place[axis] = arrays.get(places, at) - 1
          return arrays.get(from, place)
        end), x:gather(axis, index), 0, "gather")
      end
    end)
  end)

  it("has its gradient at the elements read, summed over repeated indices", function()
    roper.seed(1)
    local index = roper.tensor({ { 1, 1, 3 }, { 2, 1, 2 } }, "int32")
    gradients.check(function(x) return x:gather(2, index):sin() end, { { 2, 4 } })
    gradients.check(function(x) return x:gather(1, index):sin() end, { { 3, 3 } })
    gradients.check(function(x) return x:gather(1, index:transpose(1, 2)):sin() end, { { 4, 2 } })
    local x = roper.zeros({ 3 }):parameter()
    x:gather(1, roper.tensor({ 2, 2, 2 }, "int32")):sum():backward()
    assert.same({ 0, 3, 0 }, x.grad:totable())
  end)

  it("rejects indices out of range, counted from 1", function()
    local x = roper.ones({ 2, 3 })
    local function gather(axis, index)
      return function() x:gather(axis, roper.tensor(index, "int32")) end
    end
    assert.error_matches(gather(2, { { 1 }, { 4 } }),
      "gather: expected indices from 1 to 3, got 4 as element 2")
    assert.error_matches(gather(2, { { 0 }, { 1 } }), "from 1 to 3, got 0 as element 1")
    assert.error_matches(gather(2, { { -2147483647 }, { 1 } }), "got %-2147483647")
    assert.error_matches(gather(1, { { 1, 1 } }),
      "gather: expected an index of shape %[2, 3%] except on axis 1, got %[1, 2%]")
    assert.error_matches(gather(1, { 1, 1, 1 }), "got %[3%]")
    assert.error_matches(gather(3, { { 1 } }), "an axis from 1 to 2")
    assert.error_matches(function() x:gather(1, x) end,
      "gather: expected an int32 index, got float32")
  end)
end)

describe("embedding", function()
  it("agrees with PyTorch, also in the gradient", function()
    golden.each("embedding", function(values, tolerance)
      local table = values.table:clone():parameter()
      local y = roper.embedding(table, values.index)
      y:backward(values.dy)
      arrays.close(values.y, y, tolerance)
      arrays.close(values.dtable, table.grad, tolerance)
    end)
  end)

  it("has gradients for any index", function()
    roper.seed(2)
    for _, index in ipairs({ roper.tensor(2, "int32"), roper.tensor({ 0, 3, 3 }, "int32"),
      roper.tensor({ { 1, 2, 0 }, { 2, 2, 2 } }, "int32"):transpose(1, 2) }) do
      gradients.check(function(w) return roper.embedding(w, index):sin() end, { { 4, 5 } })
    end
    local none = roper.ones({ 4, 5 }):parameter()
    roper.embedding(none, roper.zeros({ 0, 2 }, "int32")):sum():backward()
    assert.equal(0, none.grad:sum():item())
  end)

  it("sums repeated rows in the same order with one thread and with two", function()
    local threads = roper.threads()
    roper.seed(3)
    local index, dy = roper.randint(0, 3, { 50, 40 }), roper.randn({ 50, 40, 70 })
    local results = {}
    for n = 1, 2 do
      roper.threads(n)
      local w = roper.zeros({ 4, 70 }):parameter()
      roper.embedding(w, index):backward(dy)
      results[n] = w.grad
    end
    roper.threads(threads)
    assert.equal(0, (results[1] - results[2]):abs():max():item())
  end)

  it("rejects token ids out of range and invalid tables", function()
    local w = roper.ones({ 4, 5 })
    for _, id in ipairs({ -1, 4, 2147483647 }) do
      assert.error_matches(function() roper.embedding(w, roper.tensor({ 0, id }, "int32")) end,
        ("embedding: expected indices from 0 to 3, got %d as element 2"):format(id), 1, true)
    end
    assert.error_matches(function() roper.embedding(w, roper.tensor({ 0 })) end,
      "embedding: expected an int32 index, got float32")
    assert.error_matches(function() roper.embedding(w[1], roper.tensor({ 0 }, "int32")) end,
      "embedding: expected a table %[n, d%] .*, got %[5%] and %[1%]")
  end)
end)
