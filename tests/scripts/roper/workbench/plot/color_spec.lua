local color = require("roper.workbench.plot.color")
local uv = require("luv")

-- The relative luminance of "#RRGGBB" (WCAG 2).
local function luminance(hue)
  local sum = 0
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local c = tonumber(hue:sub(2 * i, 2 * i + 1), 16) / 255
    sum = sum + weight * (c <= 0.04045 and c / 12.92 or ((c + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

describe("color.mapped", function()
  it("goes from the first colour to the last", function()
    local map = { "#000000", "#804020", "#FFFFFF" }
    assert.equal("#000000", color.mapped(map, 0))
    assert.equal("#402010", color.mapped(map, 0.25))
    assert.equal("#804020", color.mapped(map, 0.5))
    assert.equal("#FFFFFF", color.mapped(map, 1))
  end)

  it("gets lighter with the value on viridis, and lightest in the middle of the other", function()
    for i = 1, 100 do
      local function light(map, place) return luminance(color.mapped(color.MAPS[map], place)) end
      assert.is_true(light("viridis", i / 100) > light("viridis", (i - 1) / 100))
      if i <= 50 then
        assert.is_true(light("diverging", i / 100) >= light("diverging", (i - 1) / 100))
        assert.is_true(light("diverging", 1 - i / 100) >= light("diverging", 1 - (i - 1) / 100))
      end
    end
  end)
end)

describe("color.series", function()
  it("starts again after the last", function()
    assert.equal("#0072B2", color.series(1))
    assert.equal(color.series(1), color.series(1 + #color.SERIES))
  end)
end)

describe("color.sequence", function()
  local before
  setup(function() before = uv.os_getenv("COLORTERM") end)
  teardown(function()
    if before then uv.os_setenv("COLORTERM", before) else uv.os_unsetenv("COLORTERM") end
  end)

  it("uses 24 bits if the terminal supports them", function()
    uv.os_setenv("COLORTERM", "truecolor")
    assert.equal("\27[38;2;0;114;178m", color.sequence("#0072B2", "foreground"))
    assert.equal("\27[48;2;255;255;255m", color.sequence("#FFFFFF", "background"))
  end)

  it("uses the nearest of 256 otherwise", function()
    uv.os_unsetenv("COLORTERM")
    assert.equal("\27[38;5;16m", color.sequence("#000000", "foreground"))
    assert.equal("\27[38;5;231m", color.sequence("#FFFFFF", "foreground"))
    assert.equal("\27[48;5;25m", color.sequence("#0060B2", "background"))
    assert.equal("\27[38;5;243m", color.sequence("#777777", "foreground"))
  end)
end)
