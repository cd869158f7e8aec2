-- Charts of lines in the report: points, gaps, names and the loss floor.
local chart = require("roper.workbench.study.report.chart")
local html = require("tests.html")
local markup = require("roper.text.markup")
local svgs = require("tests.svg")

local function line(points, fields)
  local made = { points = points, method = "rope", style = 1, label = "rope seed 1",
    finished = true }
  for name, value in pairs(fields or {}) do
    made[name] = value
  end
  return made
end

local function draw(lines, options)
  local all = { title = "T", x = "step", y = "loss", lines = lines }
  for name, value in pairs(options or {}) do
    all[name] = value
  end
  return markup.render(chart.lines(all))
end

-- The lines of a chart in the units of its axes: for each run, its unbroken parts.
local function lines_of(page)
  local axes, list = svgs.axes(page), {}
  for d in page:gmatch('<path class="line[^"]*" d="([^"]*)"') do
    list[#list + 1] = axes.path(d)
  end
  return list
end

describe("chart.lines", function()
  it("draws points at their positions", function()
    local page = draw({ line({ { 0, 0 }, { 5, 5 }, { 10, 10 } }) })
    html.check(page)
    svgs.near({ { { { 0, 0 }, { 5, 5 }, { 10, 10 } } } }, lines_of(page), 0.01)
    assert.truthy(page:find('data-x="0 5 10" data-y="0 5 10"', 1, true))
    assert.truthy(page:find('data-x="0 10" data-y="0 10"', 1, true))
  end)

  it("breaks at missing values, and shows a single point as a dot", function()
    local page = draw({ line({ { 0, 0 }, { 1, 1 }, { 2, false }, { 3, 3 }, { 4, false },
      { 5, 0 }, { 10, 10 } }) })
    svgs.near({ { { { 0, 0 }, { 1, 1 } }, { { 3, 3 } }, { { 5, 0 }, { 10, 10 } } } },
      lines_of(page), 0.01)
    assert.truthy(page:find('data-x="0 1 3 5 10" data-y="0 1 3 0 10"', 1, true))
    local lone = draw({ line({ { 3, 7 } }, { finished = false }) })
    svgs.near({ { { { 3, 7 } } } }, lines_of(lone), 0.01)
    assert.truthy(lone:find('class="line s1 dot"', 1, true)) -- visible even if lines are thin
  end)

  it("distinguishes methods without colour, and dashes lines after seven methods", function()
    local lines = {}
    for i = 1, 9 do
      lines[i] = line({ { 0, i }, { 1, i } }, { method = "m" .. i, style = i })
    end
    local page = draw(lines)
    local marks, seen = 0, {}
    for mark in page:gmatch('class="name"[^>]*><g class="s%d"><path d="([^"]*)"') do
      marks = marks + 1
      seen[mark] = (seen[mark] or 0) + 1
    end
    assert.equal(9, marks)
    for _, count in pairs(seen) do
      assert.is_true(count <= 2)
    end
    assert.equal(2, select(2, page:gsub('class="line s%d thin dashed"', "")))
  end)

  it("gives 28 methods different colours, marks or dashes", function()
    local lines, seen, count = {}, {}, 0
    for i = 1, 28 do
      lines[i] = line({ { 0, i }, { 1, i } }, { method = "m" .. i, style = i })
    end
    local page = draw(lines)
    for color, mark in page:gmatch('class="name"[^>]*><g class="(s%d)"><path d="([^"]*)"') do
      count = count + (seen[color .. mark] and 0 or 1)
      seen[color .. mark] = true
    end
    assert.equal(28, count)
    seen, count = {}, 0
    for class in page:gmatch('class="(line [^"]*)"') do
      count = count + (seen[class] and 0 or 1)
      seen[class] = true
    end
    assert.equal(28, count)
  end)

  it("names each method once, apart from the others, within the height", function()
    local lines = {}
    for i = 1, 6 do
      lines[i] = line({ { 0, 1 }, { 1, 1 + i / 1000 } }, { method = "m" .. i, style = i })
      lines[i + 6] = line({ { 0, 1 }, { 1, 1 } }, { method = "m" .. i, style = i })
    end
    local places, page = {}, draw(lines, { low = 0, high = 1 })
    for place in page:gmatch('class="name" x="100.00%%" y="([%d.-]+)%%"') do
      places[#places + 1] = tonumber(place)
    end
    assert.equal(6, #places)
    for i, place in ipairs(places) do
      assert.is_true(place >= 0 and place <= 100)
      assert.is_true(i == 1 or place - places[i - 1] > 5)
    end
  end)

  it("shortens a long name, with the whole as its tooltip", function()
    local name = ("long"):rep(10)
    local page = draw({ line({ { 0, 1 }, { 1, 2 } }, { method = name }) })
    local title, shown = page:match('class="name".-<title>(.-)</title>(.-)</text>')
    assert.equal(name, title)
    assert.equal("…", shown:sub(-#"…"))
    assert.is_true(utf8.len(shown) < 20)
  end)

  it("draws the floor within the axis", function()
    local page = draw({ line({ { 0, 2 }, { 1, 3 } }) },
      { level = { value = 1, text = "floor 1.000" } })
    local level = svgs.axes(page).path(page:match('class="level" d="([^"]*)"'))
    svgs.near({ { { 0, 1 }, { 1, 1 } } }, level, 0.01)
    assert.truthy(page:find("floor 1.000", 1, true))
    assert.is_nil(draw({ line({ { 0, 2 } }) }, { level = { value = 0 / 0, text = "no floor" } })
      :find("no floor", 1, true))
  end)

  it("returns nil without a point", function()
    assert.is_nil(chart.lines({ title = "T", x = "x", y = "y", lines = {} }))
  end)
end)
