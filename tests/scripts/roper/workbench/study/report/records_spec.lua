-- The data of a report as CSV, read back by a strict parser.
local core = require("roper.core")
local csv = require("tests.csv")
local files = require("roper.system.file")
local records = require("roper.workbench.study.report.records")
local reports = require("tests.reports")

local function read(view, name)
  return csv.parse(records.files(view)[name])
end

describe("records.files", function()
  it("has a row for each trial, and marks those without a result", function()
    local view = reports.view()
    local rows = read(view, "results.csv")
    assert.equal(6, #rows)
    for i, trial in ipairs(view.sweep.trials) do
      local row, result = rows[i], trial.run.result
      assert.same({ trial.name, trial.method, tostring(trial.seed), trial.run.status },
        { row.trial, row.method, row.seed, row.status })
      for _, name in ipairs({ "loss", "solved", "steps_to_90", "last_half", "perplexity" }) do
        assert.equal(result and result[name], tonumber(row[name]))
      end
    end
    assert.same({ "failed", "40", "100", "", "train: the loss is nan at step 41" },
      { rows[5].status, rows[5].step, rows[5].steps, rows[5].loss, rows[5].failure })
  end)

  it("has stale trials without a method, which no table counts", function()
    local view = reports.view()
    local stale = reports.trial("rope", 9, "finished")
    stale.method, stale.seed = nil, nil
    view.sweep.stale = { stale }
    local rows = read(view, "results.csv")
    assert.equal(7, #rows)
    assert.same({ "", "9", "stale", "rope", "69" }, { rows[7].method, rows[7].seed,
      rows[7].status, rows[7].position, rows[7].solved })
    assert.equal(7, #read(view, "configurations.csv"))
    for _, row in ipairs(read(view, "methods.csv")) do
      assert.equal("3", row.planned)
      assert.is_nil(row.stale)
    end
    assert.truthy(require("roper.workbench.study.report.paper").files(view)["report.tex"]:find(
      "Not included, because loaded files or weights have changed since: rope seed 9", 1, true))
  end)

  it("has a row for each trial and step", function()
    local view = reports.view()
    view.sweep.trials[1].run.metrics[2].loss = core.json_null
    local rows = read(view, "metrics.csv")
    assert.equal(10 + 10 + 10 + 6 + 4, #rows)
    assert.same({ "10", "1", "", "20", "NaN" },
      { rows[1].step, rows[1].seconds, rows[1].accuracy, rows[2].step, rows[2].loss })
    assert.equal(view.sweep.trials[1].run.metrics[2].accuracy, tonumber(rows[2].accuracy))
    assert.equal("failed", rows[#rows].status)
  end)

  it("has the configurations, and lengths and distances in rows of their own", function()
    local view = reports.lengths({ "rope", "roper" }, 2)
    view.sweep.trials[1].config.files = 'a "b",c'
    local rows = read(view, "configurations.csv")
    assert.equal(4, #rows)
    assert.same({ "substring_index", "128", "false", 'a "b",c', "" }, { rows[1].experiment,
      rows[1].d_model, rows[1].rotate, rows[1].files, rows[2].files })
    rows = read(view, "lengths.csv")
    assert.equal(4 * 3, #rows)
    assert.same({ "1", "", "0.91" }, { rows[1].times, rows[1].name, rows[1].accuracy })
    assert.same({ "8", "letters=64" }, { rows[3].times, rows[3].name })
    assert.equal(view.sweep.trials[1].run.result.longer[2].accuracy, tonumber(rows[3].accuracy))
    assert.equal("", rows[1].accuracy_beyond)
    assert.near(0.22, tonumber(rows[3].accuracy_beyond), 1e-12)
    assert.equal(4 * 2, #read(view, "distances.csv"))
    assert.equal(4, #read(view, "machines.csv"))
    assert.equal(0, #read(view, "positions.csv"))
  end)

  it("has the summary of methods, with the runs that are missing in it", function()
    local view = reports.view()
    for _, row in ipairs(read(view, "methods.csv")) do
      local entry = view.summary.methods[row.method == "rope" and 1 or 2]
      assert.same({ "3", row.method == "rope" and "2" or "1", row.method == "rope" and "1" or "0" },
        { row.planned, row.finished, row.failed })
      local found = entry[row.measure]
      assert.equal(found.n, tonumber(row.n))
      assert.equal(found.mean, tonumber(row.mean))
      assert.equal(found.median, tonumber(row.median))
    end
  end)

  it("has the differences with interval, p and N", function()
    local view = reports.lengths({ "rope", "roper", "none" }, 8)
    local rows = read(view, "differences.csv")
    assert.equal(#view.summary.pairs, #rows)
    for i, pair in ipairs(view.summary.pairs) do
      local row = rows[i]
      assert.same({ pair.measure.name, pair.b, pair.a }, { row.measure, row.method, row.baseline })
      for name, value in pairs({ n = pair.n, difference = pair.difference or false,
        low = pair.low or false, high = pair.high or false, p = pair.p or false,
        p_corrected = pair.corrected or false, comparisons = pair.comparisons or false }) do
        assert.equal(value, tonumber(row[name]) or false, name)
      end
    end
  end)

  it("is documented: every file and column", function()
    local text = files.read("scripts/RESULTS.md")
    local known = {}
    for word in text:gmatch("`([^`]+)`") do
      known[word] = true
    end
    local provenance = { version = true, commit = true, threads = true, started = true }
    for name, content in pairs(records.files(reports.lengths({ "rope", "roper" }, 6))) do
      assert.truthy(known[name], name)
      local _, columns = csv.parse(content)
      for _, column in ipairs(columns) do
        assert.truthy(known[column] or name == "configurations.csv" or provenance[column],
          ("%s: %s"):format(name, column))
      end
    end
  end)
end)
