local process = require("tests.process")
local progress = require("roper.training.progress")
local stdout = require("tests.stdout")

describe("progress.new", function()
  -- The line after some updates.
  local function line(options, updates)
    local text = stdout.capture_errors(function()
      local one = progress.new(options)
      for _, update in ipairs(updates) do
        one:update(table.unpack(update))
      end
      one:finish()
    end)
    return text:match("([^\n]*)\n$")
  end

  local options = { name = "addition", steps = 200, floor = 0.5, tokens = 1000 }

  it("shows step, loss, floor, tokens a second and time left", function()
    assert.equal("addition ██████░░░░░░ 100/200  loss 2.500 (floor 0.500)  "
      .. "10.0k tokens/s  10s left", line(options, { { 100, 2.5, 10 } }))
    assert.equal("addition ████████████ 200/200  loss 2.500 (floor 0.500)  "
      .. "2.5M tokens/s", line(options, { { 200, 2.5, 2500 } }))
    assert.equal("addition ░░░░░░░░░░░░ 1/200  loss 2.500 (floor 0.500)  "
      .. "500 tokens/s  6m38s left", line(options, { { 1, 2.5, 0.5 } }))
  end)

  it("keeps numbers complete on a narrow terminal", function()
    for columns, shown in pairs({
      [90] = "substring ██████░░░░░░ 100/200  loss 2.500 (floor 0.500)  10.0k tokens/s  10s left",
      [80] = "substring ████░░░ 100/200  loss 2.500 (floor 0.500)  10.0k tokens/s  10s left",
      [72] = "substring 100/200  loss 2.500 (floor 0.500)  10.0k tokens/s  10s left",
      [66] = "sub 100/200  loss 2.500 (floor 0.500)  10.0k tokens/s  10s left",
      [40] = " 100/200  loss 2.500 (floor 0.500)  1",
    }) do
      local screen = process.open(("stty cols %d; ./roper -e '"):format(columns)
        .. [[require("roper.training.progress").new { name = "substring", steps = 200, floor = 0.5,
          tokens = 1000 }:update(100, 2.5, 10)']], { TERM = "xterm" })
      screen:expect(shown)
      assert.equal(0, screen:leave())
    end
  end)

  it("shows a running mean of the loss", function()
    local text = line(options, { { 1, 2, 1 }, { 2, 4, 1 }, { 3, 4, 1 } })
    local expected = 0.95 * (0.95 * 2 + 0.05 * 4) + 0.05 * 4
    assert.truthy(text:find(("loss %.3f "):format(expected), 1, true))
  end)

  it("prints little without a terminal", function()
    local text = stdout.capture_errors(function()
      local one = progress.new(options)
      for step = 1, 200 do
        one:update(step, 1, 100)
      end
      one:finish()
    end)
    local _, lines = text:gsub("\n", "")
    assert.equal(2, lines)
    assert.is_nil(text:find("[\r\27]"))
    assert.truthy(text:find("1/200", 1, true) and text:find("200/200", 1, true))
  end)
end)
