local complete = require("roper.complete")
local roper = require("roper")

describe("complete.names", function()
  local class = { turn = function() end, twist = function() end, _hidden = 1 }
  class.__index = class
  local globals = {
    roper = { attention = 1, attend = 2, nn = { Linear = 1 } },
    rope = 3,
    object = setmetatable({ turns = 5 }, class),
    tensor = roper.zeros({ 2 }),
    text = "abc",
    ["not a name"] = 1,
  }

  local function offers(expected, text)
    assert.same(expected, complete.names(text, globals))
  end

  it("offers globals", function()
    offers({ "rope", "roper" }, "ro")
    offers({ "rope", "roper" }, "x = f(1) + ro")
    offers({}, "xyz")
  end)

  it("offers fields, with the path in front", function()
    offers({ "roper.attend", "roper.attention" }, "roper.att")
    offers({ "roper.nn.Linear" }, "f(roper.nn.")
    offers({}, "roper.nothing.")
    offers({}, "roper.nn.Linear.")
  end)

  it("offers methods: functions alone after a colon", function()
    offers({ "object:turn", "object:twist" }, "object:t")
    offers({ "object.turn", "object.turns" }, "object.turn")
    offers({ "text:rep", "text:reverse" }, "text:re")
    offers({ "tensor:matmul" }, "tensor:matm")
  end)

  it("hides names with an underscore until one is typed", function()
    offers({ "object._hidden" }, "object._h")
    assert.equal(nil, table.concat(complete.names("object.", globals)):find("_"))
  end)

  it("offers nothing after what is no name", function()
    offers({}, "")
    offers({}, "x + ")
    offers({}, "3ro")
    offers({}, "f().ro")
  end)

  it("calls nothing on the way", function()
    local trap = setmetatable({}, { __index = function() error("called") end })
    assert.same({}, complete.names("trap.inner.x", { trap = trap }))
  end)

  it("offers what is loaded on first use, and loads it to look inside", function()
    local loaded = {}
    local lazy = setmetatable({}, {
      __names = function() return { "inner", "outer" } end,
      __index = function(_, name)
        loaded[#loaded + 1] = name
        return { x = 1 }
      end,
    })
    assert.same({ "lazy.inner", "lazy.outer" }, complete.names("lazy.", { lazy = lazy }))
    assert.same({}, loaded)
    assert.same({ "lazy.inner.x" }, complete.names("lazy.inner.", { lazy = lazy }))
    assert.same({}, complete.names("lazy.other.", { lazy = lazy }))
    assert.same({ "inner" }, loaded)
  end)

  it("survives metatables in a circle", function()
    local a, b = {}, {}
    setmetatable(a, { __index = b })
    setmetatable(b, { __index = a })
    b.name = 1
    assert.same({ "a.name" }, complete.names("a.", { a = a }))
  end)
end)
