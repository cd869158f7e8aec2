local reports = require("tests.reports")
local report = require("roper.workbench.study.report")
local selection = require("roper.workbench.study.report.selection")
local terminal = require("roper.text.document.terminal")

-- A sweep over two methods and some rates. `losses` gives the loss of a run from position, rate and
-- seed; "diverged" and "failed" are statuses.
local function sweep(rates, seeds, losses)
  local trials, methods = {}, {}
  for seed = 1, seeds do
    for _, position in ipairs({ "rope", "roper" }) do
      for _, rate in ipairs(rates) do
        local loss = losses(position, rate, seed)
        local is_done = type(loss) == "number"
        local trial = reports.trial(position, seed, is_done and "finished" or loss)
        trial.config.rate = rate
        trial.method = ("%s rate=%s"):format(position, rate)
        trial.name = ("%s seed %d"):format(trial.method, seed)
        if is_done then
          trial.run.result.loss = loss
        elseif loss == "diverged" then
          trial.run.result = { config = trial.config, diverged = { step = 3,
            reason = "the loss is nan" } }
        end
        trials[#trials + 1] = trial
        methods[#methods + 1] = seed == 1 and trial.method or nil
      end
    end
  end
  return { folder = "/nowhere", experiment = "substring_index", varied = { "position", "rate" },
    trials = trials, methods = methods }
end

local RATES <const> = { 0.001, 0.003, 0.01 }

-- The best rate of rope is 0.003, and that of roper 0.01, on all seeds but the last, on which it is
-- 0.001 for both.
local function plain(position, rate, seed)
  local best = seed == 6 and 0.001 or position == "rope" and 0.003 or 0.01
  return (rate == best and 1 or 2) + seed / 100
end

local function text(view)
  return (terminal.render(require("roper.workbench.study.report.selected")(view))
    :gsub("%s+", " "))
end

describe("the selection of a rate", function()
  it("chooses on the first third of the seeds and compares on the others", function()
    local found = selection.of(sweep(RATES, 6, plain), "rate")
    assert.same({ 1, 2 }, found.choosing)
    assert.same({ 3, 4, 5, 6 }, found.comparing)
    assert.same({ "rope", "roper" }, { found.methods[1].method, found.methods[2].method })
    assert.same({ 0.003, 0.01 }, { found.methods[1].best.value, found.methods[2].best.value })
    assert.near(1.015, found.methods[1].best.loss, 1e-12)
    assert.same({ nil, "largest" }, { found.methods[1].edge, found.methods[2].edge })
    local reduced = selection.apply(sweep(RATES, 6, plain), found)
    assert.same({ "rope", "roper" }, reduced.methods)
    assert.same({ "position" }, reduced.varied)
    assert.equal(8, #reduced.trials)
    for _, trial in ipairs(reduced.trials) do
      assert.is_true(trial.seed >= 3)
      assert.equal(trial.method == "rope" and 0.003 or 0.01, trial.config.rate)
    end
  end)

  it("chooses on the seeds with several rates, if the others have one", function()
    local whole = sweep(RATES, 6, plain)
    local kept = {}
    for _, trial in ipairs(whole.trials) do
      local is_best = trial.config.rate == (trial.config.position == "rope" and 0.003 or 0.01)
      kept[#kept + 1] = (trial.seed == 5 or is_best) and trial or nil
    end
    whole.trials = kept
    local found = selection.of(whole, "rate")
    assert.same({ { 5 }, { 1, 2, 3, 4, 6 } }, { found.choosing, found.comparing })
    assert.same({ 0.003, 0.01 }, { found.methods[1].best.value, found.methods[2].best.value })
    assert.equal(10, #selection.apply(whole, found).trials)
    kept[#kept + 1] = reports.trial("none", 7, "finished") -- another method, with one value
    assert.same({ { 5 }, { 1, 2, 3, 4, 6, 7 } }, { selection.of(whole, "rate").choosing,
      selection.of(whole, "rate").comparing })
  end)

  it("chooses on given seeds", function()
    local found = selection.of(sweep(RATES, 6, plain), "rate", { 6 })
    assert.same({ { 6 }, { 1, 2, 3, 4, 5 } }, { found.choosing, found.comparing })
    assert.same({ 0.001, 0.001 }, { found.methods[1].best.value, found.methods[2].best.value })
  end)

  it("never chooses a rate with a run that diverged or is missing", function()
    local found = selection.of(sweep(RATES, 6, function(position, rate, seed)
      if rate == 0.01 and seed == 2 then
        return "diverged"
      elseif rate == 0.003 and seed == 1 and position == "rope" then
        return "running"
      end
      return 1 / rate
    end), "rate")
    assert.same({ 0.001, 0.003 }, { found.methods[1].best.value, found.methods[2].best.value })
    assert.equal(1, found.methods[1].values[3].diverged)
    assert.equal(1, found.methods[1].values[2].missing)
    local none = selection.of(sweep(RATES, 3, function() return "diverged" end), "rate")
    assert.is_nil(none.methods[1].best)
    assert.is_nil(selection.apply(sweep(RATES, 3, plain), none))
  end)

  it("does not choose a rate that was run on fewer seeds", function()
    local whole = sweep(RATES, 6, plain)
    for i, trial in ipairs(whole.trials) do
      if trial.method == "rope rate=0.003" and trial.seed == 2 then
        table.remove(whole.trials, i)
        break
      end
    end
    local entry = selection.of(whole, "rate").methods[1]
    assert.equal(1, entry.values[2].missing)
    assert.equal(0.001, entry.best.value)
  end)

  it("needs a field in which trials differ", function()
    assert.error_matches(function() selection.of(sweep(RATES, 2, plain), "rat") end,
      'select: expected a field in which trials differ, got "rat"; did you mean "rate"')
    local one = sweep({ 0.001 }, 2, plain)
    one.varied = { "position" }
    assert.error_matches(function() selection.of(one, "rate") end, "such as rate=1e%-3,3e%-3")
  end)
end)

describe("a report with --select rate", function()
  it("compares methods at their best rates on the other seeds, and says so", function()
    local view = report.of(sweep(RATES, 6, plain), { select = "rate" })
    local found = report.text(view):gsub("%s+", " ")
    for _, part in ipairs({ "Best rate by the mean loss on seeds 1, 2: rope 0.003, roper 0.01.",
      "All other results are those of these values on seeds 3 to 6, which did not take part",
      "roper: 0.01 is the largest rate of the sweep; a larger one may be better",
      "1.0150 *", "8 of 8 runs finished.", "4 of 4" }) do
      assert.truthy(found:find(part, 1, true), part .. "\n" .. found)
    end
    assert.falsy(found:find("rate=", 1, true))
  end)

  it("shows the choice without --select, and compares all values", function()
    local view = report.of(sweep(RATES, 6, plain))
    local found = report.text(view):gsub("%s+", " ")
    assert.truthy(found:find("--select rate compares the methods at their best rate, on seeds 3 to "
      .. "6", 1, true))
    assert.truthy(found:find("rope rate=0.001", 1, true))
    assert.is_nil(report.of(reports.view().sweep).selection)
  end)

  it("cannot tell with one seed", function()
    local view = report.of(sweep(RATES, 1, plain), { select = "rate" })
    assert.truthy(text(view):find("Cannot tell which method is better at its best rate: all runs "
      .. "have the same seed", 1, true))
    assert.is_false(view.is_selected)
  end)

  it("cannot tell before the runs that choose have finished", function()
    local view = report.of(sweep(RATES, 6, function() return "waiting" end), { select = "rate" })
    assert.truthy(text(view):find("Cannot tell the best rate yet", 1, true))
  end)

  it("counts diverged runs in the table of rates", function()
    local view = report.of(sweep(RATES, 3, function(_, rate, seed)
      return rate == 0.01 and "diverged" or seed + rate
    end), { select = "rate" })
    assert.truthy(text(view):find("rope +1.0010 %* +1.0030 +1 diverged"), text(view))
  end)

  it("has a chart of the loss against the rate on its page", function()
    local view = report.of(sweep(RATES, 6, plain), { select = "rate" })
    view.attention = {}
    local page = require("roper.workbench.study.report.page").render(view)
    assert.truthy(page:find("Loss against rate", 1, true))
    assert.truthy(page:find("<h2>Best values</h2>", 1, true))
  end)
end)
