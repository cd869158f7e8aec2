local scratch = require("tests.scratch")
local uv = require("luv")
local watch = require("tests.fuzz.watch")

describe("any input", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- Run `count` inputs; the number of those that Ctrl-C ended.
  local function run(kind, count, impatience)
    local seed = 20
    local result = watch.run(kind, seed, count, { impatience = impatience })
    assert.is_nil(result.problem, ("seed %d, line %s: %s: %s"):format(seed, result.number,
      result.problem, result.line))
    assert.equal(tostring(count), result.number)
    assert.same({}, result.findings)
    return result.interrupts
  end

  it("never ends the process", function()
    run("lines", 1000)
    run("calls", 1000)
  end)

  it("never ends the process, however often Ctrl-C is typed", function()
    assert.is_true(run("lines", 500, 1) > 0)
  end)

  it("gives a value or a message to readers of text and files", function()
    run("texts", 600)
  end)

  -- The watcher's result for a script.
  local function of_script(script)
    local path = scratch.write("child.lua", "io.stdout:write('1\ta line\\n') io.stdout:flush()"
      .. script)
    local result = watch.run("lines", 1, 1, { child = path })
    assert.equal("a line", result.line)
    return result
  end

  it("would be reported if it did", function()
    assert.equal("ended by signal 11",
      of_script("local uv = require('luv') uv.kill(uv.os_getpid(), 'sigsegv')").problem)
    assert.matches("^ended with status 1: lua5.4: .*boom", of_script("error('boom')").problem)
    assert.equal("ended with status 0: ", of_script("os.exit(0)").problem)
    assert.is_nil(of_script("pcall(function() while true do end end) print('done')").problem)
    local findings = of_script("print('problem\ta problem') print('done')").findings
    assert.same({ { number = "1", line = "a line", problem = "a problem" } }, findings)
  end)

  -- The result of 500 inputs of a kind, after a script has planted a fault in it.
  local function with_fault(kind, script)
    os.execute("mkdir -p " .. scratch.path("tests/fuzz"))
    scratch.write("tests/fuzz/planted.lua", script .. (" return require('tests.fuzz.%s')"):format(
      kind))
    uv.os_setenv("LUA_PATH", scratch.path("?.lua;;"))
    finally(function() uv.os_unsetenv("LUA_PATH") end)
    return watch.run("planted", 1, 500, { impatience = 50 })
  end

  -- In several functions, so that some of the inputs call one.
  local IN_REDUCTIONS <const> = [[
    for _, name in ipairs { "max", "mean", "min", "prod", "sum" } do roper[name] = %s end]]

  it("finds a call that fails inside the library", function()
    local result = with_fault("calls", IN_REDUCTIONS:format(
      "load('local x return x.y', '@scripts/roper/planted.lua')"))
    assert.is_true(#result.findings > 0)
    for _, finding in ipairs(result.findings) do
      assert.matches("roper%.[mps]", finding.line)
      assert.matches("planted.lua:1: attempt to index a nil value", finding.problem)
    end
  end)

  it("finds a call that ends the process", function()
    local result = with_fault("calls", IN_REDUCTIONS:format("function() os.exit(3) end"))
    assert.matches("^ended with status 3", result.problem)
    assert.matches("roper%.[mps]", result.line)
  end)

  it("finds a reader with a wrong value, one that fails and one that does not end", function()
    local result = with_fault("texts", [[
      require("tests.fuzz.texts") -- reads JSON
      local core, parsers = require("roper.core"), require("tests.fuzz.parsers")
      local decode = core.json_decode
      function core.json_decode(text)
        return decode((text:gsub("2", "3")))
      end
      local encode = core.json_encode
      function core.json_encode(value, ...)
        return (encode(value, ...):gsub("3", "4"))
      end
      parsers.einsum.run = load("local text = ... return #text > 6 and nil .. text",
        "@scripts/roper/planted.lua")
      parsers.choices.run = function(text)
        while #text > 80 do end
      end]])
    local kinds = {}
    for _, finding in ipairs(result.findings) do
      kinds[finding.line:match("%a+")] = finding.problem
    end
    assert.matches("^printed as", kinds.json)
    assert.matches("attempt to concatenate a nil value", kinds.einsum)
    assert.is_true(result.interrupts > 0)
  end)
end)
