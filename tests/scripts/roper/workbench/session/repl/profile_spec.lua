local profile = require("roper.workbench.session.repl.profile")

describe("profile.measure", function()
  -- The times by the names of functions, without their lines.
  local function measure(action)
    local result
    local times = profile.measure(action, function(f)
      result = table.pack(pcall(f))
    end)
    local by_name = {}
    for _, time in ipairs(times) do
      by_name[time.name:match("^%S+")] = time
    end
    return by_name, times, result
  end

  local function work(count)
    local sum = 0
    for i = 1, count do
      sum = sum + i
    end
    return sum
  end

  it("counts calls, and time with and without callees", function()
    local function outer()
      local a = work(1e6)
      return a + work(10) + math.max(1, 2)
    end
    local by_name, times = measure(function()
      local _ = outer()
    end)
    assert.equal(2, by_name.work.calls)
    assert.equal(1, by_name.outer.calls)
    assert.equal(1, by_name.max.calls)
    assert.equal("work", times[1].name:match("^%S+"))
    assert.matches("^work profile_spec.lua:%d+$", times[1].name)
    assert.equal("max in C", by_name.max.name)
    assert.is_true(by_name.outer.total >= by_name.work.own and by_name.outer.own < by_name.work.own)
    assert.is_nil(by_name.sethook)
  end)

  it("counts recursive time once, and continues after tail calls and caught errors", function()
    local function down(n)
      return n == 0 and 0 or 1 + down(n - 1)
    end
    local function tail(n)
      if n > 0 then
        return tail(n - 1)
      end
      return work(10)
    end
    local function failing()
      error("no")
    end
    local function all()
      local a = work(10) + down(5) + tail(5)
      pcall(failing)
      return a + work(10)
    end
    local by_name = measure(function()
      local _ = all()
    end)
    assert.equal(6, by_name.down.calls)
    assert.equal(3, by_name.work.calls)
    assert.equal(1, by_name.all.calls)
    assert.is_true(by_name.down.total <= by_name.all.total)
  end)

  it("returns the functions that ran before an error, and leaves no hook", function()
    local by_name, _, result = measure(function()
      work(10)
      error("boom", 0)
    end)
    assert.same({ false, "boom", n = 2 }, result)
    assert.equal(1, by_name.work.calls)
    assert.is_nil(debug.gethook())
  end)
end)
