local arrows = require("roper.workbench.plot.arrows")
local core = require("roper.core")
local html = require("tests.html")
local plot = require("roper.workbench.plot")
local svgs = require("tests.svg")

local NAME <const> = "plot.arrows"

-- Two chains, dashed and solid, that end in sums: as a picture of RoPER has them.
local CHAINS <const> = {
  { 1.5, 1, label = "a", dashed = true },
  { -0.42, 0.85, from = { 1.5, 1 }, label = "b", dashed = true },
  { -0.8, -0.2, from = { 1.08, 1.85 }, label = "c", dashed = true },
  { 0.28, 1.65, label = "sum", dashed = true },
  { 1, -1.5, label = "a" },
  { 0.85, 0.42, from = { 1, -1.5 }, label = "b" },
  { -0.2, 0.8, from = { 1.85, -1.08 }, label = "c" },
  { 1.65, -0.28, label = "sum", turned = -math.pi / 2 },
}

describe("plot.arrows", function()
  it("draws from tail to tip, for every form of an arrow", function()
    local tail = core.tensor({ 1, 1 })
    local list = {
      { 2, -1 }, { x = 2, y = -1 }, core.tensor({ 2, -1 }), { 1, -2, from = tail },
    }
    local series = arrows.series(list)
    for i, one in ipairs(series) do
      assert.same({ i == 4 and 1 or 0, 2 }, one.x)
      assert.same({ i == 4 and 1 or 0, -1 }, one.y)
      assert.equal(i, one.index)
    end
    assert.equal(4, #series)
    assert.equal(3, #arrows.series(core.ones({ 3, 2 })))
  end)

  it("draws the arc of a tip that was rotated about its tail", function()
    local series = arrows.series({ { 0, 2, from = { 1, 1 }, turned = math.pi / 2 } })
    local way = series[1]
    assert.is_true(math.abs(way.x[1] - 3) + math.abs(way.y[1] - 1) < 1e-12)
    assert.is_true(math.abs(way.x[#way.x] - 1) + math.abs(way.y[#way.y] - 3) < 1e-12)
    for i, x in ipairs(way.x) do
      assert.is_true(math.abs((x - 1) ^ 2 + (way.y[i] - 1) ^ 2 - 4) < 1e-12)
    end
  end)

  it("gives arrows with the same label the same colour", function()
    local indices = {}
    for i, one in ipairs(arrows.series({ { 1, 1, label = "a" }, { 2, 1 }, { 3, 1 },
      { 4, 1, label = "a" } })) do
      indices[i] = one.index
    end
    assert.same({ 1, 2, 3, 1 }, indices)
  end)

  it("fits all arrows, with the same scale on both axes", function()
    for _, list in ipairs({ CHAINS, { { 5, 0 } }, { { 0, 0 } }, { { 1e-9, 0, from = { 1e9, 0 } } },
      { { 1e300, -1e300, from = { 1e300, 0 } } } }) do
      local series, x, y = arrows.series(list)
      local width, height = x.high - x.low, y.high - y.low
      assert.is_true(width > 0 and math.abs(width / height - 1) < 1e-6)
      for _, one in ipairs(series) do
        for i = 1, #one.x do
          local across, up = x:place(one.x[i]), y:place(one.y[i])
          assert.is_true(across > 0.01 and across < 0.99 and up > 0.01 and up < 0.99)
        end
      end
    end
  end)

  it("places each label beside its arrow, off lines and other labels", function()
    local function labels_of(list)
      local svg, labels = plot.arrows(list, { format = "svg" }), {}
      html.check_svg(svg)
      for class, fields, label in svg:gmatch('<text class="tag (s%d)"(.-)>(.-)</text>') do
        labels[#labels + 1] = { name = label .. class, x = tonumber(fields:match(' x="(.-)"')),
          y = tonumber(fields:match(' y="(.-)"')) }
      end
      return labels, svg
    end
    for _, list in ipairs({ CHAINS, { { 1, 1, label = "one" }, { 1, 1, label = "two" } } }) do
      local labels = labels_of(list)
      assert.equal(#list, #labels)
      for i, one in ipairs(labels) do
        for k = 1, i - 1 do
          assert.is_true(math.abs(one.x - labels[k].x) > 8 * #one.name
            or math.abs(one.y - labels[k].y) > 17, one.name)
        end
      end
    end
    -- The height in the picture at which the first arrow begins.
    local function height_of(svg)
      return svgs.lines(svg:match('class="line s1" d="([^"]*)"'))[1][1][2]
    end
    local labels, svg = labels_of({ { 4, 0, label = "low" }, { 4, 0, from = { 0, 0.2 } } })
    assert.is_true(labels[1].y > height_of(svg)) -- above it is the other arrow
    assert.same("as1", labels_of(CHAINS)[5].name)
    labels, svg = labels_of({ { 0, 0, label = "no length" } })
    assert.is_true(math.abs(labels[1].y - height_of(svg)) > 10)
    svg = plot.arrows({ { 1, 1, label = ("long "):rep(20) } }, { format = "svg" })
    assert.truthy(svg:find("</title>long long [long ]*…</text>"))
    svg = plot.arrows(CHAINS, { format = "svg", legend = false })
    assert.is_nil(svg:find("tag s", 1, true))
  end)

  it("shrinks heads that are longer than their arrow, and draws a dot for length 0", function()
    local svg = plot.arrows({ { 100, 0 }, { 1, 0, from = { 0, 1 } }, { 0, 0 } },
      { format = "svg" })
    local sizes = {}
    for size in svg:gmatch('transform="[^"]*rotate%b()(.-)"') do
      sizes[#sizes + 1] = tonumber(size:match("^scale%(([%d.]+)%)$")) or size
    end
    assert.equal("", sizes[1])
    assert.is_true(#sizes == 2 and sizes[2] < 0.3)
    assert.truthy(plot.arrows({ { 0, 0 } }, { format = "text" }):find("•", 1, true))
  end)

  it("marks arrows by the digit or first letter of their labels if there are no colours", function()
    local function shows(legend, marks, ...)
      local list = {}
      for i, label in ipairs({ ... }) do
        list[i] = { math.cos(i), math.sin(i), label = label }
      end
      list[#list + 1] = { 0, -1 }
      local text = plot.arrows(list, { format = "text", width = 60 })
      local drawing, below = text:match("^(.*)\n[^\n]*\n([^\n]*)\n$")
      assert.equal(legend, (below:gsub("^%s+", "")))
      local found = {}
      for mark in drawing:gsub("[%d.]+ ┤", ""):gsub("└.*", ""):gmatch("[%w]") do
        found[#found + 1] = mark
      end
      table.sort(found)
      assert.equal(marks, table.concat(found))
    end
    shows("0 token 0   1 token 1   s sum", "01s", "token 0", "token 1", "sum")
    shows("1 key   2 k", "12", "key", "k")
    shows("→ q   → k", "kq", "q", "k")
  end)

  it("rejects values that are not lists of arrows", function()
    local function refuses(message, list, options)
      assert.has_error(function() plot.arrows(list, options) end, NAME .. ": " .. message)
    end
    local expected = "expected a list of arrows, such as {{1, 2}, {3, 1}}, or a matrix of them, "
    refuses(expected .. "got one", { 1, 2 })
    refuses(expected .. "got one", { x = 1, y = 2 })
    refuses(expected .. "got float32 [2]", core.zeros({ 2 }))
    refuses("expected at least one arrow, got none", {})
    refuses("arrow 1: expected two numbers, x and y, got 3", core.zeros({ 2, 3 }))
    refuses("arrow 2: expected two numbers, x and y, got 1", { { 1, 2 }, { x = 1 } })
    refuses("arrow 1: expected finite numbers, got nan or inf", { { 1, 1 / 0 } })
    refuses("arrow 1: from: expected two numbers, x and y, got 1", { { 1, 2, from = { 1 } } })
    refuses("arrow 1: unknown option dash; it takes about, dashed, from, label, quantity, "
      .. "turned, x, y",
            { { 1, 2, dash = true } })
    refuses("expected at most 64 arrows, got 65", core.zeros({ 65, 2 }))
  end)
end)
