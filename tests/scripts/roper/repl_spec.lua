local process = require("tests.process")
local scratch = require("tests.scratch")

describe("the session of ./roper", function()
  setup(scratch.create)
  teardown(scratch.remove)

  local homes = 0

  -- The environment of a person with an empty home of their own.
  local function newcomer()
    homes = homes + 1
    return { HOME = scratch.path("home" .. homes), TERM = "xterm", NO_COLOR = "1",
      XDG_CONFIG_HOME = false, XDG_STATE_HOME = false, INPUTRC = "/dev/null" }
  end

  -- Start it and wait for the prompt.
  local function start(environment, command)
    local screen = process.open(command or "./roper", environment or newcomer())
    screen:expect("> ")
    return screen
  end

  -- Enter lines and wait for what they print and the prompt after it.
  local function enter(screen, text, shown)
    screen:type(text .. "\r")
    screen:expect(text .. "\n" .. shown .. "> ")
  end

  local function leave(screen)
    screen:type("\4")
    assert.equal(0, screen:leave())
  end

  it("says what runs and how to leave", function()
    local screen = process.open("./roper", newcomer())
    screen:expect("roper " .. require("roper").version .. " · Lua 5.4 · OpenBLAS ")
    screen:expect("? for help, Ctrl-D to leave\n> ")
    screen:type("?\r")
    screen:expect("Ctrl-D or exit  leaves\n> ")
    leave(screen)
  end)

  it("shows values and keeps the last", function()
    local screen = start()
    enter(screen, "x = roper.tensor({ 1, 2 }, 'int32')", "")
    enter(screen, "x", "int32 [2]\n1 2\n")
    enter(screen, "6 * 7", "42\n")
    enter(screen, "_ + 1", "43\n")
    enter(screen, "_ + 1;", "")
    enter(screen, "who", "x  int32 [2], 8 bytes\n")
    enter(screen, "exit = nil", "")
    screen:type("exit\r")
    assert.equal(0, screen:leave())
  end)

  it("shows output without a line end before the prompt", function()
    local screen = start()
    enter(screen, "do io.write('a') end", "a")
    enter(screen, "roper.eye(2):sum()", "2\n")
    leave(screen)
  end)

  it("goes on with lines that are not complete", function()
    local screen = start()
    screen:type("function f(n)\r")
    screen:expect(">> ")
    screen:type("return n + 1\r")
    screen:expect(">> ")
    enter(screen, "end", "")
    enter(screen, "f(1)", "2\n")
    leave(screen)
  end)

  it("tells errors and goes on", function()
    local screen = start()
    enter(screen, "error('boom')", "error: boom\n")
    enter(screen, "prnt()",
      "error: attempt to call a nil value (global 'prnt'); did you mean \"print\"?\n")
    enter(screen, "x = = 1", "error: unexpected symbol near '='\n")
    leave(screen)
  end)

  it("runs pasted blocks as they are", function()
    local screen = start()
    screen:type("\27[200~y = 2\nfor i = 1, 2 do\n\tio.write(i * y, ' ')\nend\ny\27[201~\r")
    screen:expect("\n2 4 2\n> ")
    leave(screen)
  end)

  it("completes names", function()
    local screen = start()
    screen:type("rop\t.random_st\t()")
    screen:expect("roper.random_state()")
    screen:type("\r")
    screen:expect("\n> ")
    leave(screen)
  end)

  it("remembers lines across sessions", function()
    local environment = newcomer()
    local screen = start(environment)
    enter(screen, "first = 1", "")
    enter(screen, "first = 1", "")
    screen:type("do\r")
    screen:expect(">> ")
    enter(screen, "end", "")
    leave(screen)
    assert.equal("first = 1\ndo\\nend\n",
      scratch.read(environment.HOME .. "/.local/state/roper/history"))
    screen = start(environment)
    screen:type("\27[A\27[A") -- twice the arrow up
    screen:expect("first = 1")
    screen:type("\r")
    screen:expect("> ")
    enter(screen, "first", "1\n")
    leave(screen)
  end)

  it("runs the person's start file, and tells its errors", function()
    local environment = newcomer()
    require("roper.folder").make(environment.HOME .. "/.config/roper")
    local path = environment.HOME .. "/.config/roper/init.lua"
    local file <close> = assert(io.open(path, "w"))
    file:write("mine = 5\nerror('oops')\n")
    file:flush()
    local screen = process.open("./roper", environment)
    screen:expect(path .. ":2: oops\n> ")
    enter(screen, "mine", "5\n")
    leave(screen)
  end)

  describe("at Ctrl-C", function()
    it("gives up what is typed", function()
      local screen = start()
      screen:type("error('never run')")
      screen:expect("error('never run')")
      screen:type("\3")
      screen:expect("^C\n> ")
      screen:type("f(\r")
      screen:expect(">> ")
      screen:type("\3")
      screen:expect("^C\n> ")
      enter(screen, "1 + 1", "2\n")
      leave(screen)
    end)

    it("does nothing to the next command at an empty prompt", function()
      local screen = start()
      screen:type("\3")
      screen:expect("^C\n> ")
      enter(screen, "x = 0 for i = 1, 1000 do x = x + i end", "")
      enter(screen, "roper.ones { 64, 64 }:matmul(roper.ones { 64, 64 }):sum() + x", "762644\n")
      leave(screen)
    end)

    -- Run code that prints `ready` and then never ends, and interrupt it.
    local function interrupts(screen, code)
      screen:type("io.stdout:write('re', 'ady\\n') " .. code .. "\r")
      screen:expect("ready\n")
      screen:type("\3")
      screen:expect("\ninterrupted\n> ")
    end

    it("ends a Lua loop", function()
      local screen = start()
      enter(screen, "kept = 5", "")
      interrupts(screen, "while true do end")
      enter(screen, "kept", "5\n")
      interrupts(screen, "repeat local f = function() end f() until false")
      enter(screen, "kept + 1", "6\n")
      leave(screen)
    end)

    it("ends kernels", function()
      local screen = start()
      enter(screen, "a = roper.ones { 4096, 4096 }", "")
      interrupts(screen, "while true do b = a:matmul(a) end")
      enter(screen, "a:sum()", "16777216\n")
      leave(screen)
    end)
  end)

  it("does without readline", function()
    local environment = newcomer()
    environment.LUA_PATH = scratch.path("?.lua") .. ";;"
    scratch.write("readline.lua", "error('not here')")
    local screen = process.open("./roper", environment)
    screen:expect("> ")
    screen:type("6 * 7\r")
    screen:expect("\n42\n> ")
    screen:type("f(\r")
    screen:expect(">> ")
    screen:type("\3")
    screen:expect("^C\n> ")
    screen:type("6 * 8\r")
    screen:expect("\n48\n> ")
    leave(screen)
  end)

  it("colours errors on terminals that can, unless NO_COLOR is set", function()
    local environment = newcomer()
    environment.NO_COLOR = false
    local screen = start(environment)
    enter(screen, "error('boom')", "error: boom\n")
    assert.truthy(screen.process.output:find("\27[31merror:\27[0m boom", 1, true))
    leave(screen)
    environment.NO_COLOR = "1"
    screen = start(environment)
    enter(screen, "error('boom')", "error: boom\n")
    assert.falsy(screen.process.output:find("\27[31m", 1, true))
    leave(screen)
  end)
end)
