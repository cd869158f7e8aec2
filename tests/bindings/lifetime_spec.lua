local process = require "tests.process"
local roper = require "roper"

describe("a value that C is working on", function()
  -- In a process of its own: there is little to collect at each allocation, and it may end badly.
  it("can be closed by lists, options and finalizers: the result is correct or an error", function()
    local status, output, errors = process.run({ "lua5.4", "tests/bindings/lifetime.lua" }, nil,
      { LUA_PATH = package.path, LUA_CPATH = package.cpath })
    local functions, right, refused = output:match(
      "^(%d+) functions, (%d+) calls right, (%d+) refused\n$")
    assert(functions, output .. errors)
    assert.equal("", errors)
    assert.equal(0, status)
    assert.is_true(tonumber(right) > 300 and tonumber(refused) > 300)
  end)

  it("is a shape without sizes if a list reports a negative length", function()
    local list = setmetatable({}, {
      __len = function() return -(1 << 32) + 4096 end,
      __index = function() return 1 end,
    })
    assert.same({}, roper.ones({ 1 }):view(list):shape())
  end)
end)
