local process = require("tests.process")
local roper = require("roper")

local HUGE <const> = { 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 40, 1 << 61, 1 << 62, math.maxinteger }

-- Calls every method of tensors with tensors of one element that show it 2^50 times and more, in a
-- process of its own: what reads foreign memory ends it.
local CODE <const> = [[
  roper.memory_limit(64 << 20)
  local one, place, few = roper.ones { 1 }, roper.ones({ 1 }, "int32"), roper.arange(0, 24)
  local huge = { one:expand { 1 << 31, 1 << 20 }, one:expand { 1 << 58 },
    place:expand { 1 << 31, 1 << 20 }, place:expand { 1 << 58 }, place:ne(0):expand { 1 << 58 },
    one:as_strided({ 1 << 29, 1 << 29 }, { 0, 0 }), one:expand { 1, 1 << 20, 1 << 29, 4 },
    few:as_strided({ 1 << 32, 2, 1 << 20, 3 }, { 0, 3, 0, 1 }),
    one:parameter():expand { 1 << 40, 1 }, roper.zeros { 0, 1 << 58 } }
  local others = { 1, 2, -1, { 1, 2 }, {}, "float64", "int32", few, one, place,
    roper.zeros({ 1, 1, 1, 4 }), roper.arange(1, 3, 1, "int32") }
  table.move(huge, 1, #huge, #others + 1, others)
  local calls = 0
  local function call(f, ...)
    local ok, y = pcall(f, ...)
    calls = calls + 1
    if ok and type(y) == "userdata" then
      assert(y:count() >= 0 and #tostring(y) > 0)
      pcall(function() y:sum():backward() end)
    end
  end
  local methods = debug.getmetatable(one).methods
  for _, x in ipairs(huge) do
    call(function() return #x, x[1], x == x, x:item() end)
    call(function() x[1] = 1 end)
    for _, f in pairs(methods) do
      call(f, x)
      for _, second in ipairs(others) do
        call(f, x, second)
        call(f, second, x)
        call(f, x, second, 1, 1)
        call(f, x, 1, second)
      end
    end
    for _, y in ipairs(others) do
      call(function() return x[y] end)
      call(function() x[y] = 1 end)
      call(function() few[x] = y end)
      for _, f in ipairs { roper.matmul, roper.linear, roper.embedding, roper.cross_entropy,
        roper.attention, roper.linear_attention, roper.attention_weights, roper.rms_norm,
        roper.layer_norm, roper.where, roper.linear_cross_entropy, roper.oracle.attention,
        roper.rotate, roper.causal_convolution, roper.householder_scores,
        roper.householder_sums } do
        call(f, x, y)
        call(f, y, x)
        call(f, x, y, y)
        call(f, y, x, x)
        call(f, y, y, x)
        call(f, x, x, x)
        call(f, x, x, x, y)
        call(f, x, y, y, y)
      end
      call(roper.cat, { x, y })
      call(roper.stack, { x, x })
      call(roper.einsum, "i...,i...->...", x, y)
    end
  end
  print(calls > 10000)
]]

describe("a tensor of more elements than memory holds", function()
  it("is rejected if its elements cannot be counted, also as a view", function()
    local x = roper.ones({ 1 })
    for _, size in ipairs(HUGE) do
      for _, shape in ipairs({ { size, size }, { size, 1, size }, { 0, size, size },
        { size, 1 << 30 } }) do
        local strides = {}
        for axis = 1, #shape do
          strides[axis] = 0
        end
        for name, f in pairs({ as_strided = function() return x:as_strided(shape, strides) end,
          expand = function() return x:expand(shape) end,
          view = function() return roper.zeros({ 0 }):view(shape) end,
          zeros = function() return roper.zeros(shape) end }) do
          local ok, message = pcall(f)
          assert(not ok, name)
          assert(tostring(message):find("more elements than can be addressed", 1, true)
            or message:find("view: [0] has 0 elements", 1, true), message)
        end
      end
    end
    assert.error_matches(function()
      return x:as_strided({ 1 << 32, 1 << 32 }, { 0, 0 }):sum(1)
    end, "%[4294967296, 4294967296%] has more elements than can be addressed")
    assert.error_matches(function()
      return roper.embedding(x:as_strided({ 1 << 32, 1 << 31 }, { 0, 0 }),
        roper.zeros({ 1 }, "int32"))
    end, "has more elements than can be addressed")
  end)

  it("does not allocate unused elements", function()
    local x = roper.arange(0, 4)
    local y = x:as_strided({ 1, 4 }, { math.mininteger, 1 })
    assert.same({ { 0, 1, 2, 3 } }, y:narrow(1, 1, 1):contiguous():totable())
    local none = x:as_strided({ 0, 4 }, { math.maxinteger, math.mininteger }, math.maxinteger)
    assert.same({ 0, 2 }, none:narrow(2, 3, 2):clone():shape())
  end)

  it("is not written to if several elements share memory", function()
    local x = roper.arange(0, 9)
    for _, y in ipairs({ x:as_strided({ 1 << 40 }, { 0 }), x:as_strided({ 3, 3 }, { 1, 1 }),
      x:as_strided({ 2, 3 }, { 2, -1 }, 2) }) do
      assert.error_matches(function() y:fill(1) end, "assign: axis %d of .*")
      assert.error_matches(function() y:copy(roper.tensor(2)) end, "assign: axis %d of .*")
    end
    x:as_strided({ 2, 3 }, { 3, -1 }, 2):copy(roper.tensor({ { 1, 2, 3 }, { 4, 5, 6 } }))
    assert.same({ 3, 2, 1, 6, 5, 4, 6, 7, 8 }, x:totable())
  end)

  it("is accepted or rejected by every operation", function()
    local status, output, errors = process.run({ "./roper", "-e", CODE })
    assert.equal("", errors)
    assert.same({ 0, "true\n" }, { status, output })
  end)
end)
