local arity = require("roper.options.arity")

describe("arity.limit", function()
  local function one(x)
    return x
  end

  it("lets functions reject arguments beyond their parameters, unless they are nil", function()
    local M = arity.limit({ one = one, none = function() return 5 end })
    assert.equal(3, M.one(3, nil, nil))
    assert.is_nil(M.one())
    assert.equal(5, M.none())
    for message, f in pairs({
      ["one: expected at most 1 argument, got 2"] = function() M.one(1, 2) end,
      ["one: expected at most 1 argument, got 3"] = function() M.one(1, nil, false, nil) end,
      ["none: expected at most 0 arguments, got 1"] = function() M.none(1) end,
    }) do
      local ok, raised = pcall(f)
      assert.is_false(ok)
      local place, text = raised:match("^(.-:%d+): (.*)$")
      assert.equal(message, text)
      assert.matches("arity_spec.lua:%d+$", place)
    end
  end)

  it("counts the object of a method", function()
    local Class = {}
    Class.__index = Class
    function Class.name() return "class" end -- does not read the object
    arity.limit(Class)
    local object = setmetatable({}, Class)
    assert.equal("class", object:name())
    assert.error_matches(function() object:name(1) end, "name: expected at most 1 argument, got 2")
  end)

  it("lets methods reject objects of other classes", function()
    local Class, Derived = {}, {}
    Class.__index, Derived.__index = Class, setmetatable(Derived, Class)
    function Class:count() return #self end
    function Class.new(list) return setmetatable(list, Derived) end
    arity.limit(Class, "Answer")
    assert.equal(2, Class.new({ 1, 2 }):count())
    local message = "count: expected an Answer, got %s; call it with a colon: object:count%%(...%%)"
    for text, value in pairs({ ["a table"] = {}, ['"ab"'] = "ab", ["nil"] = false }) do
      local ok, raised = pcall(function() Class.count(value or nil) end)
      assert.is_false(ok)
      assert.matches("arity_spec.lua:%d+: " .. message:format(text), raised)
    end
  end)

  it("leaves other functions and values as they are, and is idempotent", function()
    local function open(...) return ... end
    local M = { open = open, floor = math.floor, _private = one, number = 5, one = one }
    assert.equal(M, arity.limit(M))
    assert.same({ open = open, floor = math.floor, _private = one, number = 5, one = M.one }, M)
    local limited = M.one
    assert.not_equal(one, limited)
    arity.limit(M)
    assert.equal(limited, M.one)
  end)

  it("changes a single function of a module", function()
    local M = { one = one, other = one }
    arity.limit_one(M, "other")
    assert.equal(one, M.one)
    assert.equal(one, arity.original(M.other))
    assert.not_equal(one, M.other)
  end)

  it("keeps the original, and the level of errors", function()
    local M = arity.limit({ one = one, fail = function() error("at the caller", 2) end })
    assert.equal(one, arity.original(M.one))
    assert.equal(one, arity.original(one))
    assert.matches("arity_spec.lua:%d+: at the caller", select(2, pcall(function() M.fail() end)))
  end)
end)
