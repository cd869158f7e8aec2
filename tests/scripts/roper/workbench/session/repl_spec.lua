local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

local newcomer, start = sessions.newcomer, sessions.start
local begin, enter, give_up = sessions.begin, sessions.enter, sessions.give_up
local leave = sessions.leave

-- Of sessions, these tests need a terminal; the others are transcripts: tests/transcripts/session.
describe("the session of ./roper", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("prints its version and how to leave", function()
    local screen = process.open("./roper", newcomer())
    screen:expect("roper " .. require("roper").version .. " · Lua 5.4 · OpenBLAS ")
    screen:expect("? for help, Ctrl-D to leave\n> ")
    screen:type("?\r")
    screen:expect("Ctrl-D or exit  leaves\n> ")
    leave(screen)
  end)

  it("runs pasted blocks unchanged", function()
    local screen = start()
    screen:type("\27[200~y = 2\nfor i = 1, 2 do\n\tio.write(i * y, ' ')\nend\ny\27[201~\r")
    screen:expect("\n2 4 2\n> ")
    leave(screen)
  end)

  it("runs pasted lines with prompts, even one by one or with \\r\\n", function()
    local screen = start()
    screen:type("\27[200~> f = function(n)\r\n>> return n * 6\r\n>> end\r\n> f(7)\r\n41\27[201~\r")
    screen:expect("\n42\n> ")
    begin(screen, "> function f(n)")
    begin(screen, ">> return n * 5")
    enter(screen, ">> end", "")
    enter(screen, "> f(7)", "35\n")
    screen:type("\27[200~s = ('abc')\r\n  :upper()\r\ns\r\n\27[201~\r")
    screen:expect('\n"ABC"\n> ')
    enter(screen, "!echo hello", "hello\n")
    leave(screen)
  end)

  it("runs the user's start file, reports its errors, and ends it by Ctrl-C", function()
    local environment = newcomer()
    local path = environment.HOME .. "/.config/roper/init.lua"
    require("roper.system.file").make(path:match("^(.*)/"))
    require("roper.system.file").write(path, "mine = 5\nerror('oops')\n")
    local screen = process.open("./roper", environment)
    screen:expect(path .. ":2: oops\n> ")
    enter(screen, "mine", "5\n")
    leave(screen)
    require("roper.system.file").write(path, "mine = 6\nprint('ready')\nrepeat until false\n")
    screen = process.open("./roper", environment)
    screen:expect("\nready\n")
    screen:type("\3")
    screen:expect("^C\ninterrupted\n> ")
    enter(screen, "mine", "6\n")
    leave(screen)
  end)

  it("reports that the start file cannot be read", function()
    local environment = newcomer()
    local path = environment.HOME .. "/.config/roper/init.lua"
    require("roper.system.file").make(path:match("^(.*)/"))
    assert(require("luv").fs_symlink(path, path))
    local screen = process.open("./roper", environment)
    screen:expect("error: cannot open " .. path)
    screen:expect("\n> ")
    leave(screen)
  end)

  -- The environment of a newcomer without lua-readline.
  local function without_readline()
    scratch.write("readline.lua", "error('not here')")
    return newcomer({ LUA_PATH = scratch.path("?.lua") .. ";;" })
  end

  it("works without readline", function()
    local screen = start(without_readline())
    screen:type("6 * 7\r")
    screen:expect("\n42\n> ")
    begin(screen, "f(")
    give_up(screen)
    screen:type("6 * 8\r")
    screen:expect("\n48\n> ")
    leave(screen)
  end)

  it("is ended by Ctrl-D and `exit`, and never by Ctrl-C", function()
    for _, environment in ipairs({ newcomer(), without_readline() }) do
      for _, ending in ipairs({ "\4", "exit\r" }) do
        local screen = start(environment)
        enter(screen, "kept = 7", "")
        for _ = 1, 4 do
          screen:type("\3")
          screen:expect("Ctrl-D or exit leaves.\n> ")
        end
        enter(screen, "kept", "7\n")
        screen:type(ending)
        assert.equal(0, screen:leave())
      end
    end
  end)

  it("sends no control sequences to a dumb terminal", function()
    local screen = start(newcomer({ TERM = "dumb", NO_COLOR = false }))
    enter(screen, "1 + 1", "2\n")
    screen:type("error('boom')\r")
    screen:expect("\nerror: boom\n> ")
    leave(screen)
    assert.falsy(screen.process.output:find("\27"))
  end)

  it("stays within the columns of the terminal", function()
    local screen = start(newcomer(), "stty cols 40; ./roper")
    screen:type("roper.zeros { 3, 20 } + 0.5\r")
    screen:expect("columns 16 to 20\n")
    screen:expect("\n> ")
    leave(screen)
    for line in screen.process.output:gmatch("0%.5000[^\r\n]*") do
      assert.is_true(#line <= 40)
    end
  end)

  it("prints errors in colour on capable terminals, unless NO_COLOR is set", function()
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
