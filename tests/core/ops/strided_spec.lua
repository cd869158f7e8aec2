local arrays = require("tests.arrays")
local gradients = require("tests.gradients")
local roper = require("roper")

describe("as_strided", function()
  before_each(function() roper.seed(1) end)

  it("shows elements by their row-major number, whatever the layout", function()
    arrays.each_seed(200, function()
      local x = arrays.random_layout({ math.random(1, 4), math.random(2, 5) })
      local flat = x:contiguous():view({ -1 }):totable()
      local shape, strides = { math.random(1, 4), math.random(1, 4) }, {}
      local low, high = 0, 0
      for i, size in ipairs(shape) do
        strides[i] = math.random(-2, 2)
        local reach = (size - 1) * strides[i]
        low, high = low + math.min(reach, 0), high + math.max(reach, 0)
      end
      if high - low < #flat then
        local offset = math.random(0, #flat - 1 - (high - low)) - low
        local y = x:as_strided(shape, strides, offset)
        for i = 1, shape[1] do
          for j = 1, shape[2] do
            local at = offset + (i - 1) * strides[1] + (j - 1) * strides[2]
            assert.equal(flat[at + 1], y[{ i, j }]:item())
          end
        end
      end
    end)
  end)

  it("shares storage with a packed tensor", function()
    local x = roper.arange(0, 5)
    local y = x:as_strided({ 3, 3 }, { -1, 1 }, 2)
    x[3] = 9
    assert.same({ { 9, 3, 4 }, { 1, 9, 3 }, { 0, 1, 9 } }, y:totable())
    assert.same({}, x:as_strided({ 0, 3 }, { 100, 1 }, 77):totable())
    assert.equal(3, x:as_strided({}, {}, 3):item())
  end)

  it("sums the gradients of positions that show the same element", function()
    for _, case in ipairs({
      { { 2, 6 }, { 2, 3, 4 }, { 6, -1, 1 }, 2 },         -- by distance
      { { 2, 3, 6 }, { 2, 3, 4 }, { 18, 5, 1 }, 2 },      -- relative shift
      { { 7 }, { 3, 2, 4 }, { 0, 0, 2 } },                -- broadcast
      { { 8 }, { 2, 3, 2, 2 }, { 1, 1, 1, 1 } },          -- all axes overlap
      { { 3, 4 }, { 4, 3 }, { 1, 4 } },                   -- transposed
    }) do
      gradients.check(function(x) return x:as_strided(case[2], case[3], case[4]) end, { case[1] })
    end
  end)

  it("rejects positions out of range and invalid strides", function()
    local x = roper.zeros({ 2, 5 })
    local function refused(message, ...)
      local arguments = table.pack(...)
      assert.error_matches(function()
        x:as_strided(table.unpack(arguments, 1, arguments.n))
      end, message)
    end
    refused("%[3, 3%] with strides %[%-1, 1%] from element 1 on is not inside the 10 elements",
      { 3, 3 }, { -1, 1 }, 1)
    refused("is not inside", { 11 }, { 1 })
    refused("is not inside", { 3 }, { math.maxinteger })
    refused("is not inside", { 3, 3 }, { math.mininteger, math.maxinteger })
    refused("expected 2 strides, one for each size, got 1", { 2, 2 }, { 1 })
  end)
end)
