local live_display = require("roper.workbench.study.sweep.live_display")
local process = require("tests.process")
local scratch = require("tests.scratch")

before_each(scratch.create)
after_each(scratch.remove)

describe("live display", function()
  it("prints what is said, and the last line now and then, into a file", function()
    local now = 100
    local stream = assert(io.open(scratch.path("log"), "w"))
    local shown = live_display.new({ stream = stream, every = 30,
                                     clock = function() return now end })
    shown:show({ "job 1", "all 1" })
    shown:say("news")
    now = 129
    shown:show({ "job 2", "all 2" })
    now = 130
    shown:show({ "job 3", "all 3" })
    shown:show({ "job 4", "all 4" })
    now = 160
    shown:show({ "job 5", "all 5" })
    shown:finish()
    stream:close()
    assert.equal("news\nall 3\nall 5\n", scratch.read(scratch.path("log")))
  end)

  it("rewrites its lines on a terminal, below what is said", function()
    local script = scratch.write("board.lua", [[
      local shown = require("roper.workbench.study.sweep.live_display").new()
      shown:show { "job", ("x"):rep(300) }
      shown:say "news"
      shown:show { "all" }
      shown:finish()
      print "end"
    ]])
    local screen = process.open("stty cols 40; ./roper " .. script, { TERM = "xterm" })
    screen:expect("end")
    assert.equal(0, screen:leave())
    local first = ("job\n%s\n"):format(("x"):rep(39))
    local written = screen.process.output:gsub("\r", ""):gsub("\27%[K", "")
    assert.equal(first .. "\27[J\27[2Fnews\n" .. first .. "\27[J\27[2Fall\n\27[J\27[1F\27[Jend\n",
                 written)
  end)
end)
