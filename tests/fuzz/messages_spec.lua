local roper = require("roper")
local messages = require("tests.fuzz.messages")

describe("messages.problem", function()
  it("finds messages of Lua about code of the library", function()
    for _, message in ipairs({ "/a/roper/model/file.lua:12: attempt to index a nil value",
      "attempt to compare number with nil", "/a/roper/x.lua:1: bad argument #1 to 'for iterator'",
      "/a/roper/x.lua:1: bad argument #2 to 'insert' (number expected, got nil)",
      "table index is nil" }) do
      assert.equal(message, messages.problem(message))
    end
  end)

  it("accepts messages about the user's mistake", function()
    for _, call in ipairs({ roper.sum, roper.nn.Linear, roper.load, roper.stack }) do
      local ok, message = pcall(call, 3)
      assert.is_false(ok)
      assert.is_nil(messages.problem(message))
    end
    assert.is_nil(messages.problem("call:1: attempt to index a nil value (global 'x')"))
    assert.is_nil(messages.problem({}))
  end)
end)
