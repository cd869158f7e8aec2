local arrays = require("tests.arrays")
local roper = require("roper")

local nan, inf = 0 / 0, math.huge

-- Whether x[a] sorts before x[b]. NaN is above all numbers, equals keep their order.
local function before(x, descending)
  local function is_below(u, v)
    return u < v or (v ~= v and u == u)
  end
  return function(a, b)
    local u, v = x[a], x[b]
    if descending then
      u, v = v, u
    end
    return is_below(u, v) or not is_below(v, u) and a < b
  end
end

describe("argsort", function()
  it("agrees with plain Lua along every axis, both ways", function()
    arrays.each_seed(40, function(seed)
      local dtype = ({ "float32", "float64", "int32" })[seed % 3 + 1]
      local x = arrays.random_layout(arrays.random_shape(1, 3, 7), "float64"):mul(3):round()
      x = dtype == "int32" and x:to("int32") or roper.where(x:gt(3), nan, x):to(dtype)
      x = x:transpose(1, x:rank()):contiguous():transpose(1, x:rank()) -- not stored by rows
      local axis, descending = math.random(x:rank()), math.random(2) == 1
      local places = x:argsort(axis, descending)
      assert.same({ "int32", x:shape() }, { places:dtype(), places:shape() })
      local other = axis - x:rank() - 1
      assert.equal(places, x:argsort(other, descending))
      local lines = x:transpose(axis, x:rank()):contiguous():view({ -1, x:size(axis) })
      local got = places:transpose(axis, x:rank()):contiguous():view({ -1, x:size(axis) })
      for i = 1, x:count() > 0 and #lines or 0 do
        local line, expected = lines[i]:totable(), {}
        for j = 1, #line do
          expected[j] = j
        end
        table.sort(expected, before(line, descending))
        assert.same(expected, got[i]:totable())
      end
    end)
  end)

  it("sorts infinities, and many elements", function()
    assert.same({ 3, 2, 1, 4 }, roper.tensor({ inf, 0, -inf, nan }):argsort():totable())
    assert.same({ 4, 1, 2, 3 }, roper.tensor({ inf, 0, -inf, nan }):argsort(1, true):totable())
    roper.seed(1)
    local x = roper.randn({ 100003 })
    local sorted = x:gather(1, x:argsort())
    assert.is_true((sorted:narrow(1, 2, 100002) - sorted:narrow(1, 1, 100002)):min():item() >= 0)
    assert.same({ 0 }, roper.zeros({ 0 }):argsort():shape())
  end)

  it("of one row takes the memory of one thread", function()
    local threads, x = roper.threads(), roper.zeros({ 1 << 20 })
    finally(function()
      roper.threads(threads)
      roper.memory_limit(0)
    end)
    roper.threads(64)
    roper.memory_trim()
    roper.memory_limit(roper.memory().live + (64 << 20))
    assert.equal(1 << 20, x:argsort():count())
  end)

  it("rejects scalars and other axes", function()
    assert.error_matches(function() roper.tensor(1):argsort() end,
      "at least one axis, got a scalar")
    assert.error_matches(function() roper.ones({ 2 }):argsort(2) end, "an axis from 1 to 1")
  end)
end)
