local core = require("roper.core")
local html = require("tests.html")
local plot = require("roper.workbench.plot")
local process = require("tests.process")
local scratch = require("tests.scratch")
local stdout = require("tests.stdout")
local svgs = require("tests.svg")
local uv = require("luv")

before_each(function()
  scratch.create()
  core.seed(1)
end)
after_each(scratch.remove)

local NAN <const> = 0 / 0
local check_svg = html.check_svg

-- A call of each kind of plot, with options added.
local function plots(options)
  return {
    line = function() return plot.line({ 1, 4, 2 }, options) end,
    scatter = function() return plot.scatter({ 1, 4, 2 }, options) end,
    bar = function() return plot.bar({ 1, 4, 2 }, options) end,
    hist = function() return plot.hist({ 1, 4, 4, 2 }, options) end,
    heatmap = function() return plot.heatmap({ { 1, 2 }, { 3, 4 } }, options) end,
    rotation = function() return plot.rotation({ 1, 0, 0, 1 }, "rope", 1, options) end,
    arrows = function() return plot.arrows({ { 1, 2, label = "a" }, { 2, 1 } }, options) end,
    attention = function() return plot.attention({ { 1, 0 }, { 0.5, 0.5 } }, options) end,
  }
end

-- The lines of a chart as {series, lines}, in the units of its axes.
local function lines_of(svg)
  local axes, list = svgs.axes(svg), {}
  for series, d in svg:gmatch('class="line s(%d)[^"]*" d="([^"]*)"') do
    list[#list + 1] = { tonumber(series), axes.path(d) }
  end
  return list
end

describe("every plot", function()
  it("is a well-formed picture with its texts", function()
    for name, draw in pairs(plots({ format = "svg", title = "the title", xlabel = "across",
      ylabel = "upwards" })) do
      local svg = draw()
      check_svg(svg)
      for _, text in ipairs({ "the title", "across", "upwards" }) do
        assert.truthy(svg:find(">" .. text .. "<", 1, true), name .. ": " .. text)
      end
    end
  end)

  it("escapes any text", function()
    local mark = scratch.path("mark")
    local hostile = ("<b>]]>&\"'`touch %s`$(touch %s)\\n{/Bold x}_1^2\0\n\27[31m\xff%%g %%s'"
      .. "; system('touch %s')"):format(mark, mark, mark)
    local shown = "&lt;b&gt;]]&gt;&amp;&quot;&#39;`touch "
    local list = {
      plot.line({ label = hostile, y = { 1, 2 } }, { title = hostile, xlabel = hostile,
        ylabel = hostile, format = "svg", width = 2000 }),
      plot.bar({ 1, 2 }, { names = { hostile, "50%" }, format = "svg" }),
      plot.heatmap({ { 1, 2 } }, { columns = { hostile, "50%" }, format = "svg" }),
      plot.attention({ { 1, 0 }, { 0, 1 } }, { tokens = { hostile, "50%" }, format = "svg" }),
    }
    for i, svg in ipairs(list) do
      check_svg(svg)
      assert.truthy(svg:find(shown:sub(1, i == 1 and -1 or 30), 1, true))
      assert.truthy(i == 1 or svg:find(">50%<", 1, true))
    end
    assert.is_nil(uv.fs_stat(mark))
    local text = plot.line({ label = hostile, y = { 1, 2 } }, { title = hostile, format = "text" })
    assert.is_nil(text:find("[%z\1-\9\11-\31]"))
    assert.truthy(utf8.len(text))
  end)

  it("follows the reader's light or dark mode, and refers to nothing", function()
    for _, draw in pairs(plots({ format = "svg" })) do
      local svg = draw()
      assert.truthy(svg:find("@media screen and (prefers-color-scheme:dark)", 1, true))
      assert.is_nil(svg:find("%sid="))
      assert.is_nil(svg:find("href", 1, true))
      assert.is_nil(svg:find("url(", 1, true))
    end
  end)

  it("stays within 80 columns without a terminal, and has no colours there", function()
    for name, draw in pairs(plots({ title = ("long "):rep(30) })) do
      local text = stdout.capture(draw)
      assert.is_nil(text:find("\27", 1, true))
      for line in text:gmatch("[^\n]*") do
        assert.is_true(utf8.len(line) <= 80, name .. ": " .. line)
      end
    end
  end)

  it("returns nothing for the screen, the path of a file, or the bytes", function()
    local starts = { svg = "^<%?xml", png = "^\137PNG\r\n", pdf = "^%%PDF", txt = "┤" }
    for ending, start in pairs(starts) do
      local path = scratch.path("a." .. ending)
      assert.equal(path, plot.line({ 1, 2 }, path))
      assert.equal(path, plot.line({ 1, 2 }, { file = path, title = "x" }))
      assert.equal(path, plot.rotation({ 1, 2 }, "rope", path))
      local bytes = plot.line({ 1, 2 }, { format = ending == "txt" and "text" or ending })
      assert.truthy(bytes:find(start))
      plot.line({ 1, 2 }, path, { title = "y" })
      assert.truthy(scratch.read(path):find(start))
    end
    assert.same({ "a.pdf", "a.png", "a.svg", "a.txt" }, scratch.list())
    assert.equal(0, select("#", select(2, stdout.capture(plot.line, { 1, 2 }))))
    assert.truthy(scratch.read(plot.line({ 1, 2 }, scratch.path("A.SVG"))):find("^<%?xml"))
  end)

  it("has the requested size", function()
    local svg = plot.line({ 1, 2 }, { format = "svg", width = 300, height = 200 })
    assert.same({ "200", "300" }, { svg:match('<svg [^>]* height="(%d+)"[^>]* width="(%d+)"') })
    local png = plot.line({ 1, 2 }, { format = "png", width = 300, height = 200 })
    assert.same({ 300, 200, 25 }, { string.unpack(">I4I4", png, 17) })
    local pdf = plot.line({ 1, 2 }, { format = "pdf", width = 320, height = 240 })
    assert.truthy(pdf:find("/MediaBox [ 0 0 240 180 ]", 1, true)) -- at 96 pixels an inch
    local text = plot.line({ 1, 2 }, { format = "text", width = 30, height = 5 })
    assert.equal(7, select(2, text:gsub("\n", "")))
  end)

  it("rejects unknown options", function()
    local function refuses(message, name, ...)
      local ok, got = pcall(plot[name], ...)
      assert.is_false(ok)
      assert.equal(message, got:sub(1, #message))
    end
    refuses('plot.line: unknown option titel; did you mean "title"? It takes file, format, ',
            "line", { 1 }, { titel = "x" })
    refuses('plot.heatmap: unknown option palete; did you mean "palette"?', "heatmap", { { 1 } },
            { palete = "viridis" })
    refuses('plot.bar: expected a file name that ends in .svg, .png, .pdf or .txt, got "a.jpg"',
            "bar", { 1 }, "a.jpg")
    refuses('plot.line: option format: expected one of svg, png, pdf, text, window, got "jpg"',
            "line", { 1 }, { format = "jpg" })
    refuses("plot.line: expected one file, got one as an argument and one as an option", "line",
            { 1 }, "a.svg", { file = "b.svg" })
    refuses("plot.scatter: expected a file name or a table of options after the data, got float32 "
      .. "[2]; points with x are written {x = ..., y = ...}", "scatter", { 1, 2 },
            core.zeros({ 2 }))
    refuses("plot.scatter: expected a file name or a table of options after the data, got a list",
            "scatter", { 1, 2 }, { 3, 4 })
    refuses("plot.line: expected a file or a window, got both", "line", { 1 }, "a.svg",
            { format = "window" })
    refuses("plot.line: option width: expected an integer from 1 to 10000, got 10001", "line",
            { 1 }, { width = 10001 })
  end)
end)

describe("plot.line", function()
  it("draws each series, its band, and one entry for each label", function()
    local svg = plot.line({
      { y = { 1, 2, 3 }, label = "rope", low = { 0, 1, 2 }, high = { 2, 3, 4 } },
      { y = { 2, 3, 4 }, label = "roper" },
      { y = { 3, 4, 5 }, label = "roper" },
    }, { format = "svg" })
    svgs.near({ { 1, { { { 1, 1 }, { 2, 2 }, { 3, 3 } } } },
      { 2, { { { 1, 2 }, { 2, 3 }, { 3, 4 } } } }, { 2, { { { 1, 3 }, { 2, 4 }, { 3, 5 } } } } },
      lines_of(svg), 0.01)
    local low, high = {}, {}
    for _, part in ipairs(svgs.axes(svg).path(svg:match('class="band s1" d="([^"]*)"'))) do
      for _, corner in ipairs(part) do
        local x, y = math.floor(corner[1] + 0.5), corner[2]
        low[x], high[x] = math.min(low[x] or y, y), math.max(high[x] or y, y)
      end
    end
    svgs.near({ { 0, 1, 2 }, { 2, 3, 4 } }, { low, high }, 0.01)
    assert.is_nil(svg:find('class="band s2"', 1, true))
    assert.equal(1, select(2, svg:gsub(">rope<", "")))
    assert.equal(1, select(2, svg:gsub(">roper<", "")))
    assert.truthy(svg:find(".s1{color:#0072b2}.s2{color:#d55e00}", 1, true))
    assert.is_nil(plot.line({ y = { 1, 2 }, label = "rope" }, { format = "svg", legend = false })
      :find(">rope<", 1, true))
  end)

  it("draws dashed and thin lines", function()
    local lines = { { y = { 1, 2 }, label = "loss" },
      { y = { 2, 2 }, label = "bound", thin = true },
      { y = { 1, 1 }, label = "before", dashed = true } }
    local svg = plot.line(lines, { format = "svg" })
    for _, class in ipairs({ "line s1", "line s2 thin", "line s3 dashed" }) do
      assert.truthy(svg:find(('class="%s"'):format(class), 1, true), class)
    end
    local text = plot.line(lines, { format = "text" })
    assert.truthy(text:find("━●━ loss   ─■─ bound   ╍▲╍ before", 1, true), text)
  end)

  it("accepts the same numbers in any form", function()
    local expected = plot.line({ 1, 4, 9 }, { format = "svg" })
    local tensor = core.tensor({ { 1, 0 }, { 4, 0 }, { 9, 0 } })
    for _, values in ipairs({ core.tensor({ 1, 4, 9 }), core.tensor({ 1, 4, 9 }, "int32"),
      core.tensor({ 1, 4, 9 }, "float64"):parameter(), tensor:transpose(1, 2)[1], { { 1, 4, 9 } },
      { x = { 1, 2, 3 }, y = { 1, 4, 9 } }, { { y = core.tensor({ 1, 4, 9 }) } },
      tensor:narrow(2, 1, 1) }) do
      assert.equal(expected, plot.line(values, { format = "svg" }))
    end
    svgs.near({ { 1, { { { 1, 1 }, { 2, 4 }, { 3, 9 } } } },
      { 2, { { { 1, 0 }, { 2, 0 }, { 3, 0 } } } } },
      lines_of(plot.line(tensor, { format = "svg" })), 0.02)
  end)

  it("leaves gaps for missing numbers, and shows a single point", function()
    check_svg(plot.line({ { NAN, NAN }, { 1, 2 } }, { format = "svg" }))
    local svg = plot.line({ 1, 2, NAN, NAN, 3, 1 / 0, 4, 5 }, { format = "svg" })
    svgs.near({ { 1, { { { 1, 1 }, { 2, 2 } }, { { 5, 3 } }, { { 7, 4 }, { 8, 5 } } } } },
      lines_of(svg), 0.01)
    assert.truthy(plot.line({ 5 }, { format = "text" }):find("•", 1, true))
    assert.truthy(plot.line({ NAN, 5, NAN }, { format = "text" }):find("•", 1, true))
  end)

  it("draws a million points", function()
    local y = core.randn({ 1000000 }):cumsum(1)
    assert.is_true(#plot.line(y, { format = "svg" }) < 1000000)
    assert.truthy(plot.line(y, { format = "text" }))
  end)

  it("names lines at their ends, and clips them to a given range", function()
    local function svg_of(options)
      options.format = "svg"
      return plot.line({ { y = { 4, 0 }, label = "falls" }, { y = { 0, 4 }, label = "rises" } },
        options)
    end
    local names = {}
    for y, name in svg_of({}):gmatch('class="name" x="100.00%%" y="([%d.]+)%%".->(%a+)</text>') do
      names[#names + 1] = name .. " " .. y
    end
    assert.same({ "rises 0.00", "falls 100.00" }, names)
    assert.is_nil(svg_of({}):find('class="clipped"', 1, true))
    assert.truthy(svg_of({ yrange = { 1, 3 } }):find('class="clipped"', 1, true))
  end)

  it("draws any numbers", function()
    for _, values in ipairs({ { 0 }, { 0, 0 }, { 5, 5, 5 }, { 1e300, -1e300 }, { 1e-310, 3e-310 },
      { 1, 1 + 1e-15 }, { 1e15, 1e15 + 1 }, { -1e-200, 0 } }) do
      check_svg(plot.line(values, { format = "svg" }))
      assert.truthy(plot.line(values, { format = "text" }))
    end
  end)

  it("has ranges and logarithmic scales", function()
    local text = plot.line({ 1, 100, 10000, 0, -3 }, { format = "text", logy = true })
    assert.truthy(text:find("10000 ┤", 1, true))
    text = plot.line({ 1, 2, 1e6 }, { format = "text", yrange = { 0, 2 }, xrange = { 1, 2 } })
    assert.truthy(text:find("2.0 ┤", 1, true))
    check_svg(plot.line({ x = { 1, 10, 100 }, y = { 1, 2, 3 } }, { format = "svg", logx = true }))
  end)

  it("rejects values that are not series", function()
    local function refuses(values, message, options)
      assert.has_error(function() plot.line(values, options or {}) end, message)
    end
    local none = "plot.line: expected at least one finite number, got none"
    refuses({}, none)
    refuses({ NAN, 1 / 0 }, none)
    refuses(core.zeros({ 0 }), none)
    refuses({ -1, 0 }, "plot.line: expected at least one finite number above 0, got none",
            { logy = true })
    local forms = "plot.line: expected a vector, a matrix, a list or a series {x =, y =}, got "
    refuses(nil, forms .. "nil")
    refuses("abc", forms .. "string")
    refuses(core.zeros({ 2, 3, 4 }), forms .. "float32 [2, 3, 4]")
    refuses({ 1, "2" }, "plot.line: expected numbers, got string as element 2")
    refuses({ { 1 }, { 1, {} } }, "plot.line: series 2: expected numbers, got table as element 2")
    refuses({ { 1 }, 5 },
            "plot.line: series 2: expected a vector or a list of numbers, got number")
    refuses({ 1, 1e308 }, "plot.line: expected numbers up to 1e+300, got 1e+308")
    refuses({ x = { 1, 2 }, y = { 1 } },
            "plot.line: expected as many numbers in x as in y, got 2 and 1")
    refuses({ { y = { 1 } }, { y = { 1 }, low = { 0 } } },
            "plot.line: series 2: expected both low and high of a band, got one")
    refuses({ y = { 1 }, lable = "a" }, 'plot.line: unknown option lable; did you mean "label"? '
      .. "It takes dashed, high, label, low, thin, x, y")
    refuses(core.zeros({ 2, 100 }), "plot.line: expected at most 64 columns, one per series, got "
      .. "float32 [2, 100]; plot.heatmap shows a matrix")
    refuses({ 1 }, "plot.line: yrange: expected {low, high} with low < high, got {3, 2}",
            { yrange = { 3, 2 } })
    refuses({ 1 }, "plot.line: xrange: expected {low, high} with low < high, got {1, nil}",
            { xrange = { 1 } })
    refuses({ 1 }, "plot.line: xrange: expected numbers above 0 on a logarithmic scale, got 0",
            { xrange = { 0, 1 }, logx = true })
  end)
end)

describe("plot.scatter", function()
  it("draws every point of a small cloud, and the shape of a large one", function()
    local svg = plot.scatter({ { x = { 1, 2, NAN }, y = { 3, 4, 5 } }, { 1, 2, 3 } },
      { format = "svg" })
    local axes, series = svgs.axes(svg), {}
    for marks in svg:gmatch('<g class="s%d">(.-)</g>') do
      local points = {}
      for x, y in marks:gmatch('transform="translate%(([%d.]+) ([%d.]+)%)') do
        points[#points + 1] = { axes.point(x, y) }
      end
      series[#series + 1] = points
    end
    svgs.near({ { { 1, 3 }, { 2, 4 } }, { { 1, 1 }, { 2, 2 }, { 3, 3 } } }, series, 0.01)
    local x = core.randn({ 200000 })
    svg = plot.scatter({ x = x, y = x }, { format = "svg" })
    assert.is_true(#svg < 100000)
  end)
end)

describe("plot.bar", function()
  it("draws a bar for each number", function()
    local svg = plot.bar({ { y = { 3, -5, NAN }, low = { 2, -6, NAN }, high = { 4, -4, NAN },
      label = "a" }, { y = { 1, 2, 3 }, label = "b" } },
      { names = { "rope", "roper", "x'y" }, format = "svg" })
    check_svg(svg)
    local axes, bars, ranges = svgs.axes(svg), { {}, {} }, {}
    for series, height, y in svg:gmatch('class="bar s(%d)" height="([%d.]+)%%".- y="([%d.]+)%%"') do
      table.insert(bars[tonumber(series)], { axes.y((y + height) / 100), axes.y(y / 100) })
    end
    svgs.near({ { { 0, 3 }, { -5, 0 } }, { { 0, 1 }, { 0, 2 }, { 0, 3 } } }, bars, 0.01)
    for _, line in ipairs(svgs.lines(svg:match('class="range" d="([^"]*)"'))) do
      ranges[#ranges + 1] = #line == 2 and line[1][1] == line[2][1]
        and { axes.y(line[1][2] / axes.height), axes.y(line[2][2] / axes.height) } or nil
    end
    svgs.near({ { 2, 4 }, { -6, -4 } }, ranges, 0.01)
    for _, text in ipairs({ "rope", "roper", "x&#39;y", "a", "b" }) do
      assert.truthy(svg:find(">" .. text .. "<", 1, true), text)
    end
  end)

  it("rejects names and values that do not match", function()
    assert.has_error(function() plot.bar({ 1, 2 }, { names = { "a" } }) end,
      "plot.bar: names: expected a list of 2 texts, got 1")
    assert.has_error(function() plot.bar({ 1 }, { names = { {} } }) end,
      "plot.bar: names: expected texts, got table as element 1")
    assert.has_error(function() plot.bar({ { 1, 2 }, { 1 } }) end, "plot.bar: expected as many "
      .. "bars in every series, got 2 in series 1 and 1 in series 2")
    assert.has_error(function() plot.bar(core.zeros({ 201 })) end, "plot.bar: expected at most 200 "
      .. "bars, got 201; use plot.line for more values")
  end)
end)

describe("plot.heatmap", function()
  it("numbers rows and columns from the options", function()
    local options = { first_row = -1, first_column = 10, format = "text", width = 40 }
    local text = plot.heatmap({ { 1, 2 }, { 3, 4 } }, options)
    assert.truthy(text:find("\n *-1 ") and text:find("\n *0 ") and text:find("10 +11\n"), text)
    options.format = "svg"
    local svg = plot.heatmap({ { 1, 2 }, { 3, 4 } }, options)
    for _, label in ipairs({ ">−1<", ">0<", ">10<", ">11<" }) do
      assert.truthy(svg:find(label, 1, true), label)
    end
  end)

  it("draws a cell for each number, in its colour", function()
    local svg = plot.heatmap({ { 0, 1 }, { NAN, 0.5 } }, { format = "svg", legend = false })
    check_svg(svg)
    local colors = {}
    for d, color in svg:gmatch('<path d="([^"]*)" fill="([^"]*)"') do
      local corners = svgs.lines(d)[1]
      local first, opposite = corners[1], corners[3]
      colors[#colors + 1] = ("%d,%d to %d,%d %s"):format(first[1], first[2], opposite[1],
        opposite[2], color)
    end
    assert.truthy(svg:find('class="viridis" fill="#EEEEEE"', 1, true)) -- where a cell has no number
    assert.same({ "0,0 to 1,1 #440154", "1,0 to 2,1 #FDE725", "1,1 to 2,2 #21918C" }, colors)
  end)

  it("uses diverging colours around 0 if data have both signs", function()
    local function colors(matrix, options)
      options.format = "svg"
      return plot.heatmap(matrix, options)
    end
    local white = "#F7F7F7"
    assert.truthy(colors({ { -1, 0, 3 } }, { legend = false }):find(white))
    assert.is_nil(colors({ { 0, 3 } }, { legend = false }):find(white))
    assert.is_nil(colors({ { -1, 0, 3 } }, { legend = false, palette = "viridis" }):find(white))
    assert.truthy(colors({ { 5, 6 } }, { legend = false, range = { 4, 6 }, palette = "diverging" })
      :find(white))
  end)

  it("averages a large matrix and notes it", function()
    local matrix = core.randn({ 200, 4096 })
    local svg = plot.heatmap(matrix, { format = "svg" })
    check_svg(svg)
    assert.truthy(svg:find(">200 x 4096; each cell is the mean of 1 x 8<", 1, true))
    local text = plot.heatmap(matrix, { format = "text" })
    assert.truthy(text:find("200 x 4096; each cell is the mean of 8 to 9 x 53 to 54", 1, true))
  end)

  it("accepts any matrix", function()
    local x = core.tensor({ { 1, 2 }, { 3, 4 } })
    local expected = plot.heatmap(x, { format = "text" })
    for _, same in ipairs({ { { 1, 2 }, { 3, 4 } }, x:to("int32"), x:to("float64"),
      core.tensor({ { 1, 3 }, { 2, 4 } }):transpose(1, 2), x:clone():parameter() }) do
      assert.equal(expected, plot.heatmap(same, { format = "text" }))
    end
    for _, shape in ipairs({ { 1, 1 }, { 1, 300 }, { 300, 1 }, { 80, 80 } }) do
      local matrix = core.randn(shape)
      check_svg(plot.heatmap(matrix, { format = "svg" }))
      assert.truthy(plot.heatmap(matrix, { format = "text" }))
    end
  end)

  it("rejects values that are not matrices", function()
    local function refuses(matrix, message, options)
      assert.has_error(function() plot.heatmap(matrix, options or {}) end, message)
    end
    refuses(nil, "plot.heatmap: expected a matrix [rows, columns], got nil")
    refuses(core.zeros({ 6 }), "plot.heatmap: expected a matrix [rows, columns], got float32 [6]")
    refuses(core.zeros({ 0, 3 }),
            "plot.heatmap: expected a matrix [rows, columns], got float32 [0, 3]")
    refuses(core.zeros({ 1, 1, 6, 6 }), "plot.heatmap: expected a matrix [rows, columns], got "
      .. "float32 [1, 1, 6, 6]; index it down to one matrix, such as x[1][1]")
    refuses({ { 1, 2 }, { 3 } },
            "plot.heatmap: expected every list of level 2 to have 2 elements, got 1")
    refuses({ { NAN } }, "plot.heatmap: expected at least one finite number, got none")
    refuses({ { 1e308, 0 } }, "plot.heatmap: expected numbers up to 1e+300, got 1e+308")
    refuses({ { 1, 2 } }, "plot.heatmap: columns: expected a list of 2 texts, got 1",
            { columns = { "a" } })
    refuses({ { 1 } }, "plot.heatmap: range: expected {low, high} with low < high, got {2, 1}",
            { range = { 2, 1 } })
  end)
end)

describe("colours", function()
  local code = [[./roper -e 'plot.heatmap({{1, 2}}); plot.line({1, 2})']]

  local function output(changes)
    local screen = process.open(code, changes)
    assert.equal(0, screen:leave())
    return screen.process.output
  end

  it("use the number of colours of the terminal", function()
    local rich = output({ TERM = "xterm-256color", COLORTERM = "truecolor", NO_COLOR = false })
    assert.truthy(rich:find("\27[38;2;0;114;178m", 1, true))
    local poor = output({ TERM = "xterm-256color", COLORTERM = false, NO_COLOR = false })
    assert.truthy(poor:find("\27[38;5;25m", 1, true))
    assert.is_nil(poor:find(";2;", 1, true))
  end)

  it("are not used without a terminal, or with NO_COLOR", function()
    for _, changes in ipairs({ { TERM = "dumb", NO_COLOR = false },
      { TERM = "xterm", NO_COLOR = "1" } }) do
      assert.is_nil(output(changes):find("\27", 1, true))
    end
    local status, text = process.run({ "sh", "-c", code })
    assert.equal(0, status)
    assert.is_nil(text:find("\27", 1, true))
    assert.truthy(text:find("█", 1, true))
  end)
end)
