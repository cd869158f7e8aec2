local html = require("tests.html")
local plot = require("roper.plot")
local scratch = require("tests.scratch")
local uv = require("luv")

before_each(scratch.create)
after_each(scratch.remove)

local series = { { name = "rope", { 1, 0.25 }, { 2, 0.5 }, { 3, 0.75 } } }

describe("plot.line", function()
  it("draws a picture, to a file too", function()
    local path = scratch.path("a.svg")
    local svg = plot.line({ title = "Accuracy", x = "step", y = "part", series = series,
      file = path })
    assert.equal(svg, scratch.read(path))
    assert.truthy(svg:find("^<%?xml"))
    local counts = html.check((svg:gsub("^<%?xml.-%?>%s*", "")))
    assert.equal(1, counts.svg)
    for _, text in ipairs({ "Accuracy", "step", "part", "rope" }) do
      assert.truthy(svg:find(">" .. text .. "<", 1, true), text)
    end
  end)

  it("draws into the terminal", function()
    local text = plot.line({ title = "Accuracy", series = series, format = "text" })
    assert.truthy(text:find("Accuracy", 1, true))
    assert.truthy(text:find("rope *", 1, true))
    for line in text:gmatch("[^\n]+") do
      assert.is_true(#line <= 80)
    end
  end)

  it("names series that share a name once, in one colour a series", function()
    local svg = plot.line({ series = {
      { name = "rope", colour = "#123456", { 1, 1 }, { 2, 2 } },
      { name = "rope", colour = "#123456", dashed = true, { 1, 2 }, { 2, 3 } },
      { name = "roper", { 1, 3 }, { 2, 4 } },
    } })
    assert.equal(1, select(2, svg:gsub("<text>rope</text>", "")))
    assert.equal(1, select(2, svg:gsub("<text>roper</text>", "")))
    assert.truthy(svg:find("rgb( 18,  52,  86)", 1, true))
  end)

  it("draws flat lines and single points, without a word of warning", function()
    local svg = plot.line({ series = { { { 5, 0 } } } })
    assert.truthy(svg:find("^<%?xml"))
    assert.is_nil(svg:find("Warning", 1, true))
    assert.truthy(plot.line({ series = { { { 1, 2 }, { 3, 2 } } } }):find("</svg>%s*$"))
  end)

  it("leaves gaps where a number is not finite", function()
    local svg = plot.line({ series = { { { 1, 1 }, { 2, 0 / 0 }, { 3, 3 }, { 4, math.huge } } } })
    assert.truthy(svg:find("</svg>%s*$"))
  end)

  it("takes any text as text", function()
    local marks = scratch.path("mark")
    local hostile = ("<b>&\"'`touch %s`$(touch %s)\\n{/Bold x}_1\n'; system('touch %s')"):format(
      marks, marks, marks)
    local svg = plot.line({ title = hostile, x = hostile, y = hostile,
      series = { { name = hostile, { 1, 2 }, { 2, 3 } } } })
    assert.is_nil(uv.fs_stat(marks))
    assert.is_nil(svg:find("<b>", 1, true))
    assert.truthy(svg:find("&lt;b>&amp;\"'`touch", 1, true))
    html.check((svg:gsub("^<%?xml.-%?>%s*", "")))
    pcall(plot.line, { series = { { colour = "#000'; system('touch " .. marks .. "'); x='",
                                    { 1, 2 }, { 2, 3 } } } })
    assert.is_nil(uv.fs_stat(marks))
  end)

  it("refuses bad options", function()
    local function refuses(options, message)
      assert.has_error(function() plot.line(options) end, message)
    end
    refuses({ series = {} }, "plot.line: series: expected points, got none")
    refuses({ series = { {} } }, "plot.line: series: expected points, got none")
    refuses({ series = { { { 1, 2 }, { 3 } } } },
            "plot.line: series 1: expected {x, y} as point 2, got {3, nil}")
    refuses({ series = { series[1], { 5 } } },
            "plot.line: series 2: expected {x, y} as point 1, got 5")
    refuses({}, "plot.line: option series: expected a table, got nil")
    refuses({ series = series, format = "png" },
            "plot.line: option format: expected one of svg, text, got png")
  end)

  it("says what to install where gnuplot is missing", function()
    local found = plot.found
    plot.found = false
    local ok, message = pcall(plot.line, { series = series })
    plot.found = found
    assert.is_false(ok)
    assert.truthy(message:find("plot: gnuplot is not installed (apt-get install gnuplot-nox)", 1,
      true))
  end)
end)

describe("plot.available", function()
  it("looks for gnuplot", function()
    local found = plot.found
    plot.found = nil
    local is_there = plot.available()
    plot.found = found
    assert.equal(os.execute("gnuplot --version >/dev/null 2>&1") == true, is_there)
  end)
end)
