local process = require("tests.process")
local terminal = require("roper.base.terminal")

-- A stream that keeps what is written.
local function recorder()
  local stream = { text = "" }
  function stream:write(...)
    self.text = self.text .. table.concat({ ... })
  end
  function stream.flush() end
  return stream
end

describe("terminal", function()
  it("is plain without a terminal", function()
    local stream = recorder()
    assert.is_false(terminal.is_terminal(stream))
    assert.is_false(terminal.is_capable(stream))
    assert.equal(80, terminal.columns(stream))
    assert.equal("text", terminal.styled(stream, "red", "text"))
  end)

  describe("styled", function()
    local code = [[./roper -e 'print((require("roper.base.terminal").styled(io.stdout, "red", "x")]]
      .. [[:gsub("\27", "ESC")))']]

    local function shows(expected, changes)
      local screen = process.open(code, changes)
      screen:expect(expected .. "\n")
      screen:leave()
    end

    it("colours on a terminal", function()
      shows("ESC[31mxESC[0m", { TERM = "xterm", NO_COLOR = false })
    end)

    it("honours NO_COLOR and dumb terminals", function()
      shows("x", { TERM = "xterm", NO_COLOR = "1" })
      shows("x", { TERM = "dumb", NO_COLOR = false })
      shows("x", { TERM = false, NO_COLOR = false })
    end)
  end)

  describe("progress", function()
    it("prints a line at intervals without a terminal", function()
      local stream, now = recorder(), 100
      local function clock() return now end
      local line = terminal.progress({ stream = stream, every = 30, clock = clock })
      line:update("step 1")
      now = 110
      line:update("step 2")
      assert.equal("step 1\n", stream.text)
      now = 130
      line:update("step 3")
      line:update("step 4")
      line:finish()
      line:finish()
      assert.equal("step 1\nstep 3\nstep 4\n", stream.text)
    end)

    it("rewrites the line on a terminal, within its width", function()
      local screen = process.open([[stty cols 20; ./roper -e '
        local line = require("roper.base.terminal").progress { stream = io.stdout }
        line:update("step 1")
        line:update("µ" .. ("0123456789"):rep(3))
        line:finish()']], { TERM = "xterm" })
      screen:leave()
      assert.equal("\rstep 1\27[K\rµ0123456789012345\27[K\r\n", screen.process.output)
    end)
  end)
end)
