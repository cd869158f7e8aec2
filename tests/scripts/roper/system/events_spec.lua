local process = require("tests.process")

-- The exit status of a program that runs events with a tick, and what it prints.
local function run(tick)
  local status, output = process.run({ "timeout", "10", "./roper", "-e", ([[
    local count = 0
    require("roper.system.events").run {
      signals = { "sigusr1" },
      on_signal = function() io.write "signal " return true end,
      tick = function() count = count + 1; io.write("tick ", count, " ") %s end,
    }
    io.write "end"]]):format(tick) })
  return status, output
end

describe("system.events.run", function()
  it("ends at the first tick that returns nothing, without waiting for an event", function()
    assert.same({ 0, "tick 1 end" }, { run("") })
    assert.same({ 0, "tick 1 tick 2 tick 3 end" }, { run("return count < 3 and 1 or nil") })
  end)

  it("ends at a signal", function()
    assert.same({ 0, "tick 1 signal end" },
      { run("os.execute('kill -USR1 $PPID') return 60000") })
  end)
end)
