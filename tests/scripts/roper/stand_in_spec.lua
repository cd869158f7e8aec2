local roper = require("roper")
local stand_in = require("roper.stand_in")

describe("stand_in", function()
  local x = roper.ones({ 2 })

  it("takes a tensor for itself", function()
    assert.is_true(stand_in.is_tensor(x))
    assert.equal(x, stand_in.tensor(x))
  end)

  it("computes what an object stands for when asked for it, not before", function()
    local calls = 0
    local object = setmetatable({}, { __tensor = function()
      calls = calls + 1
      return x
    end })
    assert.is_true(stand_in.is_tensor(object))
    assert.equal(0, calls)
    assert.equal(x, stand_in.tensor(object))
    assert.equal(1, calls)
  end)

  it("knows other values", function()
    for _, value in ipairs({ 1, "text", {}, print, roper.position.none(),
                             setmetatable({}, { __index = { __tensor = print } }) }) do
      assert.is_false(stand_in.is_tensor(value))
      assert.is_nil(stand_in.tensor(value))
    end
    assert.is_false(stand_in.is_tensor(nil))
  end)
end)
