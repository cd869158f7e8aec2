local core = require("roper.core")
local curve = require("roper.workbench.study.report.curve")
local reports = require("tests.reports")

describe("curve.thin", function()
  it("averages neighbours at their last step", function()
    local points = { { 1, 2 }, { 2, 4 }, { 3, 6 }, { 4, false }, { 5, 7 } }
    assert.same({ { 2, 3 }, { 4, 6 }, { 5, 7 } }, curve.thin(points, 2))
    assert.same({ { 1, false } }, curve.thin({ { 0, false }, { 1, false } }, 2))
    assert.equal(points, curve.thin(points, 1))
  end)
end)

describe("curve.mean", function()
  it("covers the steps that all have, and breaks if one breaks", function()
    assert.same({ { 10, 2 }, { 20, false }, { 30, 4 } }, curve.mean({
      { points = { { 10, 1 }, { 20, false }, { 30, 3 }, { 40, 9 } } },
      { points = { { 10, 3 }, { 20, 1 }, { 25, 8 }, { 30, 5 } } } }))
    assert.same({}, curve.mean({}))
  end)
end)

describe("curve.runs", function()
  it("has a named curve for each run with metrics", function()
    local curves, facts = curve.runs(reports.view().sweep, "loss")
    assert.same({ group = 1, broken = 0 }, facts)
    local found = {}
    for i, line in ipairs(curves) do
      found[i] = ("%s %d %s %d"):format(line.label, line.style, line.finished, #line.points)
    end
    assert.same({ "rope, seed 1 1 true 10", "roper, seed 1 2 true 10", "rope, seed 2 1 true 10",
      "roper, seed 2 2 false 6", "rope, seed 3 1 false 4" }, found)
    assert.same({ 20, 1.25 + 2 / 20 + 0.001 }, curves[1].points[2])
  end)

  it("takes the entries with the field, or only the last half", function()
    local sweep = reports.view().sweep
    assert.same({ 20, 40, 60, 80, 100 }, (function()
      local steps = {}
      for i, point in ipairs(curve.runs(sweep, "accuracy")[1].points) do
        steps[i] = point[1]
      end
      return steps
    end)())
    local late = curve.runs(sweep, "loss", true)
    assert.equal(4, #late) -- the run that failed at step 40 has none
    assert.equal(50, late[1].points[1][1])
    assert.equal(6, #late[1].points)
  end)

  it("breaks at values that are not finite, and counts them", function()
    local trial = reports.trial("rope", 1, "finished")
    trial.run.metrics[2].loss = core.json_null
    trial.run.metrics[3].loss = 0 / 0
    trial.run.metrics[4].loss = math.huge
    local curves, facts = curve.runs(reports.view({ trial }, { "rope" }).sweep, "loss")
    assert.equal(3, facts.broken)
    assert.same({ 20, false }, curves[1].points[2])
    for _, entry in ipairs(trial.run.metrics) do
      entry.loss = core.json_null
    end
    assert.same({}, (curve.runs(reports.view({ trial }, { "rope" }).sweep, "loss")))
  end)

  it("averages long runs to what a screen shows", function()
    local trial = reports.trial("rope", 1, "finished")
    for i = 1, 6500 do
      trial.run.metrics[i] = { step = 10 * i, loss = i }
    end
    local curves, facts = curve.runs(reports.view({ trial }, { "rope" }).sweep, "loss")
    assert.equal(28, facts.group)
    assert.is_true(#curves[1].points <= curve.MOST_POINTS)
    assert.same({ 280, 14.5 }, curves[1].points[1])
  end)
end)

describe("curve.means", function()
  it("covers each method's finished runs", function()
    local sweep = reports.view().sweep
    local means = curve.means((curve.runs(sweep, "loss")))
    assert.same({ "rope, mean of 2", "roper, mean of 1" }, { means[1].label, means[2].label })
    assert.is_true(math.abs(means[1].points[1][2] - (1.25 + 0.2 + 0.0015)) < 1e-12)
  end)
end)

describe("curve.differences", function()
  it("are means over finished runs of the same seed", function()
    local trials = {}
    for seed = 1, 2 do
      for _, method in ipairs({ "rope", "roper" }) do
        trials[#trials + 1] = reports.trial(method, seed, "finished")
      end
    end
    trials[5] = reports.trial("rope", 3, "finished") -- without a partner
    trials[6] = reports.trial("roper", 3, "running")
    for _, entry in ipairs(trials[2].run.metrics) do
      entry.accuracy = entry.accuracy and entry.accuracy + 0.25
    end
    for _, entry in ipairs(trials[4].run.metrics) do
      entry.accuracy = entry.accuracy and entry.accuracy - 0.75
    end
    trials[4].run.metrics[4].accuracy = 0 / 0 -- no difference at step 40
    local single = curve.differences(reports.view(trials).sweep, "accuracy")
    assert.same({ "roper − rope, seed 1", "roper − rope, seed 2" },
                { single[1].label, single[2].label, single[3] })
    local found = curve.means(single)
    assert.equal(1, #found)
    assert.same({ "roper − rope", "roper − rope, mean of 2", 2 },
                { found[1].method, found[1].label, found[1].runs })
    local steps = {}
    for i, point in ipairs(found[1].points) do
      steps[i] = point[1]
      assert.near(-0.25, point[2], 1e-12)
    end
    assert.same({ 20, 60, 80, 100 }, steps)
  end)

  it("are those from a baseline, or the first method, in the colour of the other one", function()
    local trials = {}
    for i, method in ipairs({ "rope", "roper", "none" }) do
      trials[i] = reports.trial(method, 1, "finished")
    end
    local view = reports.view(trials, { "rope", "roper", "none" })
    local function named(baseline)
      local list = {}
      for i, line in ipairs(curve.differences(view.sweep, "accuracy", baseline)) do
        list[i] = ("%d %s"):format(line.style, line.method)
      end
      return list
    end
    assert.same({ "2 roper − rope", "3 none − rope" }, named())
    assert.same({ "1 rope − roper", "3 none − roper" }, named("roper"))
  end)

  it("are empty for different experiments or seeds", function()
    local trials = { reports.trial("rope", 1, "finished"), reports.trial("roper", 2, "finished") }
    assert.same({}, curve.differences(reports.view(trials).sweep, "accuracy"))
    trials[2].seed, trials[2].config.experiment = 1, "addition"
    assert.same({}, curve.differences(reports.view(trials).sweep, "accuracy"))
  end)
end)
