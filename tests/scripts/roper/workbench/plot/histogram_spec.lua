local histogram = require("roper.workbench.plot.histogram")
local html = require("tests.html")
local plot = require("roper.workbench.plot")
local roper = require("roper")

local NAN <const>, INF <const> = 0 / 0, 1 / 0

-- The edges and the counts of the bins.
local function bins(values, options)
  local series, note = histogram.series(values, options or {})
  local edges, counts = { series.x[1] }, {}
  for i = 3, #series.x - 1, 2 do
    edges[#edges + 1], counts[#counts + 1] = series.x[i], series.y[i]
  end
  return edges, counts, note
end

describe("plot.hist", function()
  -- numpy.histogram([1, 2, 2.5, 3, 3.5, 5], bins=4)
  it("counts as NumPy does, the greatest value in the last bin", function()
    local edges, counts = bins({ 1, 2, 2.5, 3, 3.5, 5 }, { bins = 4 })
    assert.same({ 1, 2, 3, 4, 5 }, edges)
    assert.same({ 1, 2, 2, 1 }, counts)
    edges, counts = bins({ 1, 2, 2.5, 3, 3.5, 5 }, { bins = 2, range = { 2, 3 } })
    assert.same({ 2, 2.5, 3 }, edges)
    assert.same({ 1, 2 }, counts)
  end)

  it("has a bin for each of a few integers", function()
    local edges, counts = bins(roper.tensor({ { 3, 5 }, { 3, 4 } }, "int32"))
    assert.same({ 2.5, 3.5, 4.5, 5.5 }, edges)
    assert.same({ 2, 1, 1 }, counts)
  end)

  it("chooses the number of bins as NumPy's auto does", function()
    local values = {}
    for i = 1, 1000 do
      values[i] = (i - 0.5) / 1000
    end
    assert.equal(11, #select(2, bins(values))) -- Sturges: log2(1000) + 1
    values[1001] = 1e9 -- far from all others
    assert.equal(11, #select(2, bins(values)))
  end)

  it("counts every value once, whatever its size", function()
    roper.seed(3)
    for _, scale in ipairs({ 1e-30, 1, 1e8, 1e290 }) do
      local values = (roper.randn({ 7, 11 }, "float64") * scale):parameter()
      for _, options in ipairs({ {}, { bins = 1 }, { bins = 1000 } }) do
        local total = 0
        for _, count in ipairs((select(2, bins(values, options)))) do
          total = total + count
        end
        assert.equal(77, total)
      end
    end
  end)

  it("draws a constant", function()
    for _, value in ipairs({ 0.25, -1e-30, 1e8 + 0.5, 1e290 }) do
      local edges, counts = bins({ value, value, value })
      assert.is_true(edges[1] < value and value < edges[#edges])
      local total = 0
      for _, count in ipairs(counts) do
        total = total + count
      end
      assert.equal(3, total)
    end
  end)

  it("leaves out values that are not finite or outside the range, and notes it", function()
    local _, counts, note = bins({ 1, NAN, INF, 2, -INF })
    assert.same({ 1, 1 }, counts)
    assert.equal("3 of 5 values are not finite", note)
    _, _, note = bins({ 1, 2, 9 }, { range = { 0, 4 } })
    assert.equal("1 of 3 values are not finite, or outside the range", note)
    assert.truthy(plot.hist({ 1, NAN }, { format = "text" }):find("1 of 2 values are not finite"))
  end)

  it("rejects values that cannot be drawn", function()
    local none = "plot.hist: expected at least one finite number"
    for message, call in pairs({
      [none .. ", got none"] = { {} },
      [none .. " from 5 to 6, got none"] = { { 1 }, { range = { 5, 6 } } },
      ["plot.hist: option bins: expected an integer from 1 to 1000, got 1001"] = { { 1 },
        { bins = 1001 } },
      ["plot.hist: expected a vector or a list of numbers, got number"] = { 5 },
    }) do
      assert.has_error(function() plot.hist(table.unpack(call)) end, message)
    end
    assert.has_error(function() plot.hist(roper.zeros({ 0 })) end, none .. ", got none")
  end)

  it("is a well-formed picture", function()
    local svg = plot.hist(roper.randn({ 100 }), { format = "svg", title = "weights" })
    html.check_svg(svg)
    assert.truthy(svg:find(">count<", 1, true))
    html.check_svg(plot.hist({ 1, 2, 2 }, { format = "svg", logy = true, ylabel = "how many" }))
  end)
end)
