local core = require("roper.core")
local axes = require("roper.workbench.plot.axis")
local reduce = require("roper.workbench.plot.reduce")

describe("reduce.path", function()
  it("keeps short paths as they are", function()
    local series = { x = { 1, 2 }, y = { 3, 4 } }
    assert.equal(series, reduce.path(series))
  end)

  it("keeps ends, extremes and gaps of long ones", function()
    local series = { x = {}, y = {}, low = {}, high = {}, label = "a" }
    for i = 1, 200000 do
      series.x[i], series.y[i] = i, math.sin(i / 1000)
      series.low[i], series.high[i] = series.y[i] - 1, series.y[i] + 1
    end
    series.y[77777], series.high[123456], series.low[5] = 50, 60, -60
    series.y[150010] = 0 / 0
    local short = reduce.path(series)
    assert.equal("a", short.label)
    assert.is_true(#short.x < 20000)
    for _, name in ipairs({ "y", "low", "high" }) do
      assert.equal(#short.x, #short[name])
    end
    assert.equal(1, short.x[1])
    assert.equal(200000, short.x[#short.x])
    local seen, gap = {}, false
    for i, y in ipairs(short.y) do
      if y == y then
        seen[short.x[i]] = y
      else
        gap = short.x[i - 1] < 150010 and short.x[i + 1] > 150010
      end
    end
    assert.equal(50, seen[77777])
    assert.truthy(seen[123456])
    assert.truthy(seen[5])
    assert.is_true(gap)
  end)
end)

describe("reduce.cloud", function()
  it("keeps one point per cell", function()
    local series = { x = {}, y = {} }
    for i = 1, 100000 do
      series.x[i], series.y[i] = i % 10, i % 7
    end
    series.x[3] = 0 / 0
    local x, y = axes.new({ series.x }, {}), axes.new({ series.y }, {})
    local short, seen = reduce.cloud(series, x, y), {}
    for i = 1, #short.x do
      seen[short.x[i] .. "," .. short.y[i]] = true
    end
    assert.equal(70, #short.x)
    local count = 0
    for _ in pairs(seen) do
      count = count + 1
    end
    assert.equal(70, count)
  end)
end)

describe("reduce.matrix", function()
  before_each(function() core.seed(1) end)

  it("keeps a matrix that fits", function()
    local matrix = core.arange(0, 6):view({ 2, 3 })
    assert.equal(matrix, reduce.matrix(matrix, 2, 3))
  end)

  it("averages blocks of any size", function()
    for _, shape in ipairs({ { 7, 10, 3, 4 }, { 64, 5, 8, 9 }, { 100, 3, 7, 1 } }) do
      local rows, columns, most_rows, most_columns = table.unpack(shape)
      local matrix = core.randn({ rows, columns }, "float64")
      local got = reduce.matrix(matrix, most_rows, most_columns):totable()
      local list = matrix:totable()
      most_rows, most_columns = math.min(rows, most_rows), math.min(columns, most_columns)
      local sums = {}
      for i = 1, rows do
        for j = 1, columns do
          local key = (i - 1) * most_rows // rows * 1000 + (j - 1) * most_columns // columns
          sums[key] = sums[key] or { 0, 0 }
          sums[key][1], sums[key][2] = sums[key][1] + list[i][j], sums[key][2] + 1
        end
      end
      assert.equal(most_rows, #got)
      for i = 1, most_rows do
        assert.equal(most_columns, #got[i])
        for j = 1, most_columns do
          local sum = sums[(i - 1) * 1000 + j - 1]
          assert.is_true(math.abs(got[i][j] - sum[1] / sum[2]) < 1e-12)
        end
      end
    end
  end)

  it("ignores numbers that are not finite", function()
    local matrix = core.tensor({ { 1, 0 / 0, 0 / 0 }, { 3, 1 / 0, 0 / 0 } })
    assert.same({ { 2 } }, reduce.matrix(matrix, 1, 1):totable())
    local row = reduce.matrix(core.tensor({ { 1, 3, 0 / 0, 0 / 0 } }), 1, 2):totable()[1]
    assert.equal(2, row[1])
    assert.is_true(row[2] ~= row[2])
  end)
end)
