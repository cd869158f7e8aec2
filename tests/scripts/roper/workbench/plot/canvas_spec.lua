local canvases = require("roper.workbench.plot.canvas")
local screens = require("roper.workbench.plot.screen")

local function lines(columns, rows, draw)
  local canvas, screen = canvases.new(columns, rows), screens.new(columns)
  draw(canvas)
  canvas:draw(screen, 1, 1)
  return screen:lines(false)
end

describe("canvas", function()
  it("sets every dot of a character", function()
    local expected = { "⠁", "⠈", "⠂", "⠐", "⠄", "⠠", "⡀", "⢀" }
    for i, character in ipairs(expected) do
      local got = lines(1, 1, function(canvas)
        canvas:dot((i - 1) % 2, (i - 1) // 2, "#000000")
      end)
      assert.same({ character }, got)
    end
  end)

  it("draws lines in every direction, from end to end", function()
    local diagonal = { "⠑⢄", "  ⠑⢄" }
    assert.same(diagonal, lines(4, 2, function(c) c:line(0, 0, 7, 7, "#000000") end))
    assert.same(diagonal, lines(4, 2, function(c) c:line(7, 7, 0, 0, "#000000") end))
    assert.same({ "⠉⠉" }, lines(2, 1, function(c) c:line(0, 0, 3, 0, "#000000") end))
    assert.same({ "⡇" }, lines(2, 1, function(c) c:line(0, 3, 0, 0, "#000000") end))
    assert.same({ "⠂" }, lines(2, 1, function(c) c:line(0, 1, 0, 1, "#000000") end))
  end)

  it("draws the visible part of a line, however long it is", function()
    assert.same({ "⠑⢄", "  ⠑⢄" }, lines(4, 2, function(c)
      c:line(-1e12, -1e12, 1e12, 1e12, "#000000")
    end))
    assert.same({}, lines(4, 2, function(c)
      c:line(-5, 0, 0, -5, "#000000")
      c:line(0, 100, 7, 100, "#000000")
      c:dot(-1, 0, "#000000")
      c:dot(8, 0, "#000000")
      c:dot(0, 8, "#000000")
    end))
  end)

  it("shades a quarter of the dots", function()
    local count = 0
    for _, line in ipairs(lines(4, 4, function(c)
      for x = 0, c.width - 1 do
        c:shade(x, -100, 100, "#000000")
      end
    end)) do
      for _, code in utf8.codes(line) do
        for bit = 0, 7 do
          count = count + ((code - 0x2800) >> bit & 1)
        end
      end
    end
    assert.equal(4 * 4 * 8 // 4, count)
  end)
end)

describe("screen", function()
  it("clips at its edges and leaves no trailing spaces", function()
    local screen = screens.new(5)
    screen:put(2, 3, "abcdef  ")
    screen:put(0, 1, "x")
    screen:put(2, -1, "123")
    screen:put(3, 1, " ")
    assert.same({ "", "3 abc", "" }, screen:lines(false))
  end)

  it("handles wide and combining characters", function()
    local screen = screens.new(9)
    screen:put(1, 1, "日e\u{301}x")
    screen:put(1, 6, "|")
    assert.same({ "日e\u{301}x |" }, screen:lines(false))
  end)

  it("changes colours only when needed, and resets them at the end", function()
    local screen = screens.new(9)
    screen:put(1, 1, "ab", "#000000")
    screen:put(1, 3, "c", "#FFFFFF", "#000000")
    screen:put(1, 4, "d")
    local line = screen:lines(true)[1]
    assert.equal(3, select(2, line:gsub("\27%[0m", "")))
    assert.equal("abcd", (line:gsub("\27%[[%d;]*m", "")))
    assert.equal("d", line:match("\27%[0m([^\27]*)$"))
  end)
end)
