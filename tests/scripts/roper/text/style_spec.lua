-- The colours of pages: text is legible in light and dark mode and on paper.

require("roper")
local files = require("roper.system.file")

local LEAST <const>, LEAST_EDGE <const> = 4.5, 3 -- contrast of text, and of borders of controls

local TEXTS <const> = { "ink", "quiet", "q", "k", "v", "o" }

-- The relative luminance of "#rgb" or "#rrggbb" (WCAG 2).
local function luminance(color)
  local sum, digits = 0, color:gsub("^#(%x)(%x)(%x)$", "#%1%1%2%2%3%3")
  for i, weight in ipairs({ 0.2126, 0.7152, 0.0722 }) do
    local share = tonumber(digits:sub(2 * i, 2 * i + 1), 16) / 255
    sum = sum + weight * (share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

local function contrast(one, other)
  local a, b = luminance(one), luminance(other)
  return (math.max(a, b) + 0.05) / (math.min(a, b) + 0.05)
end

-- The colours that a style defines, by mode: light, dark and print. Those of light mode hold in the
-- others too.
local function colors_of(path)
  local style = files.read("scripts/roper/" .. path)
  local modes = { light = {}, dark = {}, print = {} }
  for before, block in style:gmatch("([^}]*):root (%b{})") do
    local mode = before:find("print", 1, true) and "print" or before:find("dark", 1, true)
      and "dark" or "light"
    for name, color in block:gmatch("%-%-(%w+): (#%x+)") do
      modes[mode][name] = color
    end
  end
  for _, mode in ipairs({ "dark", "print" }) do
    setmetatable(modes[mode], { __index = modes.light })
  end
  return modes
end

describe("the style of pages", function()
  local modes = colors_of("text/style.css")

  it("has a contrast of at least 4.5 for text, and of 3 for borders of controls", function()
    for mode, colors in pairs(modes) do
      for _, ground in ipairs({ "paper", "tint" }) do
        for _, name in ipairs(TEXTS) do
          local found = contrast(colors[name], colors[ground])
          assert.is_true(found >= LEAST, ("%s: %s on %s: %.2f"):format(mode, name, ground, found))
        end
        assert.is_true(contrast(colors.edge, colors[ground]) >= LEAST_EDGE, mode .. ": edge")
      end
    end
    assert.is_true(contrast("#767676", "#fff") > LEAST and contrast("#777", "#fff") < LEAST)
  end)

  it("has the same contrast for curves that are no quantity", function()
    for mode, colors in pairs(colors_of("workbench/lesson/figure.css")) do
      for _, name in ipairs({ "amber", "violet", "olive" }) do
        for _, ground in ipairs({ "paper", "tint" }) do
          local found = contrast(colors[name], modes[mode][ground])
          assert.is_true(found >= LEAST, ("%s: %s on %s: %.2f"):format(mode, name, ground, found))
        end
      end
    end
  end)

  it("shows quantities in the same colours in charts", function()
    local chart = files.read("scripts/roper/workbench/plot/svg/chart.css")
    local dark = chart:match("@media screen and .*")
    for _, name in ipairs({ "q", "k", "v", "o" }) do
      local form = "%f[.]%." .. name .. " { color: (#%x+)"
      assert.equal(modes.light[name], chart:match(form))
      assert.equal(modes.dark[name], dark:match(form))
    end
  end)
end)
