local arrays = require("tests.arrays")
local roper = require("roper")

local nan, inf = 0 / 0, math.huge

local function sum(values)
  local total = 0
  for _, value in ipairs(values) do
    total = total + value
  end
  return total
end

--- The first extremum and its place; NaN wins.
local function extreme(values, better)
  local best, place = values[1], 1
  for i = 2, #values do
    if best == best and (values[i] ~= values[i] or better(values[i], best)) then
      best, place = values[i], i
    end
  end
  return best, place
end

local function more(x, y)
  return x > y
end

local function less(x, y)
  return x < y
end

local reductions = {
  sum = sum,
  mean = function(values) return sum(values) / #values end,
  max = function(values) return (extreme(values, more)) end,
  min = function(values) return (extreme(values, less)) end,
  argmax = function(values) return select(2, extreme(values, more)) end,
  argmin = function(values) return select(2, extreme(values, less)) end,
}

--- Some elements equal, some NaN.
local function with_ties(x)
  local rough = (x * 2):round()
  return roper.where(rough:gt(3), nan, rough)
end

describe("reduction", function()
  for name, f in pairs(reductions) do
    it(name .. " agrees with plain Lua along every axis", function()
      arrays.each_seed(25, function(seed)
        local dtype = seed % 2 == 0 and "float64" or "float32"
        local x = arrays.random_layout(arrays.random_shape(1, 4, 6), dtype)
        if name ~= "sum" and name ~= "mean" then
          x = with_ties(x)
        end
        local tolerance = dtype == "float64" and 1e-13 or 1e-5
        for axis = 1, x:rank() do
          for _, keep in ipairs({ false, true }) do
            if x:size(axis) > 0 or name == "sum" then
              local expected = arrays.reduce(f, arrays.from(x), axis, keep)
              arrays.check(expected, x[name](x, axis, keep), tolerance, name)
              arrays.check(expected, x[name](x, axis - x:rank() - 1, keep), tolerance, name)
            end
          end
        end
        if x:count() > 0 or name == "sum" then
          for _, keep in ipairs({ false, true }) do
            arrays.check(arrays.reduce(f, arrays.from(x), nil, keep), x[name](x, nil, keep),
              tolerance * 100, name)
          end
        end
      end)
    end)

    it(name .. " names itself when it refuses", function()
      local x = roper.ones({ 2, 3 })
      local call = load(("local x, axis = ... return x:%s(axis)"):format(name))
      for _, axis in ipairs({ 0, 3, -3 }) do
        assert.error_matches(function() call(x, axis) end,
          "'" .. name .. "' %(expected an axis from 1 to 2 %(or %-1 to %-2%), got ")
      end
      local extremum = name:gsub("arg", "")
      assert.error_matches(function() x[name](x, "x") end, "number expected, got string")
      if name ~= "sum" then
        local of_none = extremum .. ": expected at least one element, got shape "
        assert.error_matches(function() roper[name](roper.zeros({ 0, 2 }), 1) end, of_none)
        assert.error_matches(function() roper[name](roper.zeros({ 0, 2 })) end, of_none)
        assert.same({ 0 }, roper[name](roper.zeros({ 0, 2 }), 2):shape())
      end
    end)
  end

  it("sums no elements to 0", function()
    assert.equal(0, roper.zeros({ 0, 3 }):sum():item())
    assert.same({ 0, 0, 0 }, roper.zeros({ 0, 3 }):sum(1):totable())
    assert.same({ 0 }, roper.zeros({ 0, 3 }):sum(2):shape())
  end)

  it("returns a scalar unchanged", function()
    for name in pairs(reductions) do
      assert.equal(name:find("arg") and 1 or 5, roper[name](roper.tensor(5)):item())
    end
    assert.error_matches(function() roper.tensor(5):sum(1) end, "a scalar has no axes")
  end)

  it("sums int32 in float64, past 32 bits", function()
    local x = roper.full({ 4, 2 }, 2147483647, "int32")
    assert.equal(8 * 2147483647, x:sum():item())
    assert.equal("float64", x:sum(1):dtype())
    assert.equal("float64", x:mean():dtype())
    assert.equal(2147483647, x:mean():item())
    assert.equal("int32", x:max(1):dtype())
    assert.same({ 1, 1 }, x:argmax(1):totable())
  end)

  it("accumulates float32 in float64", function()
    local x = roper.full({ 1 << 20 }, 0.1)
    local each = roper.full({}, 0.1):to("float64"):item()
    assert.is_true(math.abs(x:sum():item() / ((1 << 20) * each) - 1) < 1e-7)
    local cancelling = roper.tensor({ 1e8, 1, -1e8 })
    assert.equal(1, cancelling:sum():item())
    assert.same({ 1 }, cancelling:view({ 1, 3 }):sum(2):totable())
    assert.same({ 1 }, cancelling:view({ 3, 1 }):sum(1):totable())
  end)

  it("handles infinities", function()
    local x = roper.tensor({ 1, inf, -inf })
    assert.is_true(x:sum():item() ~= x:sum():item())
    assert.equal(inf, x:max():item())
    assert.equal(-inf, x:min():item())
  end)

  it("gives the same bits with one thread and with two", function()
    local threads = roper.threads()
    local x = roper.randn({ 37, 41, 101 })
    for _, name in ipairs({ "sum", "mean", "max", "argmin" }) do
      for axis = 0, 3 do
        local results = {}
        for n = 1, 2 do
          roper.threads(n)
          results[n] = x[name](x, axis > 0 and axis or nil):to("float64")
        end
        assert.equal(0, (results[1] - results[2]):abs():max():item())
      end
    end
    roper.threads(threads)
  end)
end)

