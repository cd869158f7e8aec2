local scratch = require("tests.scratch")
local sessions = require("tests.sessions")

local newcomer, start = sessions.newcomer, sessions.start
local enter, leave = sessions.enter, sessions.leave

describe("failed input in a session", function()
  setup(scratch.create)
  teardown(scratch.remove)

  it("can be inspected after Ctrl-C, which also ends an editor", function()
    local screen = start(newcomer({ EDITOR = "tail -f" }))
    screen:type("do local n = 0 print 'counting' while true do n = n + 1 end end\r")
    screen:expect("\ncounting\n")
    screen:type("\3")
    screen:expect("interrupted\n> ")
    screen:type("%debug\r")
    screen:expect("\nn     number  ")
    screen:expect("\n> ")
    screen:type("%edit\r")
    screen:expect("n = n + 1 end end\n") -- which the editor prints
    screen:type("\3")
    screen:expect("ended by signal 2; nothing was run\n> ")
    enter(screen, "%hist", "  1  do local n = 0 print 'counting' while true do n = n + 1 end end\n")
    leave(screen)
  end)
end)
