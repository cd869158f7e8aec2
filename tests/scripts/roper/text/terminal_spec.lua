local process = require("tests.process")
local terminal = require("roper.text.terminal")

describe("terminal", function()
  it("is plain without a terminal", function()
    local stream = assert(io.tmpfile())
    assert.is_false(terminal.is_terminal(stream))
    assert.is_false(terminal.is_capable(stream))
    assert.equal(80, terminal.columns(stream))
    assert.equal("text", terminal.styled(stream, "red", "text"))
  end)

  describe("styled", function()
    local code = [[./roper -e 'print((require("roper.text.terminal").styled(io.stdout, "red", "x")]]
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
end)