describe("reduction over several axes", function()
  it("equals the reduction over the axes merged into one", function()
    arrays.each_seed(40, function(seed)
      local x = arrays.random_layout(arrays.random_shape(2, 4, 4), "float64")
      if seed % 2 == 0 then
        x = (x * 100):to("int32")
      end
      local axes, reduced, order, merged, sizes = {}, {}, {}, {}, x:shape()
      for axis = 1, x:rank() do
        if math.random(2) == 1 then
          axes[#axes + 1] = math.random(2) == 1 and axis or axis - x:rank() - 1
          reduced[#reduced + 1], sizes[axis] = axis, 1
        else
          merged[#merged + 1], order[#order + 1] = x:size(axis), axis
        end
      end
      if axes[1] and x:count() > 0 then
        table.move(reduced, 1, #reduced, #order + 1, order)
        merged[#merged + 1] = -1
        local lines = x:permute(order):contiguous():view(merged)
        for _, name in ipairs({ "sum", "mean", "max", "min" }) do
          local expected = lines[name](lines, #merged)
          arrays.close(expected, x[name](x, axes), 1e-12, name)
          arrays.close(expected:view(sizes), x[name](x, axes, true), 1e-12, name)
        end
      end
    end)
  end)

  it("is as precise as a reduction over everything", function()
    local x = roper.tensor({ { 1e8, 1 }, { -1e8, 1 } })
    assert.equal(2, x:sum({ 1, 2 }):item())
    assert.equal(2, x:sum({ 2, 1 }):item())
  end)

  it("of no elements is 0 for sums, and an error for the others", function()
    local x = roper.zeros({ 2, 0, 3 })
    assert.same({ { 0, 0, 0 } }, x:sum({ 1, 2 }, true):view({ 1, 3 }):totable())
    assert.error_matches(function() x:max({ 1, 2 }) end, "max: expected at least one element")
  end)

  it("rejects invalid axes", function()
    local x = roper.ones({ 2, 3 })
    assert.error_matches(function() x:sum({}) end, "expected at least one axis")
    assert.error_matches(function() x:sum({ 1, 3 }) end, "an axis from 1 to 2")
    assert.error_matches(function() x:sum({ 2, -1 }) end, "each axis once, got axis %-1 twice")
    assert.error_matches(function() x:sum({ 1, "x" }) end, 'expected axes, got "x"')
    assert.error_matches(function() x:sum({ 1, keep = true }) end, "unknown field keep")
    assert.error_matches(function() roper.tensor(1):sum({ 1 }) end, "a scalar has no axes")
  end)
end)

describe("cumsum", function()
  it("agrees with plain Lua along every axis", function()
    arrays.each_seed(25, function()
      local x = arrays.random_layout(arrays.random_shape(1, 4, 6), "float64")
      for axis = 1, x:rank() do
        local from = arrays.from(x)
        local expected = arrays.make(from.shape, function(at)
          local total, place = 0, table.move(at, 1, #at, 1, {})
          for i = 0, at[axis] do
            place[axis] = i
            total = total + arrays.get(from, place)
          end
          return total
        end)
        arrays.check(expected, x:cumsum(axis), 1e-13, "cumsum")
      end
    end)
  end)

  it("sums int32 in float64, past 32 bits", function()
    local y = roper.full({ 3 }, 2147483647, "int32"):cumsum(1)
    assert.equal("float64", y:dtype())
    assert.same({ 2147483647, 4294967294, 6442450941 }, y:totable())
  end)
end)
