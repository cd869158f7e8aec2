local process = require("tests.process")
local progress = require("roper.text.progress")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")

describe("progress.duration", function()
  it("prints seconds as hours, minutes and seconds", function()
    for seconds, text in pairs({
      [0] = "0s", [0.4] = "<1s", [0.6] = "1s", [59.4] = "59s", [59.6] = "1m00s", [61] = "1m01s",
      [190] = "3m10s", [3599.4] = "59m59s", [3599.6] = "1h00m", [7500] = "2h05m",
      [360000] = "100h00m",
    }) do
      assert.equal(text, progress.duration(seconds))
    end
  end)
end)

describe("progress.work", function()
  -- The output of a job of 40 MB that does a quarter at each of these times.
  local function written(times)
    return stdout.capture_errors(function()
      local now = 0
      local work = progress.work("reading", 40000000, function() return now end)
      for _, time in ipairs(times) do
        now = time
        work:add(10000000)
      end
      work:finish()
    end)
  end

  it("shows the finished part and the remaining time", function()
    assert.equal("reading ███░░░░░░░░░ 10.0 of 40.0 MB  30s left\n", written({ 10 }))
    assert.equal("reading ███░░░░░░░░░ 10.0 of 40.0 MB  30s left\n"
      .. "reading ████████████ 40.0 of 40.0 MB\n", written({ 10, 20, 30, 40 }))
  end)

  it("prints nothing for a short job", function()
    assert.equal("", written({ 0.1, 0.2, 0.3, 0.4 }))
  end)

  it("stays at the end if a file has grown", function()
    assert.truthy(written({ 1, 2, 3, 4, 5 }):find("█ 50.0 of 40.0 MB", 1, true))
  end)
end)

describe("progress.display", function()
  before_each(scratch.create)
  after_each(scratch.remove)

  -- The output of a display to a file; `use` gets the display and a function that sets the time.
  local function logged(use)
    local now = 100
    local stream = assert(io.open(scratch.path("log"), "w"))
    use(progress.display({ stream = stream, every = 30, clock = function() return now end }),
      function(time) now = time end)
    stream:close()
    return scratch.read(scratch.path("log"))
  end

  it("prints messages, and the last line at intervals, to a file", function()
    assert.equal("all 1\nnews\nall 3\nall 5\n", logged(function(display, set)
      display:show({ "job 1", "all 1" })
      display:say("news")
      set(129)
      display:show({ "job 2", "all 2" })
      set(130)
      display:show({ "job 3", "all 3" })
      display:show({ "job 4", "all 4" })
      set(160)
      display:show({ "job 5", "all 5" })
      display:show({ "job 6", "all 6" })
      display:clear()
    end))
  end)

  it("prints the newest state at the end", function()
    assert.equal("step 1\nstep 3\n", logged(function(display, set)
      display:show("step 1")
      set(110)
      display:show("step 2")
      display:show("step 3")
      display:finish()
      display:finish()
    end))
  end)

  it("passes its lines to a page, and prints messages and the last state", function()
    local shown = {}
    finally(function() progress.on_screen = nil end)
    progress.on_screen = function(lines) shown[#shown + 1] = table.concat(lines, "|") end
    assert.equal("news\nstep 2\n", logged(function(display)
      display:show({ "job", "step 1" })
      display:say("news")
      display:show("step 2")
      display:show("step 2")
      display:finish()
      display:finish()
    end))
    assert.same({ "job|step 1", "job|step 1", "step 2", "" }, shown)
  end)

  -- The output of a program to a terminal of 40 columns.
  local function screened(code)
    local script = scratch.write("display.lua", code)
    local screen = process.open("stty cols 40; ./roper " .. script, { TERM = "xterm" })
    screen:expect("end")
    assert.equal(0, screen:leave())
    return (screen.process.output:gsub("\r\n", "\n"):gsub("\27%[K", ""))
  end

  it("rewrites its lines on a terminal, below the messages", function()
    local both = "job\n" .. ("x"):rep(37) .. "\27[J"
    assert.equal("\r" .. both .. "\r\27[1Anews\n" .. both .. "\r\27[1Aall\27[J\r\27[Jend\n",
      screened([[
        local display = require("roper.text.progress").display()
        display:show { "job", ("x"):rep(300) }
        display:say "news"
        display:show "all"
        display:show "all"
        display:clear()
        print "end"
      ]]))
  end)

  it("leaves the newest state of a line on the screen", function()
    assert.equal("\rstep 1\27[J\rµ012345678901234567890123456789012345\27[J\nend\n", screened([[
      local display = require("roper.text.progress").display { stream = io.stdout }
      display:show("step 1")
      display:show("µ" .. ("0123456789"):rep(5))
      display:finish()
      print "end"
    ]]))
  end)
end)
