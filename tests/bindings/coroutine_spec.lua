local core = require("roper.core")
local roper = require("roper")
local uv = require("luv")

local function same(message)
  return message
end

describe("a coroutine", function()
  local resume, wrap = coroutine.resume, coroutine.wrap

  setup(core.interrupt_enable)
  teardown(core.interrupt_disable)

  local function loop()
    uv.kill(uv.os_getpid(), "sigint")
    while true do end
  end

  it("is interrupted by Ctrl-C, however it was resumed", function()
    for name, run in pairs({
      resume = function() return assert(coroutine.resume(coroutine.create(loop))) end,
      wrap = function() return coroutine.wrap(loop)() end,
      inner = function()
        return coroutine.wrap(function() coroutine.wrap(loop)() end)()
      end,
      later = function()
        local step = coroutine.wrap(function() coroutine.yield() loop() end)
        step()
        step()
      end,
    }) do
      local ok, message = core.interrupt_call(run, same)
      assert.is_false(ok, name)
      assert.matches("interrupted$", message)
      assert.is_false(core.interrupted())
    end
  end)

  it("is interrupted by Ctrl-C in its own backward pass", function()
    local went_on = false
    local f = roper.differentiable(function(x) return x * 1 end, function()
      uv.kill(uv.os_getpid(), "sigint")
      for _ = 1, 1e6 do end
      went_on = true
    end)
    local ok, message = core.interrupt_call(coroutine.wrap(function()
      f(roper.ones({}):parameter()):backward()
    end), same)
    assert.is_false(ok)
    assert.matches("interrupted$", message)
    assert.is_false(went_on)
  end)

  it("does not keep Ctrl-C from the code around it after it has yielded", function()
    local ok, message = core.interrupt_call(function()
      local step = coroutine.wrap(function() coroutine.yield() end)
      step()
      loop()
    end, same)
    assert.is_false(ok)
    assert.equal("interrupted", message)
  end)

  it("is ended by the second Ctrl-C if it catches errors", function()
    local ok, message = core.interrupt_call(function()
      while true do
        coroutine.resume(coroutine.create(loop))
      end
    end, same)
    assert.is_false(ok)
    assert.equal("interrupted", message)
  end)

  it("is not changed outside a call that Ctrl-C can interrupt", function()
    uv.kill(uv.os_getpid(), "sigint")
    uv.kill(uv.os_getpid(), "sigint")
    assert.equal(5, coroutine.wrap(function() return 5 end)())
    assert.is_true(core.interrupt_clear())
  end)

  -- The behaviour of a function with roper's resume and wrap, and with Lua's.
  local function both(f)
    local ours = table.pack(pcall(f, coroutine.resume, coroutine.wrap))
    return table.pack(pcall(f, resume, wrap)), ours
  end

  it("is resumed and wrapped by Lua's functions after interrupts are disabled", function()
    core.interrupt_disable()
    assert.equal(resume, coroutine.resume)
    assert.equal(wrap, coroutine.wrap)
    core.interrupt_enable()
  end)

  it("behaves like Lua's resume and wrap", function()
    assert.not_equal(resume, coroutine.resume)
    assert.not_equal(wrap, coroutine.wrap)
    local closed = 0
    for _, f in ipairs({
      function(r)
        local co = coroutine.create(function(...) return select("#", ...), coroutine.yield(...) end)
        return { r(co, 1, nil, nil) }, { r(co, "a", nil) }, { r(co) }, coroutine.status(co)
      end,
      function(r) return r(coroutine.create(error), { 1 }) end,
      function(r) return r(coroutine.create(function() error("x") end)) end,
      function(r) return r(coroutine.running()) end,
      function(r) return r(5) end,
      function(r) return r() end,
      function(_, w) return w(5) end,
      function(_, w) return w(function(...) return ... end)(1, nil, 3, nil) end,
      function(_, w) return w(function() error("text", 0) end)() end,
      function(_, w) return w(function() error() end)() end,
      function(_, w) return w(function() error({ code = 3 }) end)() end,
      function(_, w) local g = w(function() end) g() return g() end,
      function(_, w)
        return w(function()
          local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
          error("left")
        end)()
      end,
      function(_, w)
        return w(function()
          local _ <close> = setmetatable({}, { __close = function() error("second") end })
          error("first")
        end)()
      end,
      function(_, w)
        local list = {}
        for i in w(function() for i = 1, 3 do coroutine.yield(i) end end) do
          list[#list + 1] = i
        end
        return list
      end,
    }) do
      local expected, ours = both(f)
      assert.same(expected, ours)
    end
    assert.equal(2, closed)
  end)
end)
