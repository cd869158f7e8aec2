local process = require("tests.process")

-- Runs in a process of its own, which is killed if it counts to 2^40.
local CODE <const> = [[
  local huge = 1 << 40
  local function shapes(...)
    for _, shape in ipairs { ... } do
      print(table.concat(shape:shape(), " "))
    end
  end
  for axis = 1, 3 do
    for _, shape in ipairs { { huge, 4, 0 }, { huge, 0, 4 }, { 4, huge, 0 }, { 0, 4, huge } } do
      local x = roper.zeros(shape)
      assert(#x:cumsum(axis):shape() == 3)
      assert(#x:softmax(axis):shape() == 3)
      pcall(x.sum, x, axis)
      pcall(x.mean, x, axis)
      pcall(x.max, x, axis)
      pcall(x.argmin, x, axis)
      local w = x:clone():parameter()
      local none = x:narrow(axis, 1, 0):to "int32"
      w:gather(axis, none):sum():backward()
      w:cumsum(axis):sum():backward()
      w:log_softmax(axis):sum():backward()
      assert(#w.grad:shape() == 3)
      assert(#roper.cat({ x, x }, axis):shape() == 3)
      assert(#x:flip(axis):roll(1, axis):shape() == 3 and not x:any() and x:isfinite():all())
      x[x:gt(0)] = 1
      w:index_select(axis, roper.zeros({ 0 }, "int32")):sum():backward()
      assert(x == x:clone() and roper.einsum("abc->cab", x):size(2) == shape[1])
      for _, name in ipairs { "argsort", "prod", "std", "sum" } do
        pcall(x[name], x, name == "sum" and { 1, 3 } or axis)
      end
      assert(#x:transpose(1, axis):contiguous():shape() == 3)
      assert(tostring(x):find(huge, 1, true))
    end
  end
  local key = roper.ones { 1, 1, 2, 2 }
  for _, batch in ipairs { { huge, 2 }, { 1, huge }, { huge, 1 } } do
    local q = roper.zeros { batch[1], batch[2], 0, 2 }
    local k = key:expand { batch[1], batch[2], 2, 2 }
    for _, f in ipairs { roper.attention, roper.linear_attention } do
      assert(#f(q, k, k):shape() == 4)
    end
    assert(#roper.attention_weights(q, k):shape() == 4)
  end
  shapes(roper.zeros({ 0, huge }):cumsum(1), roper.zeros({ 2, huge, 0 }):sum(1))
  for _, x in ipairs { roper.zeros { huge, 0 }, roper.zeros({ 1 }):expand { huge },
                       roper.zeros { 3, huge, 0, 2 } } do
    print(select(2, pcall(function() x:totable() end)):match "totable.*")
  end
  assert(#roper.zeros({ 3, 0, huge }):totable() == 3)
]]

describe("an empty tensor", function()
  it("takes no time and no memory, whatever its other sizes", function()
    local status, output, errors = process.run({ "./roper", "-e", CODE })
    assert.equal("", errors)
    assert.equal(0, status)
    local places = "totable: out of memory: tables of shape %%[%s%%] take %%d+ bytes, with %%d+ "
      .. "in use, limit %%d+\n"
    assert.matches("^0 1099511627776\n1099511627776 0\n" .. places:format("1099511627776, 0")
      .. places:format("1099511627776") .. places:format("3, 1099511627776, 0, 2") .. "$", output)
  end)
end)
