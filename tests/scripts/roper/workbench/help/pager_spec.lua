local process = require("tests.process")
local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

local newcomer, start, leave = sessions.newcomer, sessions.start, sessions.leave

-- A pseudo-terminal that reports no size has 80 columns and 24 rows.
describe("help that is longer than the terminal", function()
  setup(scratch.create)
  teardown(scratch.remove)

  -- An environment with this $PAGER.
  local function with_pager(name)
    return newcomer({ PAGER = name, LESS = false })
  end

  it("is shown in less, which the user may leave early", function()
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

  it("is shown in $PAGER, which Ctrl-C ends", function()
    local screen = start(with_pager("tail -n 1 -f"))
    screen:type("?roper.attention\r")
    screen:expect("?roper.attention\n  true\t{1, 1, 6, 6}\n") -- the last line of its example
    screen:type("\3")
    screen:expect("^C")
    screen:expect("\n> ")
    sessions.enter(screen, "1 + 1", "2\n")
    leave(screen)
  end)

  it("is printed if the pager is missing, or if it fits on the terminal", function()
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
    screen:expect("Ctrl-D or exit  leaves\n> ")
    leave(screen)
  end)
end)
