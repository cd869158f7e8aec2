local scratch = require("tests.scratch")
local watch = require("tests.fuzz.watch")

describe("any input", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Run `count` lines; the number of those that Ctrl-C ended.
  local function run(count, impatience)
    local seed = 20
    local result = watch.run(seed, count, nil, impatience)
    assert.is_nil(result.problem, ("seed %d, line %s: %s: %s"):format(seed, result.number,
      result.problem, result.line))
    assert.equal(tostring(count), result.number)
    return result.interrupts
  end

  it("never ends the process", function()
    run(10000)
  end)

  it("never ends the process, however often Ctrl-C is typed", function()
    assert.is_true(run(500, 1) > 0)
  end)

  -- The watcher's message about a script.
  local function problem(script)
    local path = scratch.write("child.lua", "io.stdout:write('1\\ta line\\n') io.stdout:flush()"
      .. script)
    local result = watch.run(1, 1, path)
    assert.equal("a line", result.line)
    return result.problem
  end

  it("would be reported if it did", function()
    assert.equal("ended by signal 11",
      problem("local uv = require('luv') uv.kill(uv.os_getpid(), 'sigsegv')"))
    assert.matches("^ended with status 1: lua5.4: .*boom", problem("error('boom')"))
    assert.equal("ended with status 0: ", problem("os.exit(0)"))
    assert.is_nil(problem("pcall(function() while true do end end) print('done')"))
  end)
end)
