local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

local newcomer, start, leave = sessions.newcomer, sessions.start, sessions.leave

-- In a pseudo-terminal that tells no size there are 80 x 24.
describe("help that is longer than the terminal", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- An environment with a pager of our own.
  local function with_pager(name)
    return newcomer({ PAGER = name, LESS = false })
  end

  it("goes through less, which may be left early", function()
    local reason = process.missing("less")
    if reason then
      return pending(reason)
    end
    local screen = start(with_pager(false))
    screen:type("?roper.attention\r")
    screen:expect("roper.attention(q, k, v, options?)")
    screen:expect("\n:") -- the prompt of less
    screen:type("q")
    screen:expect("> ")
    assert.falsy(screen.process.output:find("Example", 1, true))
    sessions.enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  it("goes through $PAGER, by Ctrl-C out of it too", function()
    local screen = start(with_pager("tail -n 1 -f"))
    screen:type("?roper.attention\r")
    screen:expect("?roper.attention\n  true\t{1, 1, 6, 6}\n") -- the last line of its example
    screen:type("\3")
    screen:expect("^C")
    screen:expect("\n> ")
    sessions.enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  it("is printed where the pager is missing, or the terminal is long enough", function()
    local screen = start(with_pager("nothing-of-this-name"))
    screen:type("?roper.attention\r")
    screen:expect("not found")
    screen:expect("\nroper.attention(q, k, v, options?)\n")
    screen:expect("\nExample\n")
    screen:expect("\n> ")
    leave(screen)
    screen = start(with_pager("echo paged"), "stty rows 200; ./roper")
    screen:type("?roper.attention\r")
    local text = screen:expect("\nExample\n") .. screen:expect("\n> ")
    assert.falsy(text:find("paged", 1, true))
    screen:type("?\r")
    screen:expect("twice at an empty prompt\n> ")
    leave(screen)
  end)

  it("is printed where there is no terminal", function()
    local status, output = process.run({ "./roper", "-e",
      "help(roper.attention)" }, nil, with_pager("echo paged"))
    assert.equal(0, status)
    assert.matches("\nExample\n", output)
  end)
end)
