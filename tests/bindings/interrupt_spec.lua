local core = require("roper.core")
local uv = require("luv")

-- SIGINT to this process, as Ctrl-C sends it.
local function interrupt()
  uv.kill(uv.os_getpid(), "sigint")
end

describe("interrupt", function()
  before_each(core.interrupt_enable)
  after_each(core.interrupt_disable)

  local function same(message)
    return message
  end

  it("only raises the flag outside interrupt_call", function()
    interrupt()
    assert.is_true(core.interrupted())
    assert.is_true(core.interrupt_clear())
    assert.is_false(core.interrupted())
    assert.is_false(core.interrupt_clear())
  end)

  it("interrupts a Lua loop", function()
    local ok, message = core.interrupt_call(function()
      interrupt()
      while true do end
    end, same)
    assert.is_false(ok)
    assert.equal("interrupted", message)
    assert.is_false(core.interrupted())
  end)

  it("interrupts a kernel", function()
    local a = core.ones({ 256, 256 })
    interrupt()
    assert.error_matches(function() a:matmul(a) end, "interrupted")
    assert.is_false(core.interrupted())
    assert.equal(256, a:matmul(a)[1][1]:item())
  end)

  it("is raised once if a pcall catches the error", function()
    local ok, count = core.interrupt_call(function()
      local count = 0
      for i = 1, 1000 do
        local went_on = pcall(function()
          if i == 500 then
            interrupt()
          end
        end)
        count = count + (went_on and 0 or 1)
      end
      return count
    end, same)
    assert.is_true(ok)
    assert.equal(1, count)
    assert.is_false(core.interrupted())
  end)

  it("is raised once if the signal comes while kernels run", function()
    local a = core.ones({ 1024, 1024 })
    local pipe, sender = uv.new_pipe(), nil
    local command = { "-c", ("read go; kill -INT %d"):format(uv.os_getpid()) }
    sender = uv.spawn("sh", { args = command, stdio = { pipe } }, function() sender:close() end)
    local _, message = core.interrupt_call(function()
      pipe:write("go\n")
      local went_on, reason
      repeat
        went_on, reason = pcall(a.matmul, a, a)
      until not went_on
      local sum = 0
      for i = 1, 1000 do
        sum = sum + i
      end
      assert.equal(500500, sum)
      return reason
    end, same)
    pipe:close()
    uv.run()
    assert.equal("interrupted", message)
    assert.is_false(core.interrupted())
  end)

  it("ends the next call if it comes between two, unless it is cleared", function()
    local reached = 0
    local function reach()
      reached = reached + 1
    end
    interrupt()
    assert.same({ false, "interrupted" }, { core.interrupt_call(reach, same) })
    assert.same({ true }, { core.interrupt_call(reach, same) })
    interrupt()
    interrupt()
    assert.is_true(core.interrupt_clear())
    assert.same({ true }, { core.interrupt_call(reach, same) })
    assert.equal(2, reached)
  end)

  it("leaves no flag behind if the last function of the call is interrupted", function()
    core.interrupt_call(uv.kill, same, uv.os_getpid(), "sigint")
    assert.is_false(core.interrupted())
    local sum = 0
    for i = 1, 1000 do
      sum = sum + i
    end
    assert.equal(500500, sum)
  end)

  it("passes arguments and results, and errors through the handler", function()
    assert.same({ true, 1, nil, 3, n = 4 },
      table.pack(core.interrupt_call(function(...) return ... end, same, 1, nil, 3)))
    assert.same({ false, "handled: x", n = 2 },
      table.pack(core.interrupt_call(error, function(m) return "handled: " .. m end, "x", 0)))
  end)

  it("nests", function()
    local ok, message = core.interrupt_call(function()
      assert.is_true(core.interrupt_call(function() end, same))
      interrupt()
      while true do end
    end, same)
    assert.is_false(ok)
    assert.equal("interrupted", message)
  end)

  it("ends code that catches errors at the second Ctrl-C", function()
    local taken, handled = 0, 0
    local ok, message = core.interrupt_call(function()
      while true do
        pcall(function()
          interrupt()
          while true do end
        end)
        taken = taken + 1
      end
    end, function(m)
      for _ = 1, 10 do
        handled = handled + 1
      end
      return m
    end)
    assert.is_false(ok)
    assert.equal("interrupted", message)
    assert.equal(1, taken)
    assert.equal(10, handled)
    assert.is_true((core.interrupt_call(function() for _ = 1, 100 do end end, same)))
  end)

  it("waits for the end of a deferred call", function()
    local done, rest = 0, 0
    local ok, message = core.interrupt_call(function()
      local result = core.interrupt_defer(function(x)
        interrupt()
        core.interrupt_defer(function()
          local a = core.ones({ 300, 300 })
          done = a:matmul(a):sum():item()
        end)
        assert.is_false(core.interrupted())
        return x
      end, 5)
      rest = result
      rest = rest + 1
    end, same)
    assert.is_false(ok)
    assert.equal("interrupted", message)
    assert.equal(300 ^ 3, done)
    assert.equal(0, rest)
  end)

  it("is not lost if a deferred call fails", function()
    local _, message = core.interrupt_call(function()
      local failed, why = pcall(core.interrupt_defer, function()
        interrupt()
        error("failed", 0)
      end)
      return failed, why
    end, same)
    assert.equal("interrupted", message)
    assert.error_matches(function() core.interrupt_defer(error, "told", 0) end, "^told$")
    interrupt()
    assert.error_matches(function() core.interrupt_defer(print) end, "interrupted")
  end)

  it("checks the arguments of its functions", function()
    assert.error_matches(function() core.interrupt_call() end, "function expected")
    assert.error_matches(function() core.interrupt_call(print) end, "function expected")
    assert.error_matches(function() core.interrupted(1) end, "at most 0 arguments")
  end)

  it("returns from interrupt_wait on input or on the flag", function()
    local descriptor = assert(uv.fs_open("/dev/null", "r", 0))
    assert.is_true(core.interrupt_wait(descriptor))
    interrupt()
    assert.is_false(core.interrupt_wait(descriptor))
    assert.is_true(core.interrupted())
    assert.error_matches(function() core.interrupt_wait(-1) end, "descriptor")
    uv.fs_close(descriptor)
  end)

  it("can be disabled twice and enabled again", function()
    core.interrupt_disable()
    core.interrupt_disable()
    core.interrupt_enable()
    core.interrupt_enable()
    interrupt()
    assert.is_true(core.interrupted())
  end)
end)
