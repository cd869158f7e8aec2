local band = require("roper.workbench.study.report.band")
local curve = require("roper.workbench.study.report.curve")
local statistics = require("roper.tensor.statistics")

-- The means of methods with so many runs each, whose values at step s are s + run * run.
local function means_of(counts, steps)
  local curves = {}
  for style, count in ipairs(counts) do
    for run = 1, count do
      local line = { points = {}, method = "m" .. style, style = style, finished = true }
      for step = 1, steps or 3 do
        line.points[step] = { step, step + run * run }
      end
      curves[#curves + 1] = line
    end
  end
  return curve.means(curves)
end

describe("band.add", function()
  it("adds the intervals of means over enough runs", function()
    local means = means_of({ 6, 8, 5, 1 })
    assert.equal("interval", band.add(means))
    for i, runs in ipairs({ 6, 8 }) do
      local values = {}
      for run = 1, runs do
        values[run] = 2 + run * run
      end
      local low, high = statistics.interval(values)
      assert.same({ 1, 2, 3 }, means[i].band.x)
      assert.same({ low, high }, { means[i].band.low[2], means[i].band.high[2] })
    end
    assert.is_nil(means[3].band)
    assert.is_nil(means[4].band)
    assert.truthy(band.note("interval", means, "run"):find("fewer than 6 runs has none", 1, true))
    assert.falsy(band.note("interval", { means[1] }, "run"):find("fewer", 1, true))
  end)

  it("adds the ranges of runs if they are too few everywhere", function()
    local means = means_of({ 3, 1 })
    assert.equal("range", band.add(means))
    assert.same({ x = { 1, 2, 3 }, low = { 2, 3, 4 }, high = { 10, 11, 12 } }, means[1].band)
    assert.is_nil(means[2].band)
    assert.truthy(band.note("range", means, "pair"):find("largest of the pairs", 1, true))
  end)

  it("adds nothing to single runs", function()
    local means = means_of({ 1, 1 })
    assert.is_nil(band.add(means))
    assert.is_nil(means[1].band)
    assert.equal("Line: mean over the finished runs; with one run there is no band.",
      band.note(nil, means, "run"))
    assert.is_nil(band.add({}))
  end)

  it("breaks where a curve breaks, also between the points of a long band", function()
    local means = means_of({ 11, 11, 11 }, 1000)
    means[2].members[4].points[500][2] = false
    band.add(means)
    assert.is_true(#means[1].band.x < 400)
    assert.same({ 1, 1000 }, { means[1].band.x[1], means[1].band.x[#means[1].band.x] })
    local gaps = {}
    for i, step in ipairs(means[2].band.x) do
      gaps[#gaps + 1] = means[2].band.low[i] ~= means[2].band.low[i] and step or nil
    end
    assert.same({ 500 }, gaps)
  end)
end)
